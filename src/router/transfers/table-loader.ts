// Brings items into a table that no request reaches: to the nodes that they belong to, several pieces on their way at a time.
import { asBuffer } from '../../line/record.js'
import type { TableShape } from '../../model/table.js'
import { keyAttributesOf } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { LoadedPut, StorageNode } from '../../storage/contract/storage-node.js'
import type { RouterContext } from '../request/context.js'

/** Pieces that are not durable yet; they share syncs. */
const ON_THE_WAY_MAX = 8

export class TableLoader {
  readonly #nodeOf: RouterContext['nodeOf']
  readonly #onTheWay: Promise<void>[] = []

  constructor(nodeOf: RouterContext['nodeOf']) {
    this.#nodeOf = nodeOf
  }

  /** Resolves when there is room for more. Those of one key are written in the order in which they are added. */
  async add(table: TableShape, puts: readonly LoadedPut[]): Promise<void> {
    const byNode = new Map<StorageNode, LoadedPut[]>()
    for (const put of puts) {
      const node = this.#nodeOf(put.key.hash)
      const those = byNode.get(node)
      if (those === undefined) byNode.set(node, [put])
      else those.push(put)
    }
    for (const [node, those] of byNode) {
      const written = node.load?.(table, those) ?? writeEach(node, table, those)
      // It is awaited below, but may fail before.
      written.catch(() => undefined)
      this.#onTheWay.push(written)
    }
    while (this.#onTheWay.length >= ON_THE_WAY_MAX) await this.#onTheWay.shift()
  }

  /** Resolves when everything is durable. */
  async settled(): Promise<void> {
    await Promise.all(this.#onTheWay.splice(0))
  }
}

async function writeEach(node: StorageNode, table: TableShape, puts: readonly LoadedPut[]): Promise<void> {
  for (const { key, item: given, json, itemBytes } of puts) {
    const item = json === undefined ? given : (JSON.parse(asBuffer(json).toString()) as Item)
    const keyAttributes = item === undefined ? {} : keyAttributesOf(table.key, item)
    const mutation =
      item === undefined ? ({ kind: 'delete' } as const) : ({ kind: 'put', item, itemBytes } as const)
    const { verdict } = await node.write({ table, key, keyAttributes, mutation })
    if (verdict !== 'done') throw new Error(`an item could not be brought into ${table.name}: ${verdict}`)
  }
}
