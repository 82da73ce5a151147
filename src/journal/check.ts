// Looks at every frame of a journal without changing anything.
import type { FileLayer } from '../runtime/files.js'
import { JournalDamaged } from './errors.js'
import { missingAll, missingBefore, missingNext, ofAnotherFolder, renamed, unreadable } from './damage.js'
import type { JournalOwner } from './read-back.js'
import { decodeSeal, framesFrom, type Segment, segmentsIn } from './segment.js'
import {
  eachFrame,
  findSegment,
  type FoundSegment,
  holdsFrame,
  laterProof,
  readSegment,
} from './segment-file.js'

export interface JournalCheck {
  readonly files: FileLayer
  readonly folder: string
  /** Up to where each index was brought. */
  readonly heldUpTo: readonly number[]
  /** Undefined: the folder has an old format, without headers and seals. */
  readonly owner: JournalOwner | undefined
}

/** What is wrong, a sentence each, and how many batches were read. */
export interface JournalFindings {
  readonly findings: readonly string[]
  readonly batches: number
}

export async function checkJournal(options: JournalCheck): Promise<JournalFindings> {
  const { files, folder, heldUpTo, owner } = options
  const findings: string[] = []
  const segments = segmentsIn(await files.list(folder))
  const from = Math.min(...heldUpTo)
  const [first] = segments
  if (first === undefined) {
    if (owner !== undefined || from > 0) findings.push(missingAll(folder).message)
    return { findings, batches: 0 }
  }
  if (first.start > from) findings.push(missingBefore(folder, from).message)
  let batches = 0
  for (const [at, segment] of segments.entries()) {
    const found = await findSegment(files, folder, segment)
    const bytes = await readSegment(files, folder, segment, segment.start)
    const wrong = owner && wrongName(folder, owner, found, bytes)
    if (wrong !== undefined) {
      findings.push(wrong.message)
      continue
    }
    const begin = owner === undefined ? segment.start : framesFrom(segment)
    const end = await eachFrame(bytes, segment, begin, async () => void batches++)
    const next = segments[at + 1]
    const sealed = decodeSeal(bytes, end - segment.start, segment.seed, end)
    if (sealed !== undefined && !segments.some(({ file }) => file === sealed.file))
      findings.push(missingNext(folder, segment, sealed).message)
    // Behind the last whole batch of the last file there may be the torn tail of one that nobody was told of.
    const goesOn = owner === undefined ? next?.start === end : sealed !== undefined
    const isDamaged =
      next === undefined
        ? end < Math.max(...heldUpTo) || laterProof(bytes, segment, end) !== undefined
        : !goesOn && (await isUsed(options, next))
    if (isDamaged)
      findings.push(`The journal file ${folder}/${segment.file} is damaged at byte ${end - segment.start}.`)
  }
  return { findings, batches }
}

function wrongName(
  folder: string,
  owner: JournalOwner,
  found: FoundSegment,
  bytes: Buffer,
): JournalDamaged | undefined {
  const { header } = found
  if (header === undefined) return holdsFrame(bytes, found) ? undefined : unreadable(folder, found)
  if (header.file !== found.file) return renamed(folder, found, header)
  return header.owner === owner.id ? undefined : ofAnotherFolder(folder, found)
}

/** A segment that was begun and never used does not follow another. */
async function isUsed({ files, folder, owner }: JournalCheck, segment: Segment): Promise<boolean> {
  return owner === undefined || holdsFrame(await readSegment(files, folder, segment, segment.start), segment)
}
