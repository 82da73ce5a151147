// Checkpoints (C2SP tlog-checkpoint): the origin of a ledger, how many blocks it has, and the root of the tree over them, signed.
import { base64, decimal, fromBase64 } from './bytes.js'
import { VerificationError } from './error.js'
import { emptyRoot, HASH_BYTES } from './merkle.js'
import { isEqual } from './bytes.js'
import {
  type Ed25519,
  LOG_KEY,
  type Note,
  parseVerifierKey,
  parseNote,
  signedBy,
  WITNESS_KEY,
} from './note.js'

/** Which tree: what a checkpoint says. */
export interface TreeHead {
  /** Which ledger: the name of its key, too. */
  readonly origin: string
  /** How many blocks. */
  readonly size: number
  /** The hash that commits to all of them. */
  readonly root: Uint8Array
}

/** A checkpoint whose signatures were verified. */
export interface Checkpoint extends TreeHead {
  /** The signed note, as it was given. */
  readonly note: string
  /** Witnesses of `trust` that have cosigned it, and when, in seconds since 1970. */
  readonly witnesses: readonly { readonly name: string; readonly timeS: number }[]
}

/** Whose word is taken. */
export interface Trust {
  /** The public key of the ledger: `<name>+<id>+<base64>`. */
  readonly key: string
  /** Public keys of witnesses. */
  readonly witnesses?: readonly string[]
  /** How many of them must have cosigned: all, unless it is said. */
  readonly quorum?: number
  /** Instead of WebCrypto's. */
  readonly ed25519?: Ed25519
}

/** What is signed. */
export const checkpointText = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${base64(root)}\n`

/** Without a look at the signatures. */
export function parseCheckpoint(note: string): TreeHead & { readonly parsed: Note } {
  const parsed = parseNote(note)
  const [origin = '', sizeText = '', rootText = '', ...more] = parsed.text.split('\n')
  const size = decimal(sizeText)
  const root = fromBase64(rootText, HASH_BYTES)
  const isWhole = more.pop() === '' && more.every((line) => line !== '')
  if (origin === '' || size === undefined || root === undefined || !isWhole)
    throw new VerificationError('not a checkpoint: it has no origin, size and root hash')
  return { origin, size, root, parsed }
}

/**
 * What a signed checkpoint says. Throws a VerificationError unless it is signed by the ledger's key, and cosigned by as many
 * witnesses as are wanted.
 *
 * @example
 * const { origin, size } = await openCheckpoint(today, { key: ledgerKey })
 * console.log(origin, size) // ledger.example/cars 3
 */
export async function openCheckpoint(note: string, trust: Trust): Promise<Checkpoint> {
  const { origin, size, root, parsed } = parseCheckpoint(note)
  if (size === 0 && !isEqual(root, emptyRoot()))
    throw new VerificationError('the root hash of a checkpoint of no blocks is not that of the empty tree')
  const log = parseVerifierKey(trust.key)
  if (log.type !== LOG_KEY || log.name !== origin)
    throw new VerificationError(`the checkpoint is of ${origin}, the key is of ${log.name}`)
  if ((await signedBy(parsed, log, trust.ed25519)) === false)
    throw new VerificationError(`the checkpoint is not signed by the key of ${log.name}`)
  const witnesses: { name: string; timeS: number }[] = []
  const wanted = new Set(trust.witnesses)
  for (const key of wanted) {
    const witness = parseVerifierKey(key)
    if (witness.type !== WITNESS_KEY)
      throw new VerificationError(`the key of ${witness.name} is not a witness's`)
    const timeS = await signedBy(parsed, witness, trust.ed25519)
    if (timeS !== false) witnesses.push({ name: witness.name, timeS })
  }
  const quorum = trust.quorum ?? wanted.size
  if (witnesses.length < quorum)
    throw new VerificationError(
      `the checkpoint is cosigned by ${witnesses.length} of the witnesses, not by ${quorum}`,
    )
  return { origin, size, root, note, witnesses }
}
