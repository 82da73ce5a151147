// Signed notes (C2SP signed-note), which are what checkpoints are written as. Ed25519 by WebCrypto, so that it runs in a
// browser; who has something else gives it. Signing is the store's: it puts its signatures into `signatureLine`.
import { base64, concat, fromBase64, hex, utf8 } from './bytes.js'
import { VerificationError } from './error.js'
import { sha256 } from './sha256.js'

/** Signature types of C2SP: a log's own, and a witness's with a time. */
export const LOG_KEY = 0x01
export const WITNESS_KEY = 0x04
const PUBLIC_KEY_BYTES = 32
const KEY_ID_BYTES = 4
const SIGNATURE_BYTES = 64
const TIME_BYTES = 8
const NOTE_BYTES_MAX = 1_000_000
const DASH = '— '

/** Who signs: its name, and its public key. */
export interface Verifier {
  readonly name: string
  readonly type: typeof LOG_KEY | typeof WITNESS_KEY
  readonly publicKey: Uint8Array
}

export interface Signature {
  readonly name: string
  /** Of the key, in hexadecimal. */
  readonly keyId: string
  readonly bytes: Uint8Array
}

export interface Note {
  /** Ends in a newline. */
  readonly text: string
  readonly signatures: readonly Signature[]
}

/** Whether a signature is one of the message, by the public key of 32 bytes. */
export type Ed25519 = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>

/** As others are given it: `<name>+<key id>+<base64 of type and key>`. */
export function formatVerifierKey(verifier: Verifier): string {
  return `${verifier.name}+${hex(keyIdOf(verifier))}+${base64(concat(Uint8Array.of(verifier.type), verifier.publicKey))}`
}

export function parseVerifierKey(text: string): Verifier {
  const [, name, id, key] = /^([^+\s\x85]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text.trim()) ?? []
  const bytes = fromBase64(key ?? '', 1 + PUBLIC_KEY_BYTES)
  const type = bytes?.[0]
  if (name === undefined || bytes === undefined || (type !== LOG_KEY && type !== WITNESS_KEY))
    throw new VerificationError(`not the public key of a ledger or witness: ${text.trim().slice(0, 200)}`)
  const verifier: Verifier = { name, type, publicKey: bytes.subarray(1) }
  if (hex(keyIdOf(verifier)) !== id) throw new VerificationError(`the id of the key of ${name} is not ${id}`)
  return verifier
}

/** A private key as Go's tools write it: `PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>`. Undefined if it is none. */
export function parseSigningKey(
  text: string,
):
  | { readonly name: string; readonly keyId: string; readonly type: number; readonly seed: Uint8Array }
  | undefined {
  const [, name, keyId, key] =
    /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const bytes = fromBase64(key ?? '', 1 + PUBLIC_KEY_BYTES)
  if (name === undefined || keyId === undefined || bytes === undefined) return undefined
  return { name, keyId, type: bytes[0]!, seed: bytes.subarray(1) }
}

/** The same as text, with a newline. */
export const formatSigningKey = (verifier: Verifier, seed: Uint8Array): string =>
  `PRIVATE+KEY+${verifier.name}+${hex(keyIdOf(verifier))}+${base64(concat(Uint8Array.of(verifier.type), seed))}\n`

export function parseNote(note: string): Note {
  const end = note.lastIndexOf('\n\n')
  // eslint-disable-next-line no-control-regex
  if (end < 0 || note.length > NOTE_BYTES_MAX || /[\0-\x09\x0b-\x1f]/.test(note))
    throw new VerificationError('not a signed note')
  const lines = note.slice(end + 2).split('\n')
  if (lines.pop() !== '' || lines.length === 0) throw new VerificationError('a note without signatures')
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/** A line below a note, with its newline. For a witness's key the signature has the time in front of it. */
export function signatureLine(verifier: Verifier, signature: Uint8Array): string {
  return `${DASH}${verifier.name} ${base64(concat(keyIdOf(verifier), signature))}\n`
}

/** What a witness signs, at a time in seconds since 1970. */
export const cosignedMessage = (text: string, timeS: number): Uint8Array =>
  utf8(`cosignature/v1\ntime ${timeS}\n${text}`)

export function cosignatureLine(verifier: Verifier, timeS: number, signature: Uint8Array): string {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setBigUint64(0, BigInt(timeS))
  return signatureLine(verifier, concat(time, signature))
}

/** The signatures that claim to be of this key. */
export function signaturesOf({ signatures }: Note, verifier: Verifier): readonly Signature[] {
  const id = hex(keyIdOf(verifier))
  return signatures.filter(({ name, keyId }) => name === verifier.name && keyId === id)
}

/**
 * The signature of this key below the note: `false` if there is none, else the time that a witness gave, 0 for a log. A
 * signature that claims to be of the key and is not makes the whole note false.
 */
export async function signedBy(
  note: Note,
  verifier: Verifier,
  ed25519: Ed25519 = webEd25519,
): Promise<number | false> {
  let found: number | false = false
  for (const { name, bytes } of signaturesOf(note, verifier)) {
    const timeBytes = verifier.type === WITNESS_KEY ? TIME_BYTES : 0
    const timeS =
      timeBytes === 0
        ? 0
        : Number(new DataView(concat(bytes, new Uint8Array(TIME_BYTES)).buffer).getBigUint64(0))
    const message = timeBytes === 0 ? utf8(note.text) : cosignedMessage(note.text, timeS)
    const isGood =
      bytes.length === timeBytes + SIGNATURE_BYTES &&
      Number.isSafeInteger(timeS) &&
      (await ed25519(verifier.publicKey, message, bytes.subarray(timeBytes)))
    if (!isGood) throw new VerificationError(`the signature of ${name} is not of its key`)
    found = timeS
  }
  return found
}

function parseSignature(line: string): Signature {
  const [, name, signature] = /^— ([^\s+\x85]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? []
  const bytes = fromBase64(signature ?? '')
  if (name === undefined || bytes === undefined || bytes.length <= KEY_ID_BYTES)
    throw new VerificationError(`not a signature of a note: ${line.slice(0, 200)}`)
  return { name, keyId: hex(bytes.subarray(0, KEY_ID_BYTES)), bytes: bytes.subarray(KEY_ID_BYTES) }
}

function keyIdOf({ name, type, publicKey }: Verifier): Uint8Array {
  return sha256(concat(utf8(`${name}\n`), Uint8Array.of(type), publicKey)).subarray(0, KEY_ID_BYTES)
}

async function webEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const { subtle } = globalThis.crypto
  const key = await subtle.importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify'])
  return subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message))
}
