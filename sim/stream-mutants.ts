// Mutants of streams: found by a client that reads shard after shard (stream-follower.ts). See mutants.ts.
import type { Mutant } from './mutants.js'

const lineage = 'router/lineage/lineage.js'
const keeper = 'router/tables/catalog/stream-keeper.js'
const streamed = {
  workload: 'mixed',
  rules: 'all',
  options: ['--processes', 'one', '--log', 'streams'],
} as const

export const STREAM_MUTANTS: Readonly<Record<string, Mutant>> = {
  // A shard is told to be over when its last number is known, and its child is there when that is durable.
  'stream-child-shard-late': {
    module: 'router/streams/get-records.js',
    find: 'const isOver = next.number > (shard.to ?? Infinity);',
    replace:
      'const isRolling = catalog.keeper.visible(stream) < log.last;\n' +
      '        const isOver = next.number > (shard.to ?? (isRolling ? catalog.keeper.visible(stream) : Infinity));',
    ...streamed,
  },
  'stream-child-shard-hidden': {
    module: lineage,
    find: 'return generation < 0 ? [] :',
    replace: 'return generation < 0 || generation + 2 === stream.generations.length ? [] :',
    ...streamed,
  },
  'stream-child-of-another-shard': {
    module: lineage,
    find: 'Math.floor((position * before.shards) / generation.shards)',
    replace: 'position % before.shards',
    ...streamed,
  },
  'stream-shard-without-its-last-record': {
    module: lineage,
    find: ': next.from - 1;',
    replace: ': next.from - 2;',
    ...streamed,
  },
  // Readers of the shard see what will be in its child.
  'stream-read-on-while-shards-roll': {
    module: keeper,
    find: 'this.#rolling.set(key, last);',
    replace: ';',
    ...streamed,
  },
  // After a crash the number that was drawn is drawn anew.
  'stream-rolls-in-memory-first': {
    module: 'router/tables/catalog/catalog.js',
    find: 'const entries = metaEntries(draft,',
    replace:
      'for (const [key, stream] of draft.streams) if (stream !== undefined) this.#streams.set(key, stream);\n' +
      '            const entries = metaEntries(draft,',
    ...streamed,
  },
}
