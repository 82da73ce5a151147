// Wrong versions of the protocol, each wrong in one place (see sim/mutants.ts): a simulation that does not find them
// proves nothing about the right one.

export interface IntentsMutant {
  /** The module, under the source folder. */
  readonly module: string
  readonly find: string
  readonly replace: string
  /** Where it shows soonest. */
  readonly workload: 'lists' | 'bank' | 'slots' | 'lamps'
  /** A world in which it was found; the search begins there. */
  readonly seed: number
}

const folder = 'toolkit/intents'

export const INTENTS_MUTANTS: Readonly<Record<string, IntentsMutant>> = {
  'no-tombstone': {
    module: `${folder}/items/settle.js`,
    find: 'await cancel(space, header ?? intent, usage);',
    replace:
      'if (header === undefined)\n                return drop(space, locked, usage);\n            await cancel(space, header ?? intent, usage);',
    workload: 'lists',
    seed: 3,
  },
  'counter-as-version': {
    module: `${folder}/protocol/rules.js`,
    find: 'if (intent.transient)\n        return `${intent.id}*${intent.id}`;',
    replace: 'return `n${Number((before ?? "n0").slice(1)) + 1}`;',
    workload: 'lists',
    seed: 23,
  },
  'single-write-blind-to-intents': {
    module: `${folder}/commit/single.js`,
    find: "condition: '#v = :base AND attribute_not_exists(#i)',\n                names: { '#v': VERSION, '#i': INTENT },",
    replace: "condition: '#v = :base',\n                names: { '#v': VERSION },",
    workload: 'lists',
    seed: 8,
  },
  'transaction-blind-to-intents': {
    module: `${folder}/commit/transact.js`,
    find: "const OURS = { '#seriatimI': INTENT, '#seriatimV': VERSION };\nconst FREE = 'attribute_not_exists(#seriatimI) AND NOT",
    replace: "const OURS = { '#seriatimV': VERSION };\nconst FREE = 'NOT",
    workload: 'lists',
    seed: 28,
  },
  'finished-before-decision': {
    module: `${folder}/commit/commit.js`,
    find: 'this.#answer(await decide(',
    replace: 'this.#finishBehind();\n        this.#answer(await decide(',
    workload: 'bank',
    seed: 1,
  },
  'decision-not-compared': {
    module: `${folder}/protocol/requests.js`,
    find: "'#state = :pending AND #turn = :turn AND #stamp = :stamp'",
    replace: "'(#state = :pending OR attribute_exists(#state)) AND #turn = :turn AND #stamp = :stamp'",
    workload: 'bank',
    seed: 2,
  },
  'lost-decision-taken-for-cancelled': {
    module: `${folder}/context/headers.js`,
    find: 'const fate = await cancel(space, header, usage);\n            return',
    replace: "const fate = 'cancelled';\n        return",
    workload: 'lists',
    seed: 48,
  },
  'reads-not-validated': {
    module: `${folder}/commit/commit.js`,
    find: 'await this.#plan.validate();',
    replace: '',
    workload: 'lists',
    seed: 2,
  },
  'validation-passes-intents': {
    module: `${folder}/items/validate.js`,
    find: 'if (look.undecided === undefined)',
    replace: 'if (true)',
    workload: 'lists',
    seed: 8,
  },
  'ranges-not-validated': {
    module: `${folder}/items/validate.js`,
    find: 'for (const page of seen.pages)',
    replace: 'for (const page of [])',
    workload: 'slots',
    seed: 1,
  },
  'filter-blind-to-intended-images': {
    module: `${folder}/items/ranges.js`,
    find: 'return intended !== undefined && filter(intended);',
    replace: 'return false;',
    workload: 'lamps',
    seed: 1,
  },
  'filter-blind-to-found-images': {
    module: `${folder}/items/ranges.js`,
    find: 'if (item !== undefined && filter(item))\n        return true;',
    replace: '',
    workload: 'lamps',
    seed: 42,
  },
  'page-alone-not-validated': {
    module: `${folder}/attempt.js`,
    find: 'if (rows === 0 && items.length < 2)',
    replace: 'if (pages.length + items.length < 2)',
    workload: 'slots',
    seed: 4,
  },
  'guard-not-written': {
    module: `${folder}/items/guards.js`,
    find: "if (kind === 'check' || space.guards[table] === undefined)",
    replace: 'if (true)',
    workload: 'slots',
    seed: 2,
  },
  'guard-not-validated': {
    module: `${folder}/attempt.js`,
    find: 'guardedWork(this.#space, unit, await this.#guards.all())',
    replace: 'guardedWork(this.#space, unit, [])',
    workload: 'slots',
    seed: 2,
  },
  'guard-read-beside-rows': {
    module: `${folder}/items/guards.js`,
    find: 'await seen;',
    replace: 'void seen.catch(() => undefined);',
    workload: 'slots',
    seed: 2,
  },
  'absence-not-locked': {
    module: `${folder}/attempt.js`,
    find: '...(await this.#asMembers(work.observed.filter(isBare)))',
    replace: '',
    workload: 'lists',
    seed: 25,
  },
  'intent-over-intent': {
    module: `${folder}/protocol/requests.js`,
    find: 'const free = `(attribute_not_exists(#i) OR ${own})`;',
    replace: 'const free = `(attribute_not_exists(#i) OR attribute_exists(#i) OR ${own})`;',
    workload: 'lists',
    seed: 1,
  },
  'base-not-compared': {
    module: `${folder}/protocol/requests.js`,
    find: 'version: `#v = :base AND ${free}`,',
    replace: 'version: `(#v = :base OR attribute_exists(#v)) AND ${free}`,',
    workload: 'lists',
    seed: 1,
  },
  'reader-trusts-done': {
    module: `${folder}/items/look.js`,
    find: "if (header?.state === 'committed' && header.done)",
    replace: 'if (false)',
    workload: 'slots',
    seed: 2,
  },
  'repeated-intent-applied': {
    module: `${folder}/protocol/rules.js`,
    find: "if (header.done)\n        return 'drop';",
    replace: '',
    workload: 'slots',
    seed: 1,
  },
  'delete-forgets-inserter': {
    module: `${folder}/items/settle.js`,
    find: 'if (space.done.has(id))',
    replace: 'if (true)',
    workload: 'slots',
    seed: 2164,
  },
  'unit-cancelled-with-its-attempt': {
    module: `${folder}/protocol/rules.js`,
    find: 'headers.some(({ once }) => once)',
    replace: 'headers.length > 0',
    workload: 'lists',
    seed: 33,
  },
  'own-write-not-recognised': {
    module: `${folder}/commit/single.js`,
    find: 'if (stored?.version !== undefined && writerOf(stored.version) === me.id)',
    replace: 'if (false)',
    workload: 'lists',
    seed: 23,
  },
  'undecided-is-applied': {
    module: `${folder}/protocol/rules.js`,
    find: "if (header === undefined || header.state === 'pending')\n        return 'undecided';",
    replace:
      "if (header === undefined)\n        return 'undecided';\n    if (header.state === 'pending')\n        return 'apply';",
    workload: 'bank',
    seed: 1,
  },
}
