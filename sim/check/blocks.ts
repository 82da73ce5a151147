// Judges the blocks of a ledger table: each commit is in one block, once and in order, and everything hashes to the root.
import type { Blocks } from '../../src/blocks/blocks.js'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import { decodeBlockHeader, encodeBlock, imageOf, itemOf, SALT_BYTES } from '../../src/verify/block.js'
import { base64 } from '../../src/verify/bytes.js'
import { leafHash, rootOf } from '../../src/verify/merkle.js'
import { verifyBlock } from '../../src/verify/proof.js'
import { type Anomaly, Findings } from './anomaly.js'

/** `records`: all of the log from `first` on; what went before is in blocks that only the chain is checked of. */
export async function judgeBlocks(
  blocks: Blocks,
  records: readonly CommitRecord[],
  first: number,
): Promise<readonly Anomaly[]> {
  const found = new Findings()
  const leaves: Uint8Array[] = []
  const newest = new Map<string, { readonly version: number; readonly hash: string }>()
  const salts = new Set<string>()
  const commits: string[] = []
  let prev = new Uint8Array(32)
  for (let at = 0; at < blocks.size; at++) {
    const { header, entries } = await blocks.reader.block(at)
    const { block, prev: before, tx, ts } = decodeBlockHeader(header)
    if (block !== at || before !== base64(prev)) found.add('block-chain', `block ${at} does not follow`)
    prev = new Uint8Array(leafHash(header))
    leaves.push(prev)
    const images: string[] = []
    for (const { entry, bytes, data } of verifyBlock(header, encodeBlock(entries))) {
      if (entry.kind !== 'revision') continue
      const name = itemOf(entry)
      const last = newest.get(name)
      if (
        entry.version !== (last === undefined ? 0 : last.version + 1) ||
        entry.previous !== (last?.hash ?? null)
      )
        found.add('revision-chain', `${name} in block ${at} does not follow`)
      newest.set(name, { version: entry.version, hash: base64(leafHash(bytes)) })
      if (data !== undefined) salts.add(base64(data.subarray(0, SALT_BYTES)))
      images.push(data === undefined ? '-' : Buffer.from(imageOf(data)).toString())
    }
    if (images.length > 0) commits.push(`${ts} ${tx.startsWith('s') ? 'single' : tx} ${images.join(' ')}`)
  }
  if (base64(rootOf(leaves)) !== base64(await blocks.tree.root(blocks.size)))
    found.add('block-root', `the root of ${blocks.size} blocks is not that of their headers`)
  const data = commits.reduce(
    (sum, text) =>
      sum +
      text
        .split(' ')
        .slice(2)
        .filter((each) => each !== '-').length,
    0,
  )
  if (salts.size < data / 2) found.add('block-salts', `${data} images have ${salts.size} salts`)
  const logged = records.map(textOf)
  const kept = first === 1 ? commits : commits.slice(commits.length - logged.length)
  for (let at = 0; at < Math.max(kept.length, logged.length); at++)
    if (kept[at] !== logged[at]) {
      found.add(
        'block-of-another-commit',
        `${kept[at] ?? 'no block'}, and the log has ${logged[at] ?? 'no record'}`,
      )
      break
    }
  return found.all
}

const textOf = ({ timestamp, tx, changes }: CommitRecord): string =>
  `${timestamp} ${tx ?? 'single'} ${changes.map((change) => (change.new === undefined ? '-' : Buffer.from(change.new).toString())).join(' ')}`
