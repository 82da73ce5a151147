// What an export reads: a table as it is at one timestamp, over all nodes, while writers go on.
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { keyAfter } from '../../model/key-range.js'
import type { TableShape } from '../../model/table.js'
import type { RouterContext } from '../request/context.js'
import type { ExportPage } from './export-job.js'

const PAGE_ENTRIES_MAX = 500
const PAGE_BYTES_MAX = 256 * 1024

/** The snapshot was let go before everything was read; the message is a sentence. */
class SnapshotLost extends Error {
  override readonly name = 'SnapshotLost'
}

/**
 * Hands the pages of the table as it is now to `write`. A snapshot is let go when the shape of a table changes, and when it is too
 * old or takes too much memory, as that of a large table: then it is read from what is kept of its past.
 */
export async function withTable<Result>(
  context: Pick<RouterContext, 'nodes' | 'coordinator' | 'runtime'>,
  table: TableShape,
  write: (pages: AsyncIterable<ExportPage>) => Promise<Result>,
  otherwise: () => Promise<Result>,
): Promise<Result> {
  const { snapshots } = context.coordinator
  const at = await snapshots.open()
  try {
    return await write(tablePages(context, table, at))
  } catch (error) {
    if (!(error instanceof SnapshotLost)) throw error
  } finally {
    snapshots.forget(at)
  }
  return otherwise()
}

async function* tablePages(
  { nodes, coordinator, runtime }: Pick<RouterContext, 'nodes' | 'coordinator' | 'runtime'>,
  table: TableShape,
  at: Timestamp,
): AsyncGenerator<ExportPage> {
  for (const node of nodes) {
    let from = '' as KeyBytes
    for (let isMore = true; isMore;) {
      const answer = await coordinator.snapshots.range(node, {
        space: table.space,
        from,
        reverse: false,
        entriesMax: PAGE_ENTRIES_MAX,
        bytesMax: PAGE_BYTES_MAX,
        at,
        table,
      })
      if (answer.outcome !== 'read')
        throw new SnapshotLost(
          `The table ${table.name} could not be read as of one moment: ${answer.outcome}.`,
        )
      const { entries, more } = answer.page
      yield { items: entries.map(({ record }) => record.json) }
      const last = entries.at(-1)
      isMore = more && last !== undefined
      if (last !== undefined) from = keyAfter(last.key)
      await new Promise<void>((resolve) => runtime.defer(resolve))
    }
  }
}
