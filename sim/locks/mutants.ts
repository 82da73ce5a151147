// Wrong lock clients, each wrong in one way: a simulation that does not find them proves nothing about the right one.
// A mutant is a change of text in compiled modules, made while they are loaded (sim/mutant-loader.ts).

export interface Edit {
  /** The module, under the source folder. */
  readonly module: string
  readonly find: string
  readonly replace: string
}

const rows = 'toolkit/locks/rows.js'
const rules = 'toolkit/locks/rules.js'
const acquire = 'toolkit/locks/acquire.js'
const lease = 'toolkit/locks/lease.js'
const observations = 'toolkit/locks/observations.js'

const LATE = "if (isLate(me, view.lock))\n        return { step: 'draw-again', why: 'late' };"
const ALONE =
  "ConditionExpression: `${first ? 'attribute_not_exists(entries)' : 'entries = :entries'} AND (attribute_not_exists(granted) OR granted < :ticket)`,"

/** Where a mutant shows soon: the seed to begin with. Elsewhere it takes longer. */
export const SHOWS_FROM_SEED: Readonly<Record<string, number>> = {
  'lock-row-of-the-same-query': 335,
  'shared-ignores-exclusive-entry': 6641,
  'monotonic-clock-only': 432,
  'beat-goes-back': 2766,
  'place-given-up-first': 647,
  'suspicion-of-any-beat': 279,
  'no-margin': 170,
  'shared-entry-unseen': 157,
  'only-the-first-queue-watched': 1670,
}

export const LOCK_MUTANTS: Readonly<Record<string, readonly Edit[]>> = {
  // Whoever is first in the queue is inside: a ticket that is enqueued late enters beside the holder.
  'late-enqueue': [
    { module: rules, find: LATE, replace: '' },
    {
      module: rows,
      find: ALONE,
      replace:
        "ConditionExpression: `(attribute_not_exists(nothing)${first ? '' : ' OR entries = :entries'})`,",
    },
  ],
  'entry-compares-ticket-only': [
    {
      module: rows,
      find: ALONE,
      replace:
        "ConditionExpression: `(attribute_not_exists(nothing)${first ? '' : ' OR entries = :entries'}) AND (attribute_not_exists(granted) OR granted < :ticket)`,",
    },
  ],
  'lock-row-of-the-same-query': [
    {
      module: rules,
      find: 'if (known === undefined || !sameForEntry(me, known, view.lock))',
      replace: 'known = view.lock;\n    if (false)',
    },
  ],
  'late-is-ignored': [{ module: rules, find: LATE, replace: '' }],
  'waiters-do-not-count': [
    {
      module: rules,
      find: 'row.ticket < me.ticket && excludes(row, me)',
      replace: 'row.ticket <= view.lock.granted && row.ticket < me.ticket && excludes(row, me)',
    },
  ],
  'shared-ignores-exclusive-entry': [
    { module: rows, find: "'alone = :alone'", replace: "'alone >= :alone'" },
  ],
  'shared-entry-unseen': [
    {
      module: rows,
      find: "'granted = :ticket, ' : ''}expiresAt = :expiresAt ADD entries :one`",
      replace: "'granted = :ticket, ' : ''}expiresAt = :expiresAt, one = :one`",
    },
  ],
  'beat-goes-back': [
    { module: rows, find: "'#owner = :owner AND beat < :beat'", replace: "'#owner = :owner'" },
  ],
  'lease-from-the-answer': [
    { module: lease, find: 'this.#confirm(name, sent);', replace: 'this.#confirm(name, clock.now());' },
  ],
  'no-margin': [{ module: rules, find: 'LEASE_MARGIN = 0.05', replace: 'LEASE_MARGIN = 0' }],
  'monotonic-clock-only': [
    {
      module: 'toolkit/locks/lock-clock.js',
      find: 'return Math.max(this.monotonicMs() - moment.monotonicMs, this.wallMs() - moment.wallMs);',
      replace: 'return this.monotonicMs() - moment.monotonicMs;',
    },
  ],
  'wall-clocks-trusted': [{ module: observations, find: 'leaseMs + this.#skewMs', replace: 'leaseMs' }],
  'removal-not-compared': [
    {
      module: rows,
      find: "'#owner = :owner AND beat = :beat'",
      replace: "'#owner = :owner AND (beat = :beat OR beat <> :beat)'",
    },
  ],
  'suspicion-survives-a-heartbeat': [{ module: rows, find: ' REMOVE suspectedMs, suspectedAt', replace: '' }],
  'suspicion-of-any-beat': [
    {
      module: rows,
      find: '#owner = :owner AND beat = :beat AND (attribute_not_exists',
      replace: '#owner = :owner AND (beat = :beat OR beat <> :beat) AND (attribute_not_exists',
    },
  ],
  'gives-up-silently': [
    { module: acquire, find: 'await this.#suspect().catch(() => undefined);', replace: '' },
  ],
  'dead-at-the-head-stay': [
    {
      module: acquire,
      find: 'await this.#removeDead(name, deadAtHead.slice(0, REMOVED_ON_LEAVING_MAX));',
      replace: 'void deadAtHead;',
    },
    {
      module: acquire,
      find: 'rows.filter(isLiving).slice(0, SUSPECTED_MAX)',
      replace: 'rows.slice(0, SUSPECTED_MAX)',
    },
  ],
  'entered-though-lost': [
    {
      module: acquire,
      find: "return lease.lost === undefined ? 'inside' : 'gone';",
      replace: "return 'inside';",
    },
  ],
  'place-given-up-first': [
    {
      module: acquire,
      find: 'const before = this.#lease;',
      replace:
        'if (this.#lease !== undefined) await this.#leave(this.#lease);\n        const before = undefined;',
    },
  ],
  'keeps-what-it-entered': [
    {
      module: acquire,
      find: 'if (before !== undefined)\n                await this.#leave(before);',
      replace: 'void before;',
    },
  ],
  // Several holders.
  'limit-off-by-one': [
    {
      module: rules,
      find: 'return Math.min(me.limit, ',
      replace: 'return (me.limit > 1 ? 1 : 0) + Math.min(me.limit, ',
    },
  ],
  'limit-of-the-holder-ignored': [
    { module: rules, find: '(shared ? 1 : limit)', replace: '(me.limit > 1 ? me.limit : limit)' },
  ],
  'room-taken-out-of-turn': [{ module: rules, find: ' || !haveEntered(living, view.lock)', replace: '' }],
  'limited-entry-not-compared': [
    {
      module: rows,
      find: ALONE,
      replace:
        "ConditionExpression: `(attribute_not_exists(nothing)${first ? '' : ' OR entries = :entries'}) AND (attribute_not_exists(granted) OR granted < :ticket OR granted > :ticket)`,",
    },
  ],
  'only-the-first-queue-watched': [
    { module: acquire, find: 'if (this.#options.names.length > 1)', replace: 'if (false)' },
  ],
}
