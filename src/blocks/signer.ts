// Who signs checkpoints: an Ed25519 key with the name of the ledger (C2SP signed-note).
//
// The key is kept as text, as Go's tools write it: PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { base64, concat, fromBase64, utf8 } from '../verify/bytes.js'
import { checkpointText, type TreeHead } from '../verify/checkpoint.js'
import { formatVerifierKey, LOG_KEY, signatureLine, type Verifier } from '../verify/note.js'

export interface Signer {
  /** The name of the ledger. */
  readonly origin: string
  /** For those who verify: `<name>+<key id>+<base64>`. */
  readonly key: string
  /** The signed checkpoint of a tree. */
  checkpoint(head: Omit<TreeHead, 'origin'>): string
}

const SEED_BYTES = 32
/** An Ed25519 key in PKCS#8 is its seed behind these bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const PREFIX = 'PRIVATE+KEY+'

/** @throws if it is not such a key */
export function openSigner(text: string): Signer {
  const [, origin, id, key] =
    /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const bytes = fromBase64(key ?? '', 1 + SEED_BYTES)
  if (origin === undefined || bytes?.[0] !== LOG_KEY) throw new Error('it is not a key of a ledger')
  const signer = signerOf(origin, bytes.subarray(1))
  if (signer.key.split('+')[1] !== id) throw new Error('its id is not that of the key')
  return signer
}

/** The text of a key of that name. */
export function signerText(origin: string, seed: Uint8Array): string {
  const [, id] = signerOf(origin, seed).key.split('+')
  return `${PREFIX}${origin}+${id}+${base64(concat(Uint8Array.of(LOG_KEY), seed))}\n`
}

function signerOf(origin: string, seed: Uint8Array): Signer {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
  const verifier: Verifier = { name: origin, type: LOG_KEY, publicKey: new Uint8Array(publicKey) }
  return {
    origin,
    key: formatVerifierKey(verifier),
    checkpoint: (head) => {
      const text = checkpointText({ origin, ...head })
      return `${text}\n${signatureLine(verifier, sign(null, utf8(text), secret))}`
    },
  }
}
