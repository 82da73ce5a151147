// SHA-256 (FIPS 180-4), synchronous, because a verifier hashes a million short texts one after another: for those, an answer of
// WebCrypto, which comes later, and a call of node:crypto both cost more than the hash (docs/adr/0037). Runs in a browser.

/** What long texts may be hashed with instead, where there is something faster: node:crypto's. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Fractions of the cube roots of the first 64 primes, and of the square roots of the first 8. */
const ROUNDS = words(
  '428a2f9871374491b5c0fbcfe9b5dba53956c25b59f111f1923f82a4ab1c5ed5d807aa9812835b01243185be550c7dc3' +
    '72be5d7480deb1fe9bdc06a7c19bf174e49b69c1efbe47860fc19dc6240ca1cc2de92c6f4a7484aa5cb0a9dc76f988da' +
    '983e5152a831c66db00327c8bf597fc7c6e00bf3d5a7914706ca63511429296727b70a852e1b21384d2c6dfc53380d13' +
    '650a7354766a0abb81c2c92e92722c85a2bfe8a1a81a664bc24b8b70c76c51a3d192e819d6990624f40e3585106aa070' +
    '19a4c1161e376c082748774c34b0bcb5391c0cb34ed8aa4a5b9cca4f682e6ff3748f82ee78a5636f84c878148cc70208' +
    '90befffaa4506cebbef9a3f7c67178f2',
)
const START = words('6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19')
const BLOCK_BYTES = 64

/** Used within one call, and by one call at a time: a call does not wait. */
const schedule = new Int32Array(64)
const state = new Int32Array(8)
const tail = new Uint8Array(2 * BLOCK_BYTES)

export function sha256(bytes: Uint8Array): Uint8Array {
  state.set(START)
  const whole = bytes.length - (bytes.length % BLOCK_BYTES)
  for (let at = 0; at < whole; at += BLOCK_BYTES) compress(bytes, at)
  const left = bytes.length - whole
  const end = left < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES
  tail.fill(0, left, end)
  for (let at = 0; at < left; at++) tail[at] = bytes[whole + at]!
  tail[left] = 0x80
  const view = new DataView(tail.buffer)
  view.setUint32(end - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(end - 4, (bytes.length << 3) >>> 0)
  for (let at = 0; at < end; at += BLOCK_BYTES) compress(tail, at)
  const hash = new Uint8Array(32)
  for (let at = 0; at < 8; at++) {
    const word = state[at]!
    hash[4 * at] = word >>> 24
    hash[4 * at + 1] = word >>> 16
    hash[4 * at + 2] = word >>> 8
    hash[4 * at + 3] = word
  }
  return hash
}

function compress(bytes: Uint8Array, at: number): void {
  const w = schedule
  for (let i = 0; i < 16; i++, at += 4)
    w[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!
    const y = w[i - 2]!
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

function words(hex: string): Int32Array {
  return Int32Array.from(hex.match(/.{8}/g)!, (word) => Number.parseInt(word, 16) | 0)
}
