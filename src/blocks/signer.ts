// Who signs checkpoints: an Ed25519 key with the name of the ledger (C2SP signed-note), kept as text as Go's tools write it.
import { ed25519Of } from '../runtime/ed25519.js'
import { utf8 } from '../verify/bytes.js'
import { checkpointText, type TreeHead } from '../verify/checkpoint.js'
import {
  formatSigningKey,
  formatVerifierKey,
  LOG_KEY,
  parseSigningKey,
  signatureLine,
  type Verifier,
} from '../verify/note.js'

export interface Signer {
  /** The name of the ledger. */
  readonly origin: string
  /** For those who verify: `<name>+<key id>+<base64>`. */
  readonly key: string
  /** The signed checkpoint of a tree. */
  checkpoint(head: Omit<TreeHead, 'origin'>): string
}

/** @throws if it is not such a key */
export function openSigner(text: string): Signer {
  const found = parseSigningKey(text)
  if (found?.type !== LOG_KEY) throw new Error('it is not a key of a ledger')
  const { name: origin, keyId, seed } = found
  const { sign, publicKey } = ed25519Of(seed)
  const verifier: Verifier = { name: origin, type: LOG_KEY, publicKey }
  const key = formatVerifierKey(verifier)
  if (key.split('+')[1] !== keyId) throw new Error('its id is not that of the key')
  return {
    origin,
    key,
    checkpoint: (head) => {
      const signed = checkpointText({ origin, ...head })
      return `${signed}\n${signatureLine(verifier, sign(utf8(signed)))}`
    },
  }
}

/** The text of a key of that name. */
export const signerText = (name: string, seed: Uint8Array): string =>
  formatSigningKey({ name, type: LOG_KEY, publicKey: ed25519Of(seed).publicKey }, seed)
