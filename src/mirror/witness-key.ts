// The key with which a witness cosigns.
import { ed25519Of } from '../runtime/ed25519.js'
import { noteKeyText, openNoteKey } from '../verify/note-key.js'
import { cosignatureLine, cosignedMessage, type Verifier, WITNESS_KEY } from '../verify/note.js'

export interface Cosigner {
  readonly verifier: Verifier
  /** For those who verify. */
  readonly key: string
  /** The line below the note that says: seen at that time, and consistent. */
  cosign(text: string, timeS: number): string
}

/** @throws if it is not the key of a witness */
export function openCosigner(text: string): Cosigner {
  const { verifier, key, sign } = openNoteKey(text, WITNESS_KEY, ed25519Of)
  return {
    verifier,
    key,
    cosign: (note, timeS) => cosignatureLine(verifier, timeS, sign(cosignedMessage(note, timeS))),
  }
}

/** The text of a key of that name. */
export const cosignerText = (name: string, seed: Uint8Array): string =>
  noteKeyText(name, WITNESS_KEY, seed, ed25519Of(seed))
