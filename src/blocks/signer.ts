// Who signs checkpoints: the key of the ledger, whose name is that of the ledger.
import { ed25519Of } from '../runtime/ed25519.js'
import { utf8 } from '../verify/bytes.js'
import { checkpointText, type TreeHead } from '../verify/checkpoint.js'
import { LOG_KEY, signatureLine } from '../verify/note.js'
import { noteKeyText, openNoteKey } from '../verify/note-key.js'

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
  const { verifier, key, sign } = openNoteKey(text, LOG_KEY, ed25519Of)
  const origin = verifier.name
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
  noteKeyText(name, LOG_KEY, seed, ed25519Of(seed))
