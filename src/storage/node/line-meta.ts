// The meta entries of a node in this process: its line, under a prefix of the system's own space.
import { metaBounds, metaKey, metaName } from '../../line/spaces.js'
import type { Line } from '../../line/line.js'
import type { MetaEntry } from '../contract/storage-node.js'

export async function writeMeta(line: Line, entries: readonly MetaEntry[]): Promise<void> {
  const admission = line.admission()
  if (admission !== undefined) await admission
  for (const { name, value } of entries) line.put(metaKey(name), value && Uint8Array.from(value))
  await line.whenDurable()
}

export async function writeMetaIf(
  line: Line,
  seen: MetaEntry,
  entries: readonly MetaEntry[],
): Promise<boolean> {
  const admission = line.admission()
  if (admission !== undefined) await admission
  const key = metaKey(seen.name)
  const current = line.decided.get(key)
  const isAsSeen =
    current === undefined || seen.value === undefined
      ? current === seen.value
      : Buffer.compare(current, seen.value) === 0
  if (!isAsSeen) {
    // What it is refused upon must not be lost after the answer.
    await line.whenDurableAt(key)
    return false
  }
  for (const { name, value } of entries) line.put(metaKey(name), value && Uint8Array.from(value))
  await line.whenDurable()
  return true
}

export function readMeta(line: Line, prefix: string): readonly Required<MetaEntry>[] {
  const entries: Required<MetaEntry>[] = []
  for (const [key, value] of line.durable.range({ ...metaBounds(prefix), reverse: false })) {
    entries.push({ name: metaName(key), value })
  }
  return entries
}
