// The catalogue as it stands in the meta space of node 0 (catalog.ts says how it is changed).
import { spaceId, type SpaceId } from '../../../model/brand.js'
import type { LedgerTable } from '../../../blocks/maker.js'
import type { TableShape } from '../../../model/table.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import type { StreamRecord } from '../../lineage/stream-record.js'
import {
  CATALOGUE_VERSION,
  decodeLedger,
  decodeStream,
  DROPPED_PREFIX,
  LEDGER_PREFIX,
  NEXT_SPACE,
  STREAM_PREFIX,
  TABLE_PREFIX,
} from './catalog-draft.js'
import { decodeTableRecord, spacesOf, tableOf, type TableRecord } from '../record/table-record.js'

export const FIRST_SPACE = 1

interface StoredCatalog {
  readonly records: readonly TableRecord[]
  readonly streams: readonly StreamRecord[]
  readonly ledgers: readonly LedgerTable[]
  /** Each with the name of its table, or an empty one. */
  readonly dropped: ReadonlyMap<SpaceId, string>
  readonly nextSpace: number
  /** Undefined: no change was counted yet. */
  readonly version: number | undefined
}

/** Everything of it, for a router that begins or was overtaken. */
export async function storedCatalog(home: StorageNode): Promise<StoredCatalog> {
  // Before the rest: what another router changes meanwhile is then newer than this version, and a change decided upon it is
  // refused.
  const version = await storedVersion(home)
  const records = (await home.readMeta(TABLE_PREFIX)).map(decodeTableRecord)
  const inUse = new Set(records.flatMap(spacesOf))
  const dropped = new Map<SpaceId, string>()
  for (const { name, value } of await home.readMeta(DROPPED_PREFIX)) {
    const space = spaceId(Number(name.slice(DROPPED_PREFIX.length)))
    // A drop whose outcome was unknown may have been followed by a change that kept the space.
    if (!inUse.has(space)) dropped.set(space, Buffer.from(value).toString())
  }
  const streams = (await home.readMeta(STREAM_PREFIX)).map(decodeStream)
  const ledgers = (await home.readMeta(LEDGER_PREFIX)).map(decodeLedger)
  const next = await storedNumber(home, NEXT_SPACE)
  let nextSpace = next ?? FIRST_SPACE
  const left = [...streams, ...ledgers].map(({ space }) => space)
  for (const space of [...inUse, ...dropped.keys(), ...left]) nextSpace = Math.max(nextSpace, space + 1)
  return { records, streams, ledgers, dropped, nextSpace, version }
}

/** The tables that a node keeps the records of, for those who only look: no background work begins. */
export const storedShapes = async (home: Pick<StorageNode, 'readMeta'>): Promise<readonly TableShape[]> =>
  (await home.readMeta(TABLE_PREFIX)).map((entry) => tableOf(decodeTableRecord(entry)).shape)

/** The version of the last change; undefined: no change was counted yet. */
export const storedVersion = (home: StorageNode): Promise<number | undefined> =>
  storedNumber(home, CATALOGUE_VERSION)

async function storedNumber(home: StorageNode, name: string): Promise<number | undefined> {
  const entry = (await home.readMeta(name)).find((each) => each.name === name)
  return entry && Number(Buffer.from(entry.value).toString())
}
