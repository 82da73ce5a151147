// Mutants of what units of work rest upon: validation, visibility, collection and locks. See mutants.ts.
import type { Mutant } from './mutants.js'

/** For those that were found in a certain world: it is the same as long as it draws no knobs, and none of the later faults. */
export const PLAIN = ['--knobs', 'plain', '--faults', 'delay,drop,repeat,partition,crash,clock,disk'] as const

const units = { workload: 'units', rules: 'all' } as const

const binding = 'rules/units/binding.js'

export const UNIT_MUTANTS: Readonly<Record<string, Mutant>> = {
  // What a commit requires.
  'reads-not-required': {
    module: binding,
    find: 'if (validates || isLocked)',
    replace: 'if (isLocked)',
    ...units,
  },
  'reads-of-writes-not-required': {
    module: binding,
    find: 'if (seen !== undefined && (isLocked || validatesReads(isolation)))',
    replace: 'if (seen !== undefined && isLocked)',
    ...units,
  },
  'first-committer-not-required': {
    module: binding,
    find: "return { kind: 'unwritten-since', timestamp: readTimestamp };",
    replace: 'return undefined;',
    ...units,
  },
  'every-update-taken-for-an-add': {
    module: binding,
    find: "mutation.update.tree.actions.some(({ type }) => type !== 'add')",
    replace: 'false',
    ...units,
  },
  'predicates-not-required': {
    module: binding,
    find: 'predicates: validates ? predicates : NONE',
    replace: 'predicates: NONE',
    ...units,
  },
  'scan-required-of-one-node': {
    module: 'router/units/unit-ranges.js',
    find: 'nodes: everywhere',
    replace: 'nodes: [0]',
    ...units,
  },
  // Where a unit reads.
  'items-read-at-another-snapshot': {
    module: 'router/units/work.js',
    find: 'if (readsAtOneSnapshot(unit.isolation) && unit.readTimestamp === undefined) {',
    replace: 'if (readsAtOneSnapshot(unit.isolation)) {',
    ...units,
  },
  'range-read-at-another-snapshot': {
    module: 'router/units/unit.js',
    find: 'const at = unit.readTimestamp ?? (await snapshots.open(open));',
    replace: 'const at = await snapshots.open(open);',
    ...units,
  },
  // Validation.
  'version-not-expected': {
    module: 'rules/units/binding.js',
    find: 'return item.version === expected.written ? undefined',
    replace: 'return true ? undefined',
    ...units,
  },
  'second-committer-wins': {
    module: 'rules/units/binding.js',
    find: 'return isUnwritten(item, expected.timestamp) ? undefined',
    replace: 'return true ? undefined',
    ...units,
  },
  'pending-changes-ignored': {
    module: 'rules/units/binding.js',
    find: 'if (expected === undefined || item.pending.length === 0)',
    replace: 'if (true)',
    ...units,
  },
  'predicate-never-changes': {
    module: 'rules/units/visibility.js',
    find: 'if (!seen.includes(true))',
    replace: 'if (true)',
    ...units,
  },
  'predicate-sees-new-image-only': {
    module: 'rules/units/visibility.js',
    find: 'const matched = matches(predicate, old);',
    replace: 'const matched = false;',
    ...units,
  },
  'predicate-ignores-pending': {
    module: 'storage/units/predicates.js',
    find: 'for (const address of pendings.items()) {',
    replace: 'for (const address of []) {',
    ...units,
  },
  'predicate-leaves-no-floor': {
    module: 'storage/units/predicates.js',
    find: 'floors.raise(table.space, timestamp);',
    replace: ';',
    ...units,
  },
  // Visibility.
  // A late image that is not waited for is met in one world of thousands: test/storage/transactions/late-images.test.ts fails with it.
  'range-leaves-no-floor': {
    module: 'storage/units/unit-part.js',
    find: 'floors.raise(space, at);',
    replace: ';',
    ...units,
  },
  'snapshot-read-leaves-no-mark': {
    module: 'storage/units/unit-part.js',
    find: 'marks.raise(item.address, at);',
    replace: ';',
    ...units,
  },
  'snapshot-passes-prepared': {
    module: 'rules/units/visibility.js',
    find: "return pending === undefined ? VALUE : { verdict: 'pending', tx: pending.tx };",
    replace: 'return VALUE;',
    ...units,
  },
  'snapshot-sees-the-present': {
    module: 'rules/units/visibility.js',
    find: 'if (each.until > timestamp)',
    replace: 'if (false)',
    ...units,
  },
  'snapshot-opened-in-the-past': {
    module: 'storage/units/unit-part.js',
    find: 'if (wanted !== undefined && wanted < steps.highest)',
    replace: 'if (false)',
    ...units,
  },
  // Collection.
  'image-dropped-with-newest-snapshot': {
    module: 'storage/snapshots/snapshots.js',
    find: 'if (older !== undefined && older.timestamp >= image.since)',
    replace: 'if (false)',
    ...units,
  },
  'closed-snapshot-still-read': {
    module: 'storage/snapshots/snapshots.js',
    find: 'isOpen(timestamp) {',
    replace: 'isOpen(timestamp) { return true;',
    ...units,
  },
  // None of locks: what was read under one is validated as well, so one that keeps nobody out costs attempts and not the
  // truth. The tests of the node see it.
}
