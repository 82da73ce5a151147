// Proofs that a stranger checks offline: a file of C2SP's tlog-proof form. Its path leads from the header of a block to the
// checkpoint; what the header commits to is in its `extra` line: the header, and of a revision the entry, the path from the entry
// to the header's root, and the data.
import { base64, decimal, fromBase64, utf8Text, utf8 } from './bytes.js'
import {
  type BlockHeader,
  committedData,
  dataHash,
  decodeBlock,
  decodeBlockEntry,
  decodeBlockHeader,
  type BlockEntry,
  imageOf,
  type StoredEntry,
} from './block.js'
import { type Checkpoint, openCheckpoint, type Trust } from './checkpoint.js'
import { VerificationError } from './error.js'
import { HASH_BYTES, isConsistent, isIncluded, leafHash, PATH_HASHES_MAX, rootOf } from './merkle.js'

/** The parts of a `.tlog-proof` file. */
export interface ProofFile {
  readonly extra?: Uint8Array
  readonly index: number
  readonly path: readonly Uint8Array[]
  /** The signed note. */
  readonly checkpoint: string
}

/** A block's header, and if it is a proof of one entry: that, and the way from it to the header. */
export interface LedgerProof {
  readonly header: Uint8Array
  /** From the leaf's sibling upwards. */
  readonly path: readonly Uint8Array[]
  readonly checkpoint: string
  readonly entry?: {
    readonly bytes: Uint8Array
    readonly index: number
    readonly path: readonly Uint8Array[]
    /** Salt and image. */
    readonly data?: Uint8Array
  }
}

/** What a proof has shown. */
export interface Proven {
  /** Of the ledger that it is in. */
  readonly checkpoint: Checkpoint
  /** Of the block that it is in. */
  readonly header: BlockHeader
  /** Undefined if the proof is of a block alone. */
  readonly entry: BlockEntry | undefined
  /** Of a revision that is neither a delete nor redacted: the item, as DynamoDB writes it. Undefined also if it was left out. */
  readonly item: Readonly<Record<string, unknown>> | undefined
}

const PROOF = 'c2sp.org/tlog-proof@v1'

export function formatProofFile({ extra, index, path, checkpoint }: ProofFile): string {
  const extraLine = extra === undefined ? [] : [`extra ${base64(extra)}`]
  return [PROOF, ...extraLine, `index ${index}`, ...path.map(base64), '', checkpoint].join('\n')
}

export function parseProofFile(text: string): ProofFile {
  const end = text.indexOf('\n\n')
  const [title, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  const extraLine = lines[0]?.startsWith('extra ') === true ? lines.shift() : undefined
  const extra = extraLine === undefined ? undefined : fromBase64(extraLine.slice('extra '.length))
  const indexLine = lines.shift() ?? ''
  const index = indexLine.startsWith('index ') ? decimal(indexLine.slice('index '.length)) : undefined
  const path = lines.length <= PATH_HASHES_MAX ? hashes(lines) : undefined
  if (
    title !== PROOF ||
    index === undefined ||
    path === undefined ||
    (extraLine !== undefined && extra === undefined)
  )
    throw new VerificationError('not a proof: it has not the form of c2sp.org/tlog-proof@v1')
  return { ...(extra && { extra }), index, path, checkpoint: text.slice(end + 2) }
}

export function formatProof({ header, path, checkpoint, entry }: LedgerProof): string {
  const extra = {
    header: base64(header),
    ...(entry && {
      entry: base64(entry.bytes),
      index: entry.index,
      path: entry.path.map(base64),
      ...(entry.data && { data: base64(entry.data) }),
    }),
  }
  return formatProofFile({
    extra: utf8(JSON.stringify(extra)),
    index: decodeBlockHeader(header).block,
    path,
    checkpoint,
  })
}

/**
 * Checks a proof of a revision, or of a block, against the ledger's public key. Throws a VerificationError if anything of it is
 * not so. What it shows: this revision was committed in this block of the ledger that the checkpoint is of. What it does not
 * show: that there is none after it.
 *
 * @example
 * const { item, entry, header } = await verifyProof(proof, { key: ledgerKey })
 * console.log(item?.['owner'], header.block) // { S: 'ada' } 0
 * if (entry?.kind === 'revision') console.log(entry.version, entry.event) // 0 INSERT
 */
export async function verifyProof(proof: string, trust: Trust): Promise<Proven> {
  const { extra, index, path, checkpoint: note } = parseProofFile(proof)
  const checkpoint = await openCheckpoint(note, trust)
  const parts = partsOf(extra)
  if (!isIncluded(index, checkpoint.size, leafHash(parts.header), path, checkpoint.root))
    throw new VerificationError(
      `block ${index} is not in the tree of the checkpoint: its path leads to another root`,
    )
  const header = decodeBlockHeader(parts.header)
  if (header.block !== index)
    throw new VerificationError(`the header is of block ${header.block}, not of ${index}`)
  // Written in one way only: nothing of it is left unread, such as data under another name.
  if (formatProof({ ...parts, path, checkpoint: note }) !== proof)
    throw new VerificationError('a proof of a ledger has nothing in its extra line but what belongs there')
  if (header.strand !== checkpoint.origin)
    throw new VerificationError(`the header is of ${header.strand}, the checkpoint of ${checkpoint.origin}`)
  if (parts.entry === undefined) return { checkpoint, header, entry: undefined, item: undefined }
  const { bytes, index: at, path: way, data } = parts.entry
  if (!isIncluded(at, header.entries, leafHash(bytes), way, fromBase64(header.root)!))
    throw new VerificationError(`entry ${at} is not in block ${index}: its path leads to another root`)
  const entry = decodeBlockEntry(bytes)
  if (data === undefined) return { checkpoint, header, entry, item: undefined }
  if (dataHash(data) !== committedData(entry))
    throw new VerificationError(`the data is not that of entry ${at} of block ${index}: its hash is another`)
  return { checkpoint, header, entry, item: entry.kind === 'revision' ? itemIn(data) : undefined }
}

/**
 * Checks that the later checkpoint is of a ledger that begins with all blocks of the earlier one: none of them was changed,
 * removed or put in between. Throws a VerificationError if not. `path` is the proof, as hashes or as their base64.
 *
 * @example
 * const { later } = await verifyConsistency(yesterday, today, between, { key: ledgerKey })
 * console.log(later.size) // 3
 */
export async function verifyConsistency(
  earlier: string,
  later: string,
  path: readonly (Uint8Array | string)[],
  trust: Trust,
): Promise<{ readonly earlier: Checkpoint; readonly later: Checkpoint }> {
  const [one, other] = [await openCheckpoint(earlier, trust), await openCheckpoint(later, trust)]
  const way = path.map((hash) => (typeof hash === 'string' ? fromBase64(hash, HASH_BYTES) : hash))
  if (!way.every((hash) => hash !== undefined))
    throw new VerificationError('a proof of consistency is of hashes')
  if (!isConsistent(one.size, one.root, other.size, other.root, way))
    throw new VerificationError(
      `the ledger of ${other.size} blocks does not begin with the one of ${one.size} blocks that was signed before`,
    )
  return { earlier: one, later: other }
}

/**
 * The entries of a block, from its file, if they are what its header commits to; else it throws a VerificationError. Whether the
 * header is in the ledger is another question: `verifyProof` of the block answers it.
 *
 * @example
 * const entries = verifyBlock(header, exported.get('block/000')!)
 * console.log(entries.map(({ entry }) => entry.kind)) // [ 'info', 'revision' ]
 */
export function verifyBlock(
  header: Uint8Array,
  file: Uint8Array,
): readonly (StoredEntry & { readonly entry: BlockEntry })[] {
  const { block, entries: count, root } = decodeBlockHeader(header)
  const entries = decodeBlock(file)
  if (entries.length !== count)
    throw new VerificationError(`block ${block} has ${entries.length} entries, not ${count}`)
  if (base64(rootOf(entries.map(({ bytes }) => leafHash(bytes)))) !== root)
    throw new VerificationError(`the entries of block ${block} are not those of its header`)
  return entries.map(({ bytes, data }, at) => {
    const entry = decodeBlockEntry(bytes)
    if (data === undefined) return { bytes, entry }
    if (dataHash(data) !== committedData(entry))
      throw new VerificationError(
        `the data is not that of entry ${at} of block ${block}: its hash is another`,
      )
    return { bytes, data, entry }
  })
}

/** The item in verified data. */
export function itemIn(data: Uint8Array): Readonly<Record<string, unknown>> {
  const text = utf8Text(imageOf(data))
  try {
    return JSON.parse(text ?? '') as Readonly<Record<string, unknown>>
  } catch {
    throw new VerificationError('the data of a revision is not an item')
  }
}

function partsOf(extra: Uint8Array | undefined): Pick<LedgerProof, 'header' | 'entry'> {
  const wrong = new VerificationError('a proof of a ledger has the header of the block in its extra line')
  const parsed = json(utf8Text(extra ?? new Uint8Array(0)))
  const header = bytesOf(parsed?.['header'])
  if (parsed === undefined || header === undefined) throw wrong
  if (parsed['entry'] === undefined) return { header }
  const bytes = bytesOf(parsed['entry'])
  const path = Array.isArray(parsed['path']) ? hashes(parsed['path']) : undefined
  const data = parsed['data'] === undefined ? undefined : bytesOf(parsed['data'])
  if (bytes === undefined || path === undefined || (data === undefined) !== (parsed['data'] === undefined))
    throw wrong
  return { header, entry: { bytes, index: Number(parsed['index']), path, ...(data && { data }) } }
}

function json(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

const bytesOf = (text: unknown): Uint8Array | undefined =>
  typeof text === 'string' ? fromBase64(text) : undefined

function hashes(texts: readonly unknown[]): Uint8Array[] | undefined {
  const found = texts.map((text) => (typeof text === 'string' ? fromBase64(text, HASH_BYTES) : undefined))
  return found.every((hash) => hash !== undefined) ? found : undefined
}
