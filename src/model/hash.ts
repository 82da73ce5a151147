// MurmurHash3, 32 bits (Austin Appleby, public domain), over a latin1 string. It decides where a partition lives, so it
// must never change.

/** An unsigned 32-bit hash of the bytes. */
export function hashBytes(bytes: string): number {
  const { length } = bytes
  const whole = length & ~3
  let hash = 0
  for (let at = 0; at < whole; at += 4) {
    const block =
      bytes.charCodeAt(at) |
      (bytes.charCodeAt(at + 1) << 8) |
      (bytes.charCodeAt(at + 2) << 16) |
      (bytes.charCodeAt(at + 3) << 24)
    hash ^= scramble(block)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = length - 1; at >= whole; at--) tail = (tail << 8) | bytes.charCodeAt(at)
  hash ^= scramble(tail) ^ length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}
