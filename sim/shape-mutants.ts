// Mutants of what happens when a structure changes its shape (model/knobs.ts): only where knobs are small does a world get
// there. See mutants.ts.
import type { Mutant } from './mutants.js'

const mixed = { workload: 'mixed', rules: 'all' } as const
const overlay = 'line/overlay.js'

export const SHAPE_MUTANTS: Readonly<Record<string, Mutant>> = {
  // The overlay and its order: the key that makes the list be compacted is not in the map yet, and falls out.
  'order-before-map': {
    module: overlay,
    find:
      'this.#newest.set(key, { batch, value, older: below, visible, encode: undefined });\n' +
      '        if (newest === undefined)\n            this.#order.add(key);',
    replace:
      'if (newest === undefined)\n            this.#order.add(key);\n' +
      '        this.#newest.set(key, { batch, value, older: below, visible, encode: undefined });',
    ...mixed,
    options: ['--seed', '5'],
  },
  'load-drops-later-change': {
    module: overlay,
    find: 'if (newest !== undefined && newest.batch <= batch)',
    replace: 'if (newest !== undefined)',
    ...mixed,
  },
  // Loads for the index.
  'load-keeps-first-value': {
    module: 'line/applier.js',
    find: 'changes.set(key, value));',
    replace: 'changes.has(key) || changes.set(key, value));',
    ...mixed,
  },
  'replay-forgets-at-edge': {
    module: 'line/replay.js',
    find: 'await this.#apply(frame);',
    replace: '{ this.#changes.clear(); await this.#apply(frame); }',
    ...mixed,
    options: ['--seed', '5'],
  },
  // Work done ahead of a large step.
  'work-of-another-version': {
    module: 'storage/transactions/work-ahead.js',
    find: 'worked !== undefined && worked.lsn === state.record?.lsn',
    replace: 'worked !== undefined && state.record !== undefined',
    ...mixed,
    options: ['--seed', '38'],
  },
  // Ranges over overlay and index.
  'merge-loses-last-keys': {
    module: 'line/merged-view.js',
    find: 'while (next.done !== true) {',
    replace: 'if (next.done !== true) {',
    ...mixed,
    options: ['--seed', '7'],
  },
  'key-lost-at-page-edge': {
    module: 'storage/node/local-node.js',
    find: 'entries.push({ key: withoutSpace(key), record });',
    replace: 'if (entries.length + 1 !== entriesMax) entries.push({ key: withoutSpace(key), record });',
    ...mixed,
  },
  'text-ends-at-slab': {
    module: 'storage/contract/range-text.js',
    find: 'this.#makeRoom(1 + jsonBytes);',
    replace: 'return false;',
    ...mixed,
    options: ['--seed', '14'],
  },
  // Caches.
  'low-water-mark-not-raised': {
    module: 'storage/items/marks.js',
    find: 'if (this.#highestOlder > this.#lowWater)',
    replace: 'if (false)',
    ...mixed,
    options: ['--seed', '30'],
  },
  'token-of-last-epoch-forgotten': {
    module: 'ledger/completed.js',
    find: '[committedKey(epoch, slot), committedKey(epoch - 1, slot)]',
    replace: '[committedKey(epoch, slot)]',
    workload: 'retry',
    rules: 'all',
  },
}
