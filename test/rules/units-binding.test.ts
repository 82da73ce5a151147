// What the commit of a unit of work requires, level by level and case by case. The snapshot is 100.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp as stamp } from '../../src/model/brand.js'
import { type Isolation, isolationLevels } from '../../src/model/isolation.js'
import type { Action } from '../../src/rules/item/contended-item.js'
import {
  bindUnit,
  pairReads,
  type UnitRead,
  type UnitWork,
  type UnitWrite,
} from '../../src/rules/units/binding.js'
import { actionOn, type PlainMutation } from './plain-values.js'

const put = (id: string): Action => actionOn(id, { kind: 'put', item: { n: 1 } })
const add = (id: string, condition?: string): Action =>
  actionOn(id, { kind: 'update', text: 'ADD n 1' }, condition)
const set = (id: string): Action => actionOn(id, { kind: 'update', text: 'SET n = 1 ADD m 1' })
const check = (id: string, condition?: string): Action => actionOn(id, { kind: 'check' }, condition)
const remove = (id: string): Action => actionOn(id, { kind: 'delete' })
/** Written then, or absent. */
const read = (id: string, written?: number): UnitRead => ({
  ...check(id),
  expected: { kind: 'version', written: written === undefined ? undefined : stamp(written) },
})

interface Case {
  readonly says: string
  readonly writes?: readonly Action[]
  readonly reads?: readonly UnitRead[]
  readonly locks?: readonly Action[]
  readonly predicates?: readonly string[]
  /** At each level, one text for each action, and the predicates. */
  readonly required: Readonly<Record<Isolation, string>>
}

/** The same at several levels. */
const atAll = (text: string): Case['required'] => ({
  'read-uncommitted': text,
  'read-committed': text,
  snapshot: text,
  serializable: text,
})

const cases: readonly Case[] = [
  { says: 'nothing was done', required: atAll('') },
  {
    says: 'a put of what was not read',
    writes: [put('a')],
    required: { ...atAll('put a'), snapshot: 'put a unwritten since 100' },
  },
  {
    says: 'a put of what was read',
    writes: [put('a')],
    reads: [read('a', 50)],
    required: { ...atAll('put a'), snapshot: 'put a version 50', serializable: 'put a version 50' },
  },
  {
    says: 'a delete of what was read and absent: at snapshot it may have come and gone',
    writes: [remove('a')],
    reads: [read('a')],
    required: {
      ...atAll('delete a'),
      snapshot: 'delete a unwritten since 100',
      serializable: 'delete a version none',
    },
  },
  {
    says: 'a put of what was read behind the snapshot',
    writes: [put('a')],
    reads: [read('a', 150)],
    required: { ...atAll('put a'), snapshot: 'put a version 150', serializable: 'put a version 150' },
  },
  {
    says: 'a read alone',
    reads: [read('a', 50), read('b')],
    required: { ...atAll(''), serializable: 'check a version 50, check b version none' },
  },
  {
    says: 'reads come behind writes, in their order',
    writes: [put('c'), put('a')],
    reads: [read('b', 1), read('a', 2), read('d', 3)],
    required: {
      ...atAll('put c, put a'),
      snapshot: 'put c unwritten since 100, put a version 2',
      serializable: 'put c, put a version 2, check b version 1, check d version 3',
    },
  },
  {
    says: 'updates that only add meet others that do',
    writes: [add('a')],
    required: atAll('update a'),
  },
  {
    says: 'an update that only adds to what was read',
    writes: [add('a')],
    reads: [read('a', 50)],
    required: { ...atAll('update a'), serializable: 'update a version 50' },
  },
  {
    says: 'an add upon a condition, and an update that adds and sets',
    writes: [add('a', 'n > 0'), set('b')],
    required: {
      ...atAll('update a if, update b'),
      snapshot: 'update a if unwritten since 100, update b unwritten since 100',
    },
  },
  {
    says: 'a check of its own condition writes nothing that others could meet',
    writes: [check('a', 'n > 0')],
    required: atAll('check a if'),
  },
  {
    says: 'a lock: what was read under it is validated at every level, and nothing else',
    writes: [put('a')],
    reads: [read('a', 50), read('b', 60)],
    locks: [check('a')],
    required: {
      ...atAll('put a version 50 locked'),
      serializable: 'put a version 50 locked, check b version 60',
    },
  },
  {
    says: 'a lock of an item that was absent',
    writes: [put('a')],
    reads: [read('a')],
    locks: [check('a')],
    required: atAll('put a version none locked'),
  },
  {
    says: 'a lock of what is only read, or not even that',
    reads: [read('a', 50)],
    locks: [check('a'), check('b')],
    required: atAll('check a version 50 locked, check b locked'),
  },
  {
    says: 'a lock of what is written and was not read',
    writes: [put('a')],
    locks: [check('a')],
    required: { ...atAll('put a locked'), snapshot: 'put a unwritten since 100 locked' },
  },
  {
    says: 'a lock that is named twice is one action',
    locks: [check('a'), check('a')],
    required: atAll('check a locked'),
  },
  {
    says: 'an item that was read twice: the last read counts',
    writes: [put('a')],
    reads: [read('a', 50), read('b', 1), read('a', 60), read('b', 2)],
    required: {
      ...atAll('put a'),
      snapshot: 'put a version 60',
      serializable: 'put a version 60, check b version 2',
    },
  },
  {
    says: 'predicates are checked at serializable',
    writes: [add('a')],
    predicates: ['p', 'q'],
    required: { ...atAll('update a'), serializable: 'update a, p, q' },
  },
]

const textOf = ({ mutation, keyAttributes, condition, expected, locked }: Action): string => {
  const id = keyAttributes['id'] as { readonly S: string }
  const words = [mutation.kind, id.S]
  if (condition !== undefined) words.push('if')
  if (expected?.kind === 'version') words.push(`version ${expected.written ?? 'none'}`)
  if (expected?.kind === 'unwritten-since') words.push(`unwritten since ${expected.timestamp}`)
  if (locked === true) words.push('locked')
  return words.join(' ')
}

const workOf = ({ writes = [], reads = [], locks = [], predicates = [] }: Case): UnitWork<string> => ({
  ...pairReads(writes, reads),
  locks,
  predicates,
})

for (const one of cases)
  for (const isolation of isolationLevels)
    test(`units: ${one.says}, at ${isolation}`, () => {
      const bound = bindUnit({ isolation, readTimestamp: stamp(100) }, workOf(one))
      assert.equal([...bound.actions.map(textOf), ...bound.predicates].join(', '), one.required[isolation])
    })

test('units: at snapshot without a snapshot, because nothing was read, nothing is required of what is written', () => {
  const { actions } = bindUnit(
    { isolation: 'snapshot', readTimestamp: undefined },
    { ...pairReads([put('a')], []), locks: [], predicates: [] },
  )
  assert.deepEqual(actions.map(textOf), ['put a'])
})

test('units: no item has two actions, whatever was read, written and locked of it', () => {
  const kinds: readonly PlainMutation[] = [{ kind: 'delete' }, { kind: 'check' }]
  for (const isolation of isolationLevels)
    for (const kind of kinds) {
      const writes = [actionOn('a', kind), put('b')]
      const reads = [read('a', 1), read('c', 2)]
      const locks = ['a', 'b', 'c', 'd', 'd'].map((id) => check(id))
      const { actions } = bindUnit(
        { isolation, readTimestamp: stamp(100) },
        { ...pairReads(writes, reads), locks, predicates: [] },
      )
      assert.deepEqual(
        actions.map(({ key }) => key.bytes),
        ['a', 'b', 'c', 'd'].map((id) => check(id).key.bytes),
      )
      assert.ok(actions.every(({ locked }) => locked === true))
    }
})

test('units: an action that requires nothing new is handed on as it is, and what it does always is', () => {
  const write = put('a') as UnitWrite
  const seen: UnitWrite = { ...put('b'), expected: { kind: 'version', written: stamp(5) } }
  const work = { writes: [write, seen], reads: [], locks: [], predicates: [] }
  const serializable = bindUnit({ isolation: 'serializable', readTimestamp: stamp(100) }, work).actions
  assert.ok(serializable[0] === write && serializable[1] === seen)
  const snapshot = bindUnit({ isolation: 'snapshot', readTimestamp: stamp(100) }, work).actions
  assert.ok(snapshot.every(({ mutation }, at) => mutation === work.writes[at]?.mutation))
})
