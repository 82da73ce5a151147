import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ListTransaction, judgeLists } from '../../sim/check/elle.js'

/** `T1 10-20 committed: append x 1, read y [2 3]` */
function history(text: string): ListTransaction[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const match = /^\s*(\w+) (\d+)-(\d+|never) (committed|aborted|unknown): (.*)$/.exec(line)
      assert.ok(match, line)
      const [, id, invoked, completed, status, operations] = match as unknown as string[]
      return {
        id: id as string,
        status: status as ListTransaction['status'],
        invokedAt: Number(invoked),
        completedAt: completed === 'never' ? Infinity : Number(completed),
        operations: (operations as string).split(', ').map((operation) => {
          const [kind, key, ...rest] = operation.split(' ') as [string, string, ...string[]]
          const numbers = rest.join(' ').match(/\d+/g)?.map(Number) ?? []
          return kind === 'append'
            ? { kind: 'append' as const, key, value: numbers[0] as number }
            : { kind: 'read' as const, key, list: numbers }
        }),
      }
    })
}

function kinds(text: string, final?: Record<string, number[]>): { anomalies: string[]; realtime: string[] } {
  const judged = judgeLists(history(text), final && new Map(Object.entries(final)))
  for (const { explanation } of [...judged.anomalies, ...judged.realtime]) assert.ok(explanation.length > 10)
  return { anomalies: judged.anomalies.map((a) => a.kind), realtime: judged.realtime.map((a) => a.kind) }
}

const cases: readonly {
  readonly name: string
  readonly history: string
  readonly final?: Record<string, number[]>
  readonly anomalies?: string[]
  readonly realtime?: string[]
}[] = [
  {
    name: 'a serial history is in order',
    history: `
      T1 0-10 committed: append x 1, append y 1
      T2 11-20 committed: append x 2, read y [1]
      T3 21-30 committed: read x [1 2], read y [1]`,
    final: { x: [1, 2], y: [1] },
  },
  {
    name: 'concurrent transactions in either order are in order',
    history: `
      T1 0-10 committed: append x 1, append y 1
      T2 0-10 committed: append x 2, append y 2
      T3 5-30 committed: read x [2], read y [2]
      T4 11-30 committed: read x [2 1], read y [2 1]`,
  },
  {
    name: 'G0: two transactions appended in opposite orders',
    history: `
      T1 0-10 committed: append x 1, append y 1
      T2 0-10 committed: append x 2, append y 2
      T3 11-20 committed: read x [1 2]
      T4 11-20 committed: read y [2 1]`,
    anomalies: ['G0'],
  },
  {
    name: 'G1a: an aborted append was read',
    history: `
      T1 0-10 aborted: append x 1
      T2 11-20 committed: read x [1]`,
    anomalies: ['G1a'],
  },
  {
    name: 'an unknown append that was read counts as committed',
    history: `
      T1 0-never unknown: append x 1
      T2 11-20 committed: read x [1]`,
  },
  {
    name: 'G1b: a read between two appends of one transaction',
    history: `
      T1 0-30 committed: append x 1, append x 2
      T2 11-20 committed: read x [1]
      T3 31-40 committed: read x [1 2]`,
    // The reader stands both behind and before T1.
    anomalies: ['G1b', 'G-single'],
  },
  {
    name: 'G1c: two transactions saw each other',
    history: `
      T1 0-10 committed: append x 1, read y [1]
      T2 0-10 committed: append y 1, read x [1]`,
    anomalies: ['G1c'],
  },
  {
    name: 'G-single: a read saw a transaction in one item and not in the other',
    history: `
      T1 0-10 committed: append x 1, append y 1
      T2 0-10 committed: read x [1], read y []
      T3 11-20 committed: read y [1]`,
    anomalies: ['G-single'],
  },
  {
    name: 'G2: write skew',
    history: `
      T1 0-10 committed: read x [], append y 1
      T2 0-10 committed: read y [], append x 1
      T3 11-20 committed: read x [1], read y [1]`,
    anomalies: ['G2'],
  },
  {
    name: 'G2: two readers disagree on the order of two writers',
    history: `
      T1 0-10 committed: append x 1
      T2 0-10 committed: append y 1
      T3 0-10 committed: read x [1], read y []
      T4 0-10 committed: read x [], read y [1]
      T5 11-20 committed: read x [1], read y [1]`,
    anomalies: ['G2'],
  },
  {
    name: 'a value twice in a list',
    history: `
      T1 0-10 committed: append x 1
      T2 11-20 committed: read x [1 1]`,
    anomalies: ['duplicate'],
  },
  {
    name: 'a value that nobody appended',
    history: `
      T1 0-10 committed: append x 1
      T2 11-20 committed: read x [1 7]`,
    anomalies: ['garbage'],
  },
  {
    name: 'lists of which neither continues the other',
    history: `
      T1 0-10 committed: append x 1
      T2 0-10 committed: append x 2
      T3 11-20 committed: read x [1 2]
      T4 11-20 committed: read x [2]`,
    anomalies: ['incompatible-order'],
  },
  {
    name: 'a committed append that is gone in the end',
    history: `
      T1 0-10 committed: append x 1
      T2 0-10 committed: append x 2
      T3 0-never unknown: append x 3`,
    final: { x: [2] },
    anomalies: ['lost-append'],
  },
  {
    name: 'an aborted append that is there in the end',
    history: `T1 0-10 aborted: append x 1`,
    final: { x: [1] },
    anomalies: ['G1a'],
  },
  {
    name: 'real time: a read after the append was answered does not see it',
    history: `
      T1 0-10 committed: append x 1
      T2 11-20 committed: read x []
      T3 21-30 committed: read x [1]`,
    realtime: ['real-time'],
  },
  {
    name: 'real time: the same read while the append was under way is in order',
    history: `
      T1 0-15 committed: append x 1
      T2 11-20 committed: read x []
      T3 21-30 committed: read x [1]`,
  },
  {
    name: 'real time: through a third transaction on other items',
    history: `
      T1 0-10 committed: append x 1
      T2 20-30 committed: append y 1
      T3 5-40 committed: read x [], read y [1]
      T4 50-60 committed: read x [1]`,
    realtime: ['real-time'],
  },
]

for (const { name, history: text, final, anomalies = [], realtime = [] } of cases) {
  test(`sim judge of lists: ${name}`, () => {
    assert.deepEqual(kinds(text, final), { anomalies, realtime })
  })
}

test('sim judge of lists: a cycle is explained step by step', () => {
  const { anomalies } = judgeLists(
    history(`
      T1 0-10 committed: append x 1, append y 1
      T2 0-10 committed: read x [1], read y []
      T3 11-20 committed: read y [1]`),
  )
  assert.equal(
    anomalies[0]?.explanation,
    'T2 comes before T1 (rw: 1 was not there yet in y); T1 comes before T2 (wr: 1 was read in x)',
  )
})

test('sim judge of lists: a long history is judged without recursion', () => {
  const long: ListTransaction[] = Array.from({ length: 5000 }, (_, at) => ({
    id: `T${at}`,
    status: 'committed',
    invokedAt: at * 10,
    completedAt: at * 10 + 15,
    operations: [{ kind: 'append', key: `k${at % 5}`, value: at }],
  }))
  const final = new Map(
    [0, 1, 2, 3, 4].map((k) => [`k${k}`, long.map((_, at) => at).filter((at) => at % 5 === k)]),
  )
  assert.deepEqual(judgeLists(long, final), { anomalies: [], realtime: [] })
})
