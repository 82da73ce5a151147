// The key with which a witness cosigns (Ed25519), as Go's tools write keys: PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { base64, concat, fromBase64 } from '../verify/bytes.js'
import {
  cosignatureLine,
  cosignedMessage,
  formatVerifierKey,
  type Verifier,
  WITNESS_KEY,
} from '../verify/note.js'

export interface Cosigner {
  readonly verifier: Verifier
  /** For those who verify. */
  readonly key: string
  /** The line below the note that says: seen at that time, and consistent. */
  cosign(text: string, timeS: number): string
}

const SEED_BYTES = 32
/** An Ed25519 key in PKCS#8 is its seed behind these bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const PREFIX = 'PRIVATE+KEY+'

/** @throws if it is not the key of a witness */
export function openCosigner(text: string): Cosigner {
  const [, name, id, key] =
    /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const bytes = fromBase64(key ?? '', 1 + SEED_BYTES)
  if (name === undefined || bytes?.[0] !== WITNESS_KEY) throw new Error('it is not the key of a witness')
  const cosigner = cosignerOf(name, bytes.subarray(1))
  if (cosigner.key.split('+')[1] !== id) throw new Error('its id is not that of the key')
  return cosigner
}

/** The text of a key of that name. */
export function cosignerText(name: string, seed: Uint8Array): string {
  const [, id] = cosignerOf(name, seed).key.split('+')
  return `${PREFIX}${name}+${id}+${base64(concat(Uint8Array.of(WITNESS_KEY), seed))}\n`
}

function cosignerOf(name: string, seed: Uint8Array): Cosigner {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
  const verifier: Verifier = { name, type: WITNESS_KEY, publicKey: new Uint8Array(publicKey) }
  return {
    verifier,
    key: formatVerifierKey(verifier),
    cosign: (text, timeS) =>
      cosignatureLine(verifier, timeS, sign(null, cosignedMessage(text, timeS), secret)),
  }
}
