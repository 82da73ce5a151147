// A segment: one file of the journal. Its name says which offset of the journal its first byte is, and gives the seed
// of its checksums, so that there is no header that could tear.

export interface Segment {
  readonly file: string
  /** Offset in the whole journal of the first byte of the file. */
  readonly start: number
  readonly seed: number
}

const NAME = /^([0-9a-f]{14})-([0-9a-f]{8})\.journal$/

export function segmentNamed(file: string): Segment | undefined {
  const match = NAME.exec(file)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { file, start: Number.parseInt(match[1], 16), seed: Number.parseInt(match[2], 16) }
}

export function newSegment(start: number, seed: number): Segment {
  const file = `${start.toString(16).padStart(14, '0')}-${seed.toString(16).padStart(8, '0')}.journal`
  return { file, start, seed }
}

/** All segments of a folder, in order. */
export function segmentsIn(names: readonly string[]): Segment[] {
  return names
    .map(segmentNamed)
    .filter((segment) => segment !== undefined)
    .toSorted((a, b) => a.start - b.start || a.seed - b.seed)
}
