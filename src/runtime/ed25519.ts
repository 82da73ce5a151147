// Signatures with Ed25519, by a key that is kept as its seed.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'

export interface Ed25519Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  readonly sign: (message: Uint8Array) => Uint8Array
}

export const SEED_BYTES = 32
/** An Ed25519 key in PKCS#8 is its seed behind these bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export function ed25519Of(seed: Uint8Array): Ed25519Signer {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
  return { publicKey: new Uint8Array(publicKey), sign: (message) => sign(null, message, secret) }
}
