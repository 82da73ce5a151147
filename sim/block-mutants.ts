// Mutants of the blocks of ledger tables: found by the witness of checkpoints and by their judge (check/blocks.ts). See mutants.ts.
import type { Mutant } from './mutants.js'

const blocks = 'blocks/blocks.js'
const made = {
  workload: 'bank',
  rules: 'all',
  options: ['--processes', 'one', '--log', 'blocks', '--world', '200'],
} as const

export const BLOCK_MUTANTS: Readonly<Record<string, Mutant>> = {
  'blocks-signed-before-sync': {
    module: blocks,
    find: 'await this.#options.shelf.keep([...entries',
    replace:
      'await ((entries, pace) => void this.#options.shelf.keep(entries, pace).catch(() => undefined))([...entries',
    ...made,
  },
  // After a restart records are in blocks twice.
  'blocks-position-left-behind': {
    module: blocks,
    find: 'value: encodeState(state) }], this',
    replace: 'value: encodeState({ ...state, next: this.#keptNext }) }], this',
    ...made,
  },
  'blocks-middle-skipped': {
    module: 'blocks/page.js',
    find: 'for (const commit of commits) {',
    replace: 'for (const commit of commits.filter((_, at) => at % 5 !== 3)) {',
    ...made,
  },
  'blocks-sibling-on-the-wrong-side': {
    module: 'blocks/tree.js',
    find: 'hash = nodeHash(row.at(-2), hash);',
    replace: 'hash = nodeHash(hash, row.at(-2));',
    ...made,
  },
  'blocks-data-without-salt': {
    module: 'blocks/batch.js',
    find: 'data.set(salt, 0);',
    replace: 'data.fill(0, 0, salt.length);',
    ...made,
  },
  // The entry before is one of the same batch.
  'blocks-revision-of-a-batch-forgotten': {
    module: 'blocks/page.js',
    find: 'this.#heads.set(id, head);',
    replace: ';',
    ...made,
  },
  // What is remembered of items is of blocks that did not become durable.
  'blocks-remembered-after-a-failure': {
    module: 'blocks/page.js',
    find: 'if (this.#prev === undefined || !isEqual(this.#prev, job.prev))',
    replace: 'if (this.#prev === undefined)',
    ...made,
    options: [...made.options, '--transactions', '6000'],
  },
  // What was made before a failure counts, though it is not durable.
  'blocks-tree-kept-after-a-failure': {
    module: blocks,
    find: 'await this.#load().catch(() => undefined);',
    replace: '',
    ...made,
    options: [...made.options, '--transactions', '6000'],
  },
}
