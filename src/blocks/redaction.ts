// Removes the data of a revision that is not the current one any more. Its hash and all else of it stay, and the redaction is
// a block itself: who, when and what.
import { base64 } from '../verify/bytes.js'
import { leafHash } from '../verify/merkle.js'
import { committedData, decodeBlockEntry, type RedactionEntry, type RevisionEntry } from '../verify/block.js'
import type { Blocks } from './blocks.js'
import type { LedgerTable } from './maker.js'
import { encodeRows, type EntryRow } from './places.js'

export interface Redaction {
  readonly table: LedgerTable
  readonly document: string
  readonly version: number
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export type RedactionVerdict =
  | { readonly verdict: 'done'; readonly block: number }
  | { readonly verdict: 'unknown' | 'current' | 'without-data' | 'redacted-before' }

/** Refusals leave no block. */
export async function redact(blocks: Blocks, redaction: Redaction): Promise<RedactionVerdict> {
  const { table, document, version } = redaction
  try {
    const block = await blocks.append(async ({ time }) => {
      const [newest] = await blocks.reader.newest([document])
      const place = newest && (await blocks.reader.place(document, version, newest))
      if (newest === undefined || place === undefined) throw new NotRedacted('unknown')
      const isCurrent = version === newest.version && table.droppedAtMicros === undefined
      const piece = await blocks.reader.pieceOf(place.block, place.entry)
      const row = piece.rows.find((each) => each.block === place.block && each.entry === place.entry)
      if (row === undefined) throw new NotRedacted('unknown')
      const revision = decodeBlockEntry(row.bytes) as RevisionEntry
      if (committedData(revision) === null) throw new NotRedacted('without-data')
      if (isCurrent) throw new NotRedacted('current')
      if (row.data === undefined) throw new NotRedacted('redacted-before')
      // The statements of the block may have the same data.
      const info = row.entry === 0 ? piece : await blocks.reader.pieceOf(place.block, 0)
      const bared = new Map([info, piece].map(({ key, rows }) => [key, withoutData(rows, place)]))
      const { id, key } = revision
      const { by, reason } = redaction
      const entry: RedactionEntry & { readonly id: string; readonly time: string; readonly by?: string } = {
        kind: 'redaction',
        table: table.name,
        tableId: table.id,
        key,
        version,
        block: place.block,
        entry: place.entry,
        revision: base64(leafHash(row.bytes)),
        ...(reason !== undefined && { reason }),
        id,
        time,
        ...(by !== undefined && { by }),
      }
      return {
        text: JSON.stringify(entry),
        changes: [...bared].map(([key, rows]) => ({ key, value: encodeRows(rows) })),
      }
    })
    return { verdict: 'done', block }
  } catch (error) {
    if (error instanceof NotRedacted) return { verdict: error.verdict }
    throw error
  }
}

/** Without the data of that entry, and of the info of its block. */
const withoutData = (
  rows: readonly EntryRow[],
  { block, entry }: { readonly block: number; readonly entry: number },
): readonly EntryRow[] =>
  rows.map((row) => {
    if (row.block !== block || (row.entry !== entry && row.entry !== 0)) return row
    const { data: _, ...bare } = row
    return bare
  })

class NotRedacted extends Error {
  readonly verdict: Exclude<RedactionVerdict['verdict'], 'done'>
  constructor(verdict: Exclude<RedactionVerdict['verdict'], 'done'>) {
    super(verdict)
    this.verdict = verdict
  }
}
