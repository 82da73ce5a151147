import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  array,
  assert as assertProperty,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
} from 'fast-check'
import { Assembler, type Assembled } from '../../src/commit-log/assembler.js'
import type { ChangeEntry, LogEntry, PartEntry } from '../../src/commit-log/entries.js'
import { type KeyBytes, spaceId, timestamp, type TxId } from '../../src/model/brand.js'

let order = 0
const change = (of: ChangeEntry['of'], key: string, tx?: string): ChangeEntry => ({
  kind: 'change',
  of,
  order: order++,
  timestamp: timestamp(1),
  ...(tx !== undefined && { tx: tx as TxId }),
  change: {
    space: spaceId(1),
    key: key as KeyBytes,
    event: 'modify',
    operation: 'put',
    cause: 'request',
  },
})
const part = (tx: string, node: number, nodes: readonly number[], isDone = true): PartEntry => ({
  kind: 'part',
  order: order++,
  tx: tx as TxId,
  node,
  nodes,
  isDone,
})
const completed = (tx: string): LogEntry => ({ kind: 'completed', order: order++, tx: tx as TxId })

/** `T:xy` is a transaction with changes of x and y; `x` alone a single write. */
const shown = (records: readonly Assembled[]): string =>
  records.map(({ tx, changes }) => `${tx ?? ''}:${changes.map(({ key }) => key).join('')}`).join(' ')

describe('log of commits: the assembler', () => {
  test('a single write is a record of its own, however many there are of an item in one batch', () => {
    const records = new Assembler().add([change('single', 'x'), change('single', 'x'), change('single', 'y')])
    assert.equal(shown(records), ':x :x :y')
  })

  test('the changes of a transaction in one step are one record', () => {
    const records = new Assembler().add([
      change('step', 'x', 'A'),
      change('step', 'y', 'A'),
      change('step', 'x', 'B'),
      change('single', 'y'),
    ])
    assert.equal(shown(records), 'A:xy B:x :y')
  })

  test('a transaction over several nodes comes out once all of them have carried it out', () => {
    const assembler = new Assembler()
    assert.equal(shown(assembler.add([change('finish', 'x', 'T'), part('T', 0, [0, 1])])), '')
    assert.equal(assembler.isSettled, false)
    assert.equal(shown(assembler.add([change('finish', 'y', 'T'), part('T', 1, [0, 1])])), 'T:xy')
    assert.equal(assembler.isSettled, true)
  })

  test('a node that has not carried out all of its part does not make a transaction whole', () => {
    const assembler = new Assembler()
    const first = [change('finish', 'x', 'T'), part('T', 0, [0], false)]
    assert.equal(shown(assembler.add(first)), '')
    assert.equal(shown(assembler.add([change('finish', 'y', 'T'), part('T', 0, [], true)])), 'T:xy')
  })

  test('what came after the first change of a transaction waits for it, but for what it was done upon', () => {
    const assembler = new Assembler()
    const held = assembler.add([
      change('finish', 'x', 'T'),
      part('T', 0, [0, 1]),
      change('single', 'y'),
      change('single', 'x'),
      change('single', 'z'),
    ])
    assert.equal(shown(held), '')
    assert.equal(shown(assembler.add([change('finish', 'y', 'T'), part('T', 1, [0, 1])])), ':y T:xy :x :z')
  })

  test('a transaction waits for another one that it was done upon', () => {
    const assembler = new Assembler()
    const held = assembler.add([
      change('finish', 'x', 'T'),
      part('T', 0, [0, 1]),
      change('finish', 'y', 'U'),
      part('U', 1, [0, 1]),
      change('finish', 'y', 'T'),
      part('T', 1, [0, 1]),
    ])
    assert.equal(shown(held), '')
    assert.equal(shown(assembler.add([change('finish', 'v', 'U'), part('U', 0, [0, 1])])), 'U:yv T:xy')
  })

  test('however many were done upon each other while a transaction was open, all come out before it', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => [
      change('step', `c${at}`, `S${at}`),
      change('step', `c${at + 1}`, `S${at}`),
    ]).flat()
    const records = new Assembler().add([
      change('finish', 'x', 'T'),
      part('T', 0, [0, 1]),
      ...chain,
      change('finish', 'c20000', 'T'),
      part('T', 1, [0, 1]),
      change('single', 'x'),
    ])
    assert.deepEqual(
      records.map(({ tx }) => tx),
      [...Array.from({ length: 20_000 }, (_, at) => `S${at}`), 'T', undefined],
    )
  })

  test('a transaction is whole when the ledger says so, whatever its nodes have said', () => {
    const assembler = new Assembler()
    assert.equal(shown(assembler.add([change('finish', 'x', 'T'), part('T', 0, [0, 1])])), '')
    assert.equal(shown(assembler.add([completed('T')])), 'T:x')
    assert.equal(assembler.isSettled, true)
  })

  test('a transaction that changed nothing that is logged leaves no record', () => {
    const assembler = new Assembler()
    assert.equal(shown(assembler.add([part('T', 0, [0, 1]), change('single', 'x')])), ':x')
    assert.equal(assembler.isSettled, false)
    assert.equal(shown(assembler.add([part('T', 1, [0, 1])])), '')
    assert.equal(assembler.isSettled, true)
  })

  test('what comes out does not depend on how the entries were divided', () => {
    const history = array(
      oneof(
        record({ kind: constant('single' as const), key: constantFrom('x', 'y', 'z') }),
        record({ kind: constant('finish' as const), tx: integer({ min: 0, max: 3 }) }),
      ),
      { maxLength: 30 },
    )
    assertProperty(
      property(history, array(nat(5)), (steps, cuts) => {
        const entries = entriesOf(steps)
        const whole = shown(new Assembler().add(entries))
        const assembler = new Assembler()
        const pieces: Assembled[] = []
        for (let at = 0, cut = 0; at < entries.length; cut++) {
          const length = 1 + (cuts[cut % Math.max(1, cuts.length)] ?? 0)
          pieces.push(...assembler.add(entries.slice(at, at + length)))
          at += length
        }
        assert.equal(shown(pieces), whole)
        assert.equal(assembler.isSettled, true)
      }),
    )
  })
})

type Step =
  { readonly kind: 'single'; readonly key: string } | { readonly kind: 'finish'; readonly tx: number }

/** Each transaction changes x at node 0 and y at node 1, x first; the second time that it is met it is y's turn. */
function entriesOf(steps: readonly Step[]): LogEntry[] {
  const entries: LogEntry[] = []
  const begun = new Map<string, number>()
  let next = 0
  const finish = (tx: string): void => {
    const node = begun.get(tx) === undefined ? 0 : 1
    // The next one of a node comes behind: no two overtake each other.
    entries.push(change('finish', node === 0 ? 'x' : 'y', tx), part(tx, node, [0, 1]))
    if (node === 0) begun.set(tx, 0)
    else begun.delete(tx)
  }
  for (const step of steps) {
    if (step.kind === 'single') entries.push(change('single', step.key))
    else if (begun.size > 0 && step.tx % 2 === 0) finish([...begun.keys()][0] as string)
    else finish(`T${next++}`)
  }
  for (const tx of Array.from(begun.keys())) finish(tx)
  return entries
}
