// What somebody else answers is read up to a limit.
import { concat } from '../verify/bytes.js'

/** Undefined if it is longer. */
export async function limitedBody(response: Response, bytesMax: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > bytesMax) return undefined
    parts.push(part)
  }
  return concat(...parts)
}
