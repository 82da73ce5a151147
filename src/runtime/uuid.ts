// Random UUIDs (version 4) of bytes that a runtime gives.

export function uuid(bytes: Uint8Array): string {
  const random = Buffer.from(bytes)
  random[6] = ((random[6] ?? 0) & 0x0f) | 0x40
  random[8] = ((random[8] ?? 0) & 0x3f) | 0x80
  const hex = random.toString('hex')
  return [0, 8, 12, 16, 20].map((from, part) => hex.slice(from, [8, 12, 16, 20, 32][part])).join('-')
}
