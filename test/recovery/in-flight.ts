// Transactions over two nodes whose coordinator has vanished, in a folder that no store has open, or on nodes that are running.
import assert from 'node:assert/strict'
import { localPlacement } from '../../src/coordinator/placement.js'
import { ledgerSlot, slotOf, timestamp, type TxId, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import { openCatalog } from '../../src/router/tables/catalog/catalog.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import { testRuntime } from '../support/test-runtime.js'

export const NODES = 2
/** As the store spreads items and slots over its nodes. */
const placement = localPlacement(NODES)

export interface InFlight {
  readonly tx: TxId
  /** Of the items that it puts into the table `Accounts`, one on each node. */
  readonly ids: readonly string[]
}

/** One for each: prepared on both nodes, and decided to commit, or not decided. */
export async function leaveInFlight<const Decided extends readonly boolean[]>(
  path: string,
  decided: Decided,
): Promise<{ readonly [At in keyof Decided]: InFlight }> {
  const runtime = testRuntime(1)
  const nodes = await openLocalNodes({ runtime, path })
  const left = await beginOn(runtime, nodes, decided)
  await Promise.all(nodes.map((node) => node.close()))
  return left
}

/** The same on nodes that a store is using. */
export async function beginOn<const Decided extends readonly boolean[]>(
  runtime: Runtime,
  nodes: readonly StorageNode[],
  decided: Decided,
): Promise<{ readonly [At in keyof Decided]: InFlight }> {
  const catalog = await openCatalog({ runtime, nodes })
  const { shape } = catalog.table('Accounts')
  const left: InFlight[] = []
  for (const [at, isDecided] of decided.entries())
    left.push(await beginOne(runtime, nodes, shape, at, isDecided))
  await catalog.close()
  return left as unknown as { readonly [At in keyof Decided]: InFlight }
}

async function beginOne(
  runtime: Runtime,
  nodes: readonly StorageNode[],
  shape: TableShape,
  number: number,
  isDecided: boolean,
): Promise<InFlight> {
  const at = timestamp(runtime.clock.nowMicros())
  const tx = txId(ledgerSlot(String(number).repeat(32)), 'n')
  const keyOf = (id: string) => itemKey(shape.key, { id: { S: id } })
  const ids = nodes.map((_, node) => {
    for (let n = 0; ; n++) {
      const id = `${'abcdefgh'[number]}${n}`
      if (placement.nodeOf(keyOf(id).hash) === node) return id
    }
  })
  const participants = ids.map((id, node) => ({ node, items: [{ space: shape.space, key: keyOf(id) }] }))
  const ledger = nodes[placement.ledgerNodeOf(slotOf(tx))]?.ledger
  await ledger?.begin({ tx, timestamp: at, participants })
  for (const [node, id] of ids.entries()) {
    const item = { id: { S: id } }
    const action = {
      table: shape,
      key: keyOf(id),
      keyAttributes: item,
      mutation: { kind: 'put', item },
    } as const
    const reply = await nodes[node]?.prepare({ tx, timestamp: at, actions: [action] })
    assert.deepEqual(reply?.verdicts, [{ verdict: 'accepted' }])
  }
  if (isDecided) await ledger?.decide(tx, 'commit', { timestamp: at })
  return { tx, ids }
}
