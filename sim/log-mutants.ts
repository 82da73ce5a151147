// Mutants of the log of commits: found by those who follow it and by its judge (check/commit-log.ts). See mutants.ts.
import type { Mutant } from './mutants.js'

const assembler = 'commit-log/assembler.js'
const log = 'commit-log/local-log.js'
const kept = { workload: 'bank', rules: 'all', options: ['--processes', 'one', '--log', 'kept'] } as const
const shared = { workload: 'mixed', rules: 'all', options: ['--journal', 'shared', '--log', 'kept'] } as const

export const LOG_MUTANTS: Readonly<Record<string, Mutant>> = {
  // A record before the transaction is carried out everywhere.
  'log-shows-first-part': {
    module: assembler,
    find: 'open.nodes.size > 0 && open.nodes.size === open.done.size',
    replace: 'open.done.size > 0',
    ...shared,
  },
  'log-ignores-what-a-commit-was-done-upon': {
    module: assembler,
    find: 'if (commit.before === undefined)',
    replace: 'if (true)',
    ...shared,
  },
  'log-part-of-decided-update-forgotten': {
    module: 'storage/transactions/transaction-finish.js',
    find: "const isDone = state === 'damaged' || !pendings.hasItemsOf(tx);",
    replace: 'const isDone = true;',
    ...shared,
  },
  // The image that the step did not replace.
  'log-old-image-of-another-step': {
    module: 'storage/items/item-steps.js',
    find: 'let old = state.record?.json;',
    replace:
      'const stored = this.#line.durable.get(inSpace(table.space, change.key.bytes)); ' +
      'let old = stored?.subarray(HEADER_BYTES);',
    ...kept,
  },
  // What differs, put into the new image at the wrong end.
  'log-image-with-the-wrong-end': {
    module: 'commit-log/shared-ends.js',
    find: 'next.subarray(next.length - suffix)',
    replace: 'next.subarray(0, suffix)',
    ...kept,
  },
  // The frame has the image of the last write of its batch.
  'log-image-of-a-later-write-in-the-frame': {
    module: 'line/journal-line.js',
    find: 'return value !== undefined && next !== undefined && isTextOf(value, next);',
    replace: 'return value !== undefined && next !== undefined;',
    ...shared,
  },
  'log-overwritten-image-left-out': {
    module: 'storage/items/item-steps.js',
    find: 'for (const each of passed) {\n                const text',
    replace: 'for (const each of []) {\n                const text',
    ...shared,
  },
  // Numbers.
  'log-number-reused-after-restart': {
    module: log,
    find: 'this.#position = options.storage?.position ?? NOWHERE;\n',
    replace:
      'this.#position = options.storage?.position ?? NOWHERE;\n' +
      'if (options.storage) this.#position = { ...this.#position, number: Math.max(0, this.#position.number - 1) };\n',
    ...kept,
  },
  'log-position-while-held': {
    module: log,
    find: 'if (this.#assembler.isSettled)\n            this.#position',
    replace: 'if (true)\n            this.#position',
    ...shared,
  },
  'log-read-back-kept-twice': {
    module: log,
    find: 'if (record.number <= kept)',
    replace: 'if (false)',
    ...kept,
    options: [...kept.options, '--seed', '15'],
  },
  // What becomes durable with what.
  'log-forgotten-by-the-journal': {
    module: 'journal/journal.js',
    find: 'Math.min(...this.#appliedUpTo, this.#readUpTo)',
    replace: 'Math.min(...this.#appliedUpTo)',
    ...kept,
  },
  'log-of-visible-commits-lost': {
    module: 'line/journal-line.js',
    find: 'this.#open.notedVisible.push(entry);\n                    this.#addNoted(entry);',
    replace: '',
    ...shared,
    workload: 'looks',
    options: [...shared.options, '--seed', '5'],
  },
  'log-entries-unsorted': {
    module: log,
    find: 'entries.sort((a, b) => a.order - b.order);',
    replace: ';',
    ...shared,
  },
  // Trimming.
  'log-trimmed-told-as-empty': {
    module: log,
    find: 'if (request.from < this.first)\n            throw trimmed(request.from, this.first);',
    replace: 'if (request.from < this.first)\n            return emptyPage(request.from);',
    ...kept,
    options: [...kept.options, '--seed', '4'],
  },
}
