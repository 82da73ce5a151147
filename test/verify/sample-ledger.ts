// A small ledger as a store would make it: its files by path, its keys, and what is needed to make it again with a lie in it.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import {
  type BlockEntry,
  dataHash,
  encodeBlock,
  encodeBlockEntry,
  encodeBlockHeader,
  NO_HASH,
  type RevisionEntry,
  saltedData,
  type StoredEntry,
} from '../../src/verify/block.js'
import { base64, concat, utf8 } from '../../src/verify/bytes.js'
import { checkpointText } from '../../src/verify/checkpoint.js'
import { leafHash, rootOf } from '../../src/verify/merkle.js'
import {
  cosignatureLine,
  cosignedMessage,
  formatVerifierKey,
  LOG_KEY,
  signatureLine,
  type Verifier,
  WITNESS_KEY,
} from '../../src/verify/note.js'
import {
  consistencyPath,
  inclusionPath,
  type Stretch,
  stretchHash,
  subtreesFrom,
} from '../../src/verify/paths.js'
import { formatProof } from '../../src/verify/proof.js'
import {
  blockPath,
  CHECKPOINT_PATH,
  encodeBundle,
  tileOf,
  tilePath,
  tilesOf,
} from '../../src/verify/tiles.js'

/** An Ed25519 key of 32 equal bytes. */
export function sampleKey(name: string, seed: number, type: Verifier['type'] = LOG_KEY): SampleKey {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const secret = createPrivateKey({
    key: Buffer.concat([prefix, Buffer.alloc(32, seed)]),
    format: 'der',
    type: 'pkcs8',
  })
  const spki = createPublicKey(secret).export({ format: 'der', type: 'spki' })
  const verifier: Verifier = { name, type, publicKey: new Uint8Array(spki.subarray(-32)) }
  return { secret, verifier, key: formatVerifierKey(verifier) }
}

export interface SampleKey {
  readonly secret: KeyObject
  readonly verifier: Verifier
  readonly key: string
}

export const ORIGIN = 'ledger.example/cars'
export const LOG = sampleKey(ORIGIN, 7)
export const WITNESS = sampleKey('witness.example/w1', 8, WITNESS_KEY)

export function signedCheckpoint(
  size: number,
  root: Uint8Array,
  { secret, verifier }: SampleKey = LOG,
): string {
  const text = checkpointText({ origin: ORIGIN, size, root })
  return `${text}\n${signatureLine(verifier, sign(null, utf8(text), secret))}`
}

export function cosigned(note: string, timeS: number, { secret, verifier }: SampleKey = WITNESS): string {
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
  return note + cosignatureLine(verifier, timeS, sign(null, cosignedMessage(text, timeS), secret))
}

export interface SampleBlock {
  readonly header: Uint8Array
  readonly entries: readonly StoredEntry[]
}

/** What one transaction does to items, by id; undefined deletes. */
export type Change = Readonly<Record<string, string | undefined>>
export interface Redaction {
  readonly id: string
  readonly version: number
}

interface Place {
  readonly block: number
  readonly entry: number
  readonly revision: RevisionEntry
  readonly hash: string
}

/** Grows block by block, and makes the files of the ledger as it is. */
export class SampleLedger {
  readonly blocks: SampleBlock[] = []
  readonly #revisions = new Map<string, Place[]>()

  /** `forge` gets every entry before it is hashed. */
  commit(change: Change, forge: (entry: BlockEntry) => BlockEntry = (entry) => entry): void {
    const block = this.blocks.length
    const items = Object.entries(change).map(([id, owner], at): StoredEntry => {
      const places = this.#revisions.get(id) ?? []
      const before = places.at(-1)
      const data = owner === undefined ? undefined : salted(block, at, { id: { S: id }, owner: { S: owner } })
      const revision: RevisionEntry = {
        kind: 'revision',
        table: 'Cars',
        tableId: 'T1',
        key: { id: { S: id } },
        id: `doc-${id}`,
        version: places.length,
        tx: `tx-${block}`,
        time: timeOf(block),
        event:
          owner === undefined
            ? 'REMOVE'
            : before === undefined || before.revision.data === null
              ? 'INSERT'
              : 'MODIFY',
        cause: 'user',
        data: data === undefined ? null : dataHash(data),
        previous: before?.hash ?? null,
      }
      const bytes = encodeBlockEntry(forge(revision))
      this.#revisions.set(id, [...places, { block, entry: at + 1, revision, hash: base64(leafHash(bytes)) }])
      return data === undefined ? { bytes } : { bytes, data }
    })
    this.#append(items)
  }

  redact({ id, version }: Redaction, forge: (entry: BlockEntry) => BlockEntry = (entry) => entry): void {
    const place = this.#revisions.get(id)![version]!
    this.#append([
      {
        bytes: encodeBlockEntry(
          forge({
            kind: 'redaction',
            table: 'Cars',
            tableId: 'T1',
            key: { id: { S: id } },
            version,
            block: place.block,
            entry: place.entry,
            revision: place.hash,
          }),
        ),
      },
    ])
    this.forget(place.block, place.entry)
    this.forget(place.block, 0)
  }

  /** Removes the data of an entry, as redaction does. */
  forget(block: number, entry: number): void {
    const { header, entries } = this.blocks[block]!
    this.blocks[block] = {
      header,
      entries: entries.map(({ bytes, data }, at) =>
        data === undefined || at === entry ? { bytes } : { bytes, data },
      ),
    }
  }

  get leaves(): Uint8Array[] {
    return this.blocks.map(({ header }) => leafHash(header))
  }

  files(size = this.blocks.length): Map<string, Uint8Array> {
    const blocks = this.blocks.slice(0, size)
    const leaves = this.leaves.slice(0, size)
    const levels = [leaves]
    while (levels.at(-1)!.length >= 256)
      levels.push(
        Array.from({ length: Math.floor(levels.at(-1)!.length / 256) }, (_, at) =>
          rootOf(levels.at(-1)!.slice(at * 256, at * 256 + 256)),
        ),
      )
    const files = new Map<string, Uint8Array>()
    files.set(CHECKPOINT_PATH, utf8(signedCheckpoint(size, rootOf(leaves))))
    for (const tile of tilesOf(size)) {
      const hashes = levels[tile.level]!.slice(tile.index * 256, tile.index * 256 + tile.width)
      files.set(tilePath(tile), concat(...hashes))
    }
    for (let index = 0; index * 256 < size; index++) {
      const bundle = encodeBundle(blocks.slice(index * 256, index * 256 + 256).map(({ header }) => header))
      files.set(tilePath(tileOf('entries', index, size)!), bundle)
    }
    for (const [block, { entries }] of blocks.entries()) files.set(blockPath(block), encodeBlock(entries))
    return files
  }

  /** The paper that shows one entry, or the block alone. */
  proof(block: number, entry?: number, size = this.blocks.length): string {
    const { header, entries } = this.blocks[block]!
    const stored = entry === undefined ? undefined : entries[entry]!
    const way = (path: readonly Stretch[], leaves: readonly Uint8Array[]): Uint8Array[] =>
      path.map((stretch) => stretchHash(stretch, subtreesFrom(leaves)))
    const leaves = this.leaves.slice(0, size)
    return formatProof({
      header,
      path: way(inclusionPath(block, size), leaves),
      checkpoint: signedCheckpoint(size, rootOf(leaves)),
      ...(stored && {
        entry: {
          ...stored,
          index: entry!,
          path: way(
            inclusionPath(entry!, entries.length),
            entries.map(({ bytes }) => leafHash(bytes)),
          ),
        },
      }),
    })
  }

  #append(items: readonly StoredEntry[]): void {
    const block = this.blocks.length
    const parameters = salted(block, 99, ['parameters'])
    const info = encodeBlockEntry({ kind: 'info', operations: ['PutItem'], data: dataHash(parameters) })
    const entries = [{ bytes: info, data: parameters }, ...items]
    const before = this.blocks.at(-1)
    const header = encodeBlockHeader({
      v: 1,
      block,
      strand: ORIGIN,
      tx: `tx-${block}`,
      time: timeOf(block),
      ts: 1_800_000_000_000_000 + block,
      entries: entries.length,
      root: base64(rootOf(entries.map(({ bytes }) => leafHash(bytes)))),
      prev: base64(before === undefined ? NO_HASH : leafHash(before.header)),
    })
    this.blocks.push({ header, entries })
  }
}

/** Five items that change in turn, one deleted and put again, one redacted. */
export function sampleLedger(blocks: number): SampleLedger {
  const ledger = new SampleLedger()
  for (let at = 0; at < blocks; at++) {
    if (at === 7) ledger.redact({ id: 'car-1', version: 0 })
    else
      ledger.commit({
        [`car-${at % 5}`]: at === 5 ? undefined : `owner-${at}`,
        ...(at % 3 === 0 && { extra: `e${at}` }),
      })
  }
  return ledger
}

/** What the examples of the API take for given. */
export function sampleForExamples(): {
  readonly ledgerKey: string
  readonly exported: ReadonlyMap<string, Uint8Array>
  readonly proof: string
  readonly header: Uint8Array
  readonly yesterday: string
  readonly today: string
  readonly between: readonly string[]
} {
  const ledger = new SampleLedger()
  ledger.commit({ 'car-1': 'ada' })
  ledger.commit({ 'car-2': 'bob' })
  ledger.commit({ 'car-1': 'eve' })
  const at = (size: number): string => signedCheckpoint(size, rootOf(ledger.leaves.slice(0, size)))
  return {
    ledgerKey: LOG.key,
    exported: ledger.files(),
    proof: ledger.proof(0, 1),
    header: ledger.blocks[0]!.header,
    yesterday: at(2),
    today: at(3),
    between: consistencyPath(2, 3).map((stretch) =>
      base64(stretchHash(stretch, subtreesFrom(ledger.leaves))),
    ),
  }
}

const timeOf = (block: number): string => new Date(1_800_000_000_000 + block * 1000).toISOString()

function salted(block: number, at: number, value: unknown): Uint8Array {
  return saltedData(new Uint8Array(16).fill((block * 7 + at) % 256), utf8(JSON.stringify(value)))
}
