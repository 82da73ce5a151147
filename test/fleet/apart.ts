// One engine for many tests, each apart from the others: the partitions of a test begin with its number. So a ring needs a few tables
// for a whole suite, and not a few for each test.
import {
  type Engine,
  type EngineRow,
  isPartitionRange,
  type RowAddress,
  SpaceMissing,
} from '../../src/engine/engine.js'
import type { KeyBytes } from '../../src/model/brand.js'

const MARK_LENGTH = 8
/** Before a partition with its mark: where a walk goes on, whosesoever row it was. */
const RAW = 'raw:'
let last = 0

/** Spaces that are dropped are so for this test alone. */
export function apartEngine(engine: Engine): Engine {
  const mark = String(++last).padStart(MARK_LENGTH, '0')
  const made = new Set<string>()
  const dropped = new Set<string>()
  const to = <T extends { readonly space: string; readonly partition: KeyBytes }>(address: T): T => {
    if (!made.has(address.space) || dropped.has(address.space))
      throw new SpaceMissing(`there is no space ${address.space} in this test`)
    if (address.partition.startsWith(RAW))
      return { ...address, partition: address.partition.slice(RAW.length) as KeyBytes }
    return { ...address, partition: (mark + address.partition) as KeyBytes }
  }
  const back = (row: EngineRow): EngineRow => ({ ...row, address: unmarked(row.address) })
  const rowsBack = (rows: readonly (EngineRow | undefined)[]): readonly (EngineRow | undefined)[] =>
    rows.map((row) => row && back(row))
  return {
    name: engine.name,
    limits: engine.limits,
    scopeOf: (address) => engine.scopeOf(address),
    read: async (addresses, consistency) => rowsBack(await engine.read(addresses.map(to), consistency)),
    cas: async (changes) => {
      const outcome = await engine.cas(changes.map((change) => ({ ...change, address: to(change.address) })))
      return outcome.outcome === 'refused' ? { ...outcome, rows: rowsBack(outcome.rows) } : outcome
    },
    write: async (rows) => engine.write(rows.map((row) => ({ ...row, address: to(row.address) }))),
    range: async (request) => {
      if (isPartitionRange(request)) {
        const page = await engine.range(to(request))
        return { ...page, rows: page.rows.map(back) }
      }
      if (!made.has(request.space) || dropped.has(request.space))
        throw new SpaceMissing(`there is no space ${request.space} in this test`)
      const { after, ...rest } = request
      const page = await engine.range(after === undefined ? rest : { ...rest, after: to(after) })
      const end = page.after ?? page.rows.at(-1)?.address
      const rows = page.rows.filter(({ address }) => address.partition.startsWith(mark)).map(back)
      const behind = end && { ...end, partition: (RAW + end.partition) as KeyBytes }
      return { rows, more: page.more, ...(behind && { after: behind }) }
    },
    createSpace: async (space) => {
      if (dropped.has(space)) return
      await engine.createSpace(space)
      made.add(space)
    },
    dropSpace: (space) => {
      dropped.add(space)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

const unmarked = (address: RowAddress): RowAddress => ({
  ...address,
  partition: address.partition.slice(MARK_LENGTH) as KeyBytes,
})
