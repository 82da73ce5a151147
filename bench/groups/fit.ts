// What the simulation's parameters are fitted to: processor time of the steps of a storage node, called in this process
// without HTTP or JSON, on disk and synced; and of a message between processes.
//
//   step of 1 item, step of 10 items  -->  a line: so much for a call, so much for each item (report/timing.ts)
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BenchGroup, groupOf } from '../bench.js'
import { ledgerSlot, spaceId, timestamp, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { WriteRequest } from '../../src/rules/item/item.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { UnitRecord } from '../records.js'
import { freePort } from '../../src/bench/targets/free-port.js'
import { ITEM_BYTES, workloadKey } from '../../src/bench/load/workloads.js'
import type { Times } from './variants.js'

export interface FitOptions extends Times {
  readonly rounds: number
}

export const FIT_STEPS = ['read', 'write in one round', 'prepare and commit'] as const
export type FitStep = (typeof FIT_STEPS)[number] | 'message'
const SIZES = [1, 10]
const ITEMS = 20_000
const LANES = 64
const SETUP_MS = 1500

interface Running {
  readonly node: StorageNode
  readonly folder: string
  /** Of what was called so far: keys go round, and no transaction is like another. */
  calls: number
}

export function fitGroup({ rounds, warmupMs, durationMs }: FitOptions): BenchGroup {
  return groupOf<Running>({
    name: 'fit',
    setupMs: SETUP_MS,
    units: Array.from({ length: rounds }, (_, at) => at + 1).flatMap((round) => [
      ...FIT_STEPS.flatMap((step) =>
        SIZES.map((items) => ({
          id: `fit/${step} of ${items}/round ${round}`,
          estimateMs: warmupMs + durationMs,
          async run(running: Running): Promise<UnitRecord> {
            await inLanes(running, step, items, warmupMs)
            const before = process.cpuUsage()
            const calls = await inLanes(running, step, items, durationMs)
            const { user, system } = process.cpuUsage(before)
            return { kind: 'fit', step, items, round, micros: (user + system) / calls }
          },
        })),
      ),
      {
        id: `fit/message/round ${round}`,
        estimateMs: warmupMs + durationMs,
        run: async (): Promise<UnitRecord> => ({
          kind: 'fit',
          step: 'message',
          items: 0,
          round,
          micros: await messageMicros(durationMs),
        }),
      },
    ]),
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))
      const node = await openLocalNode({ runtime: realRuntime(), path: folder })
      const running = { node, folder, calls: 0 }
      for (let from = 0; from < ITEMS; from += LANES) {
        await Promise.all(Array.from({ length: LANES }, (_, at) => node.write(put(from + at))))
      }
      return running
    },
    async close({ node, folder }) {
      await node.close()
      rmSync(folder, { recursive: true, force: true })
    },
  })
}

const TABLE: TableShape = {
  name: 'fit',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
const DATA = 'x'.repeat(ITEM_BYTES)

function put(number: number): WriteRequest {
  const keyAttributes = { id: { S: workloadKey(number % ITEMS) } }
  const item = { ...keyAttributes, data: { S: DATA } }
  return {
    table: TABLE,
    key: itemKey(TABLE.key, keyAttributes),
    keyAttributes,
    mutation: { kind: 'put', item },
  }
}

/** As many calls as fit. */
async function inLanes(running: Running, step: FitStep, items: number, forMs: number): Promise<number> {
  const untilMs = performance.now() + forMs
  let done = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      await call(running, step, items)
      done++
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return done
}

async function call(running: Running, step: FitStep, items: number): Promise<void> {
  const { node } = running
  const number = running.calls++
  const actions = Array.from({ length: items }, (_, at) => put(number * items + at))
  const refs = actions.map(({ key }) => ({ space: TABLE.space, key }))
  if (step === 'read') {
    await node.readAt({ items: refs })
    return
  }
  const tx = txId(ledgerSlot(number.toString(16).padStart(32, '0')), '1')
  if (step === 'write in one round') {
    const { outcome } = await node.transact({ tx, actions, once: true })
    if (outcome !== 'committed') throw new Error(`a write in one round: ${outcome}`)
    return
  }
  const at = timestamp(Date.now() * 1000 + (number % 1000))
  const { verdicts } = await node.prepare({ tx, timestamp: at, actions })
  const refused = verdicts.find(({ verdict }) => verdict !== 'accepted')
  if (refused !== undefined) {
    await node.cancel({ tx, items: refs })
    return
  }
  await node.commit({ tx, timestamp: at, items: refs })
}

const MESSAGE_BYTES = 1000
const CONNECTIONS = 16
/** On each connection at once. */
const IN_FLIGHT = 4

/** Of a process that receives a message of a kilobyte and answers with one. */
async function messageMicros(forMs: number): Promise<number> {
  const port = await freePort()
  const child = fork(fileURLToPath(new URL('../targets/echo-server.js', import.meta.url)), [String(port)])
  try {
    await once(child, 'message')
    const sockets = await Promise.all(
      Array.from({ length: CONNECTIONS }, async (): Promise<Socket> => {
        const socket = connect(port, '127.0.0.1').setNoDelay(true)
        await once(socket, 'connect')
        return socket
      }),
    )
    const usedMicros = async (): Promise<number> => {
      const answered = once(child, 'message')
      child.send('used')
      const [micros] = (await answered) as [number]
      return micros
    }
    const before = await usedMicros()
    const messages = await exchange(sockets, forMs)
    const after = await usedMicros()
    for (const socket of sockets) socket.destroy()
    return (after - before) / messages
  } finally {
    child.kill('SIGKILL')
  }
}

/** How many were answered. */
function exchange(sockets: readonly Socket[], forMs: number): Promise<number> {
  const message = Buffer.alloc(MESSAGE_BYTES, 7)
  let received = 0
  return new Promise((resolve, reject) => {
    let ended = false
    for (const socket of sockets) {
      let bytes = 0
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        bytes += chunk.length
        for (; bytes >= MESSAGE_BYTES; bytes -= MESSAGE_BYTES) {
          received++
          if (!ended) socket.write(message)
        }
      })
      for (let at = 0; at < IN_FLIGHT; at++) socket.write(message)
    }
    setTimeout(() => {
      ended = true
      resolve(received)
    }, forMs)
  })
}
