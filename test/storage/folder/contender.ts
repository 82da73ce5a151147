// A process that opens data folders when it is told to, and says what came of it. Started by contenders.ts.
import { spawn } from 'node:child_process'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { type Order, type Outcome } from './contenders.js'

let nodes: readonly StorageNode[] = []
const answer = (outcome: Outcome): unknown => process.send?.(outcome)

process.on('message', (order: Order) => void obey(order).then(answer))
process.send?.('ready')

async function obey(order: Order): Promise<Outcome> {
  switch (order.kind) {
    case 'open':
      try {
        nodes = await openLocalNodes({ runtime: realRuntime(), path: order.path, nodes: 1 })
        return { kind: 'owner' }
      } catch (error) {
        return { kind: 'refused', message: (error as Error).message }
      }
    case 'close':
      await Promise.all(nodes.map((node) => node.close()))
      nodes = []
      return { kind: 'closed' }
    case 'leave-child': {
      // With everything that a child can inherit.
      const child = spawn('sleep', ['1000'], { stdio: 'inherit', detached: true })
      return { kind: 'child', pid: child.pid as number }
    }
  }
}
