// A data folder as versions before format 4 wrote it: nothing in it says where it belongs.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { encodeFrame, type Frame, frameBytes } from '../../src/journal/frame.js'
import { recoverJournal } from '../../src/journal/read-back.js'
import { newSegment } from '../../src/journal/segment.js'
import { realFiles } from '../../src/runtime/real-files.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { testFolder } from './folder.js'
import { testRuntime } from './test-runtime.js'

export interface OldFolder {
  readonly path: string
  /** By their paths. */
  readonly segments: ReadonlyMap<string, Buffer>
}

const SEGMENT_BYTES = 2000

/** What `fill` writes, a third of it in the indexes; the journal is in several segments, as a kill leaves it. */
export async function oldFolder(
  count: number,
  fill: (nodes: readonly StorageNode[]) => Promise<void>,
): Promise<OldFolder> {
  const frames = await framesOf(count, fill)
  const path = testFolder()
  writeFileSync(join(path, 'seriatim.json'), `{"format":${count === 1 ? 1 : 3},"nodes":${count}}\n`)
  writeFileSync(join(path, 'lock'), '999999999 gone 1')
  const journal = join(path, count === 1 ? 'node-0/journal' : 'journal')
  mkdirSync(journal, { recursive: true })
  const segments = new Map<string, Buffer>()
  const ends = new Map<Frame, number>()
  let segment = newSegment(0, 1)
  let parts: Buffer[] = []
  let [end, synced] = [0, 0]
  const close = (): void => {
    segments.set(join(journal, segment.file), Buffer.concat(parts))
    segment = newSegment(end, segment.seed + 1)
    parts = []
  }
  for (const frame of frames) {
    const { writer, goesOn, timestamp, lsn } = frame
    const content = { timestamp, lsn, changes: new Map(frame.changes) }
    const place = { writer, goesOn, seed: segment.seed, position: end, syncedUpTo: synced }
    const bytes = encodeFrame(Buffer.alloc(frameBytes(content)), content, place)
    parts.push(bytes)
    end += bytes.length
    ends.set(frame, end)
    if (goesOn) continue
    synced = end
    if (end - segment.start >= SEGMENT_BYTES) close()
  }
  if (parts.length > 0) close()
  for (const [file, bytes] of segments) writeFileSync(file, bytes)
  for (let writer = 0; writer < count; writer++) {
    const folder = join(path, `node-${writer}`, 'index')
    mkdirSync(folder, { recursive: true })
    const index = lmdbMap(folder)
    const own = frames.filter((frame) => frame.writer === writer)
    for (const frame of own.slice(0, Math.ceil(own.length / 3)))
      await index.apply(frame.changes, ends.get(frame) as number)
    await index.close()
  }
  return { path, segments }
}

async function framesOf(
  count: number,
  fill: (nodes: readonly StorageNode[]) => Promise<void>,
): Promise<readonly Frame[]> {
  const path = testFolder()
  // The clock stands still: nothing is brought into the indexes meanwhile.
  const nodes = await openLocalNodes({ runtime: testRuntime(1), path, nodes: count })
  await fill(nodes)
  const image = testFolder()
  cpSync(path, image, { recursive: true })
  await Promise.all(nodes.map((node) => node.close()))
  const { id } = JSON.parse(readFileSync(join(image, 'seriatim.json'), 'utf8')) as { id: string }
  const frames: Frame[] = []
  const folder = join(image, count === 1 ? 'node-0/journal' : 'journal')
  const heldUpTo = Array.from({ length: count }, () => 0)
  await recoverJournal({ files: realFiles(), folder, heldUpTo, owner: { id, state: 'whole' } }, (frame) => {
    frames.push(frame)
    return Promise.resolve()
  })
  return frames
}
