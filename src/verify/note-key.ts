// A key that signs notes (C2SP signed-note), kept as text as Go's tools write it: of a ledger, or of a witness. Who signs with
// Ed25519 is given: a verifier needs none.
import { formatSigningKey, formatVerifierKey, LOG_KEY, parseSigningKey, type Verifier } from './note.js'

/** Signs by a key that is kept as its seed. */
export interface SeedSigner {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  readonly sign: (message: Uint8Array) => Uint8Array
}

export interface NoteKey {
  readonly verifier: Verifier
  /** For those who verify: `<name>+<key id>+<base64>`. */
  readonly key: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** @throws if it is not a key of that type */
export function openNoteKey(
  text: string,
  type: Verifier['type'],
  signerOf: (seed: Uint8Array) => SeedSigner,
): NoteKey {
  const found = parseSigningKey(text)
  if (found?.type !== type)
    throw new Error(`it is not the key of a ${type === LOG_KEY ? 'ledger' : 'witness'}`)
  const { sign, publicKey } = signerOf(found.seed)
  const verifier: Verifier = { name: found.name, type, publicKey }
  const key = formatVerifierKey(verifier)
  if (key.split('+')[1] !== found.keyId) throw new Error('its id is not that of the key')
  return { verifier, key, sign }
}

/** The text of a key of that name. */
export const noteKeyText = (
  name: string,
  type: Verifier['type'],
  seed: Uint8Array,
  { publicKey }: Pick<SeedSigner, 'publicKey'>,
): string => formatSigningKey({ name, type, publicKey }, seed)
