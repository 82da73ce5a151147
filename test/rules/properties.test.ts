// Random transactions, single writes and reads, in any order and at any timestamps: whatever the rules accept has its
// place in the serial order for good, with all rules of §4, with none, and with any of them.
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allRules, noRules, type TransactionRules } from '../../src/rules/item/section-4.js'
import { History, NAMES, type Command } from './history.js'
import type { Change, Field, Guard, Intent } from './plain-model.js'
import { sized } from '../support/sizes.js'

const RUNS = Number(process.env['SERIATIM_PROPERTY_RUNS'] ?? sized(2_500, 10_000))

const field = fc.constantFrom<Field>('n', 'm')
const small = fc.integer({ min: 0, max: 2 })
const fields = fc
  .record({ n: fc.option(small, { nil: undefined }), m: fc.option(small, { nil: undefined }) })
  .map(({ n, m }) => ({ ...(n !== undefined && { n }), ...(m !== undefined && { m }) }))
const guard: fc.Arbitrary<Guard> = fc.oneof(
  fc.record({ test: fc.constantFrom('=' as const, '<' as const, '>=' as const), field, value: small }),
  fc.record({
    expected: fc.boolean(),
    field: fc.constantFrom<Field | 'id'>('n', 'm', 'id'),
  }),
)
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constantFrom('set' as const, 'add' as const, 'increase' as const), field, by: small }),
  fc.record({ do: fc.constant('remove' as const), field }),
  fc.constantFrom<Change>({ do: 'copy', from: 'n', to: 'm' }, { do: 'copy', from: 'm', to: 'n' }),
)
const condition = fc.option(guard, { nil: undefined, freq: 2 })
const put: fc.Arbitrary<Intent> = fc.record({ kind: fc.constant('put' as const), item: fields, condition })
const remove: fc.Arbitrary<Intent> = fc.record({ kind: fc.constant('delete' as const), condition })
const update: fc.Arbitrary<Intent> = fc.record({ kind: fc.constant('update' as const), change, condition })
const check: fc.Arbitrary<Intent> = fc.record({ kind: fc.constant('check' as const), condition: guard })
const write = fc.oneof(
  { weight: 4, arbitrary: put },
  { weight: 2, arbitrary: remove },
  { weight: 4, arbitrary: update },
)
const intent = fc.oneof({ weight: 5, arbitrary: write }, { weight: 1, arbitrary: check })

const name = fc.constantFrom<(typeof NAMES)[number]>('x', 'x', 'y')
const names = fc.constantFrom<readonly (typeof NAMES)[number][]>(['x', 'y'], ['y', 'x'], ['x'], ['y'])
const which = fc.nat({ max: 12 })
const offset = fc.integer({ min: -6, max: 4 })
const parts = fc.uniqueArray(fc.record({ name, intent }), {
  minLength: 1,
  maxLength: NAMES.length,
  selector: (part) => part.name,
})
/** Mostly sent at once, as coordinators do. */
const prepare = fc.constantFrom(true, true, true, false)
const wish = fc.constantFrom('commit', 'commit', 'cancel')
const is = <Word extends string>(word: Word): fc.Arbitrary<Word> => fc.constant(word)
const weighted = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>): fc.WeightedArbitrary<Value> => ({
  weight,
  arbitrary,
})
const command: fc.Arbitrary<Command> = fc.oneof(
  weighted(8, fc.record({ do: is('begin'), offset, parts, prepare })),
  weighted(2, fc.record({ do: is('prepare'), which, name })),
  weighted(5, fc.record({ do: is('decide'), which, wish })),
  weighted(5, fc.record({ do: is('finish'), which, names })),
  weighted(4, fc.record({ do: is('single'), name, intent: write, answersImage: fc.boolean() })),
  weighted(2, fc.record({ do: is('transact'), parts })),
  weighted(1, fc.record({ do: is('read-at'), offset, names })),
  weighted(1, fc.record({ do: is('read-together') })),
  weighted(1, fc.record({ do: is('read-latest'), offset, name })),
  weighted(1, fc.record({ do: is('get'), name })),
)

const flag = fc.boolean()
const someRules: fc.Arbitrary<TransactionRules> = fc.record({
  readsPassPrepared: flag,
  writesBeforePrepared: flag,
  writesBehindPrepared: flag,
  oldTimestamps: flag,
  severalPrepared: flag,
  oneRoundReads: flag,
  oneRoundWrites: flag,
})

function proves(rules: fc.Arbitrary<TransactionRules>): void {
  fc.assert(
    fc.property(
      rules,
      // Far apart, so that there is more room between two timestamps than a single write leaves free; or close.
      fc.constantFrom(1, 1, 2, 40),
      fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }),
      fc.array(fc.nat({ max: 20 }), { maxLength: 10 }),
      (rules, scale, commands, order) => {
        const history = new History(rules, scale)
        for (const command of commands) history.run(command)
        history.prove(order)
      },
    ),
    { numRuns: RUNS, includeErrorInReport: true },
  )
}

test('§4 with all rules every history is the one of its timestamps', () => proves(fc.constant(allRules)))
test('§3 with none of the rules of §4 every history is the one of its timestamps', () =>
  proves(fc.constant(noRules)))
test('§4 with any of the rules every history is the one of its timestamps', () => proves(someRules))
