// Mutants of backups and restores: found by an operator who compares what is restored with the model (archivist.ts). See mutants.ts.
import type { Mutant } from './mutants.js'

const moments = 'backups/moments.js'
const copies = 'backups/copy-table.js'
const pointInTime = 'router/backups/point-in-time.js'
const kept = { workload: 'mixed', rules: 'all', options: ['--processes', 'one', '--log', 'backups'] } as const
const shared = {
  workload: 'mixed',
  rules: 'all',
  options: ['--journal', 'shared', '--log', 'backups'],
} as const

export const BACKUP_MUTANTS: Readonly<Record<string, Mutant>> = {
  // What belongs to a moment.
  'restore-takes-one-item-of-a-transaction': {
    module: moments,
    find: "changes.map(({ event, old, keys, new: next }) => event === 'remove'",
    replace: "changes.slice(0, 1).map(({ event, old, keys, new: next }) => event === 'remove'",
    ...kept,
  },
  'moment-without-the-commit-at-it': {
    module: moments,
    find: 'timestamp > to',
    replace: 'timestamp >= to',
    ...kept,
  },
  'pages-of-different-moments': {
    module: moments,
    find: 'timestamp <= at',
    replace: 'true',
    ...kept,
  },
  'undo-in-the-order-of-the-log': {
    module: 'backups/backup-file.js',
    find: 'yield [...decodeEntries(frame.body)].toReversed();',
    replace: 'yield [...decodeEntries(frame.body)];',
    ...kept,
  },
  // The moment itself.
  'base-without-those-in-flight': {
    module: copies,
    find: 'return (await snapshots.range(node, { ...range, at, table })).outcome;',
    replace: "return 'read';",
    ...shared,
  },
  'fence-numbered-too-late': {
    module: copies,
    find: 'return { at, first, upTo: log.last };',
    replace: 'return { at, first: log.last + 1, upTo: log.last };',
    ...kept,
  },
  'old-images-not-logged': {
    module: 'router/tables/record/table-record.js',
    find: 'streamed?.old === true || captures.length > 0',
    replace: 'streamed?.old === true',
    ...kept,
  },
  // What is kept, and for how long.
  'log-not-held-for-restores': {
    module: pointInTime,
    find: 'parts.log.holdFrom(from === Infinity ? undefined : from);',
    replace: 'parts.log.holdFrom(undefined);',
    ...kept,
  },
  'base-of-an-earlier-enabling': {
    module: 'router/backups/bases.js',
    find: 'if (pointInTime === undefined)\n        return false;',
    replace: 'return true;',
    ...kept,
  },
  'base-removed-under-a-reader': {
    module: pointInTime,
    find: 'if (needed.includes(base) || this.#isRead(base))',
    replace: 'if (needed.includes(base))',
    ...kept,
  },
  // What a crash leaves.
  'half-table-left-by-a-crash': {
    module: 'router/tables/catalog/catalog-draft.js',
    find: 'if (record.loading !== undefined)\n                this.remove(record);\n            else if',
    replace: 'if',
    ...kept,
  },
  'backup-named-before-its-name-is-synced': {
    module: 'runtime/whole-files.js',
    find: 'await files.syncFolder(folder).catch(async (error) => {',
    replace: 'await Promise.resolve().catch(async (error) => {',
    ...kept,
  },
}
