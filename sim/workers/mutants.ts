// Wrong versions of what runs between workers.
import type { Mutant } from '../mutants.js'
import { PLAIN } from '../unit-mutants.js'

const workers = (workload: Mutant['workload']): Pick<Mutant, 'workload' | 'rules' | 'options'> => ({
  workload,
  rules: 'all',
  options: ['--processes', 'workers', ...PLAIN],
})

export const WORKER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'workers-accept-old-timestamps': {
    module: 'rules/item/section-4.js',
    find: 'workerRules = { ...allRules, oldTimestamps: false }',
    replace: 'workerRules = { ...allRules }',
    ...workers('mixed'),
  },
  'frame-written-again-too-early': {
    module: 'workers/bytes.js',
    find: 'return Buffer.from(bytes.subarray(0, at));',
    replace: 'return bytes.subarray(0, at);',
    ...workers('mixed'),
  },
  'token-lost-on-the-way': {
    module: 'workers/node-forms.js',
    find: 'token: anything(), once: flag()',
    replace: 'once: flag()',
    ...workers('retry'),
  },
  'unknown-outcome-sent-as-refusal': {
    module: 'workers/errors.js',
    find: 'return new DurabilityUnknown(message);',
    replace: 'return new WriteFailed(message);',
    ...workers('bank'),
  },
  'answered-to-worker-before-durable': {
    module: 'line/journal-line.js',
    find: 'this.#hurry();\n        return whenDurableUnhurried;',
    replace: 'this.#hurry();\n        return undefined;',
    ...workers('mixed'),
  },
}

/** Of the store that workers make together, without crashes: found by `npm run sim -- workers`. */
export const STORE_MUTANTS: Readonly<Record<string, Pick<Mutant, 'module' | 'find' | 'replace'>>> = {
  'answers-leave-during-a-change': {
    module: 'store/worker-store.js',
    find: 'await over;',
    replace: 'void over;',
  },
  'change-answered-before-all-know': {
    module: 'store/worker-hub.js',
    find: 'if (this.#announcing !== undefined)',
    replace: 'if (false)',
  },
  'refresh-forgotten': {
    module: 'store/worker-store.js',
    find: 'return opened.catalog?.refresh();',
    replace: 'return undefined;',
  },
  'principal-dropped': {
    module: 'workers/hand-on.js',
    find: 'return holderOf(id) ?? { id, name: id, allows: () => false };',
    replace: 'return anyone;',
  },
  'change-not-announced': {
    module: 'router/tables/catalog/catalog.js',
    find: 'await this.#announce?.();',
    replace: 'await undefined;',
  },
}
