// The scenes of the playground, as data: what is in the table, and the steps of two or three clients. What a step writes may
// depend on what its client has seen, and on nothing else, so that a scene can be replayed in every serial order.
export type Plain = string | number
export type Row = Readonly<Record<string, Plain>>
/** What a client has seen so far, by the names of its steps. */
export type Seen = Readonly<Record<string, readonly Row[]>>

export type Step =
  | { readonly do: 'get'; readonly id: string; readonly as: string }
  /** All items whose attribute has that value: by a scan, or by the index on `email`. */
  | {
      readonly do: 'find'
      readonly attribute: string
      readonly value: Plain
      readonly by: 'scan' | 'index'
      readonly as: string
    }
  /** Undefined: what was seen gives no reason to write. */
  | { readonly do: 'put'; readonly text: string; readonly row: (seen: Seen) => Row | undefined }
  | { readonly do: 'add'; readonly id: string; readonly attribute: string; readonly by: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'commit' }
  | { readonly do: 'abort' }

export interface Client {
  readonly name: string
  readonly steps: readonly Step[]
  /** How long the unit may take; 30 s unless it is said. */
  readonly timeoutMs?: number
}

export interface Scene {
  readonly id: string
  readonly title: string
  readonly story: string
  readonly rows: readonly Row[]
  readonly clients: readonly Client[]
  /** The order of steps in which it goes wrong, if it can: positions of clients. */
  readonly order: readonly number[]
  /** What it is called when no serial order explains what was seen. */
  readonly anomaly: string
}

const commit = { do: 'commit' } as const
const get = (id: string, as = id): Step => ({ do: 'get', id, as })
const first = (seen: Seen, name: string): Row => seen[name]?.[0] ?? { id: name }
const numberIn = (row: Row, attribute: string): number => Number(row[attribute] ?? 0)

const increment: readonly Step[] = [
  get('counter'),
  {
    do: 'put',
    text: 'counter = what I read + 1',
    row: (seen) => ({ id: 'counter', value: numberIn(first(seen, 'counter'), 'value') + 1 }),
  },
  commit,
]

const WANTED = 'matt@example.org'
const look = (by: 'scan' | 'index'): Step => ({
  do: 'find',
  attribute: 'email',
  value: WANTED,
  by,
  as: 'same address',
})
const create = (id: string): Step => ({
  do: 'put',
  text: `if no one has the address: create ${id} with ${WANTED}`,
  row: (seen) => ((seen['same address']?.length ?? 0) > 0 ? undefined : { id, email: WANTED }),
})
const createOther = (email: string): Step => ({
  do: 'put',
  text: `create c1 with ${email}`,
  row: () => ({ id: 'c1', email }),
})

const goOff = (id: string): readonly Step[] => [
  { do: 'find', attribute: 'oncall', value: 'yes', by: 'scan', as: 'on call' },
  {
    do: 'put',
    text: `if two or more are on call: ${id} goes off`,
    row: (seen) => ((seen['on call']?.length ?? 0) >= 2 ? { id, oncall: 'no' } : undefined),
  },
  commit,
]

const book = (id: string): readonly Step[] => [
  { do: 'find', attribute: 'room', value: 'R1', by: 'scan', as: 'bookings' },
  {
    do: 'put',
    text: `if the room is free: book it as ${id}`,
    row: (seen) => ((seen['bookings']?.length ?? 0) > 0 ? undefined : { id, room: 'R1' }),
  },
  commit,
]

const buy = (who: string): readonly Step[] => [
  { do: 'put', text: `listing: bought by ${who}`, row: () => ({ id: 'listing', buyer: who }) },
  { do: 'put', text: `invoice: sent to ${who}`, row: () => ({ id: 'invoice', recipient: who }) },
  commit,
]

export const SCENES: readonly Scene[] = [
  {
    id: 'lost-update',
    title: 'Lost update',
    story:
      'Two clients read a counter, and each writes what it read plus one. Two increments should make two.',
    rows: [{ id: 'counter', value: 42 }],
    clients: [
      { name: 'First', steps: increment },
      { name: 'Second', steps: increment },
    ],
    order: [0, 1, 0, 1, 0, 1],
    anomaly: 'lost update',
  },
  {
    id: 'read-skew',
    title: 'Read skew',
    story:
      'Alice looks at her two accounts of 500 each while 100 goes from one to the other. They should come to 1,000.',
    rows: [
      { id: 'account 1', balance: 500 },
      { id: 'account 2', balance: 500 },
    ],
    clients: [
      { name: 'Alice looks', steps: [get('account 1'), get('account 2'), commit] },
      {
        name: 'Transfer',
        steps: [
          { do: 'add', id: 'account 1', attribute: 'balance', by: 100 },
          { do: 'add', id: 'account 2', attribute: 'balance', by: -100 },
          commit,
        ],
      },
    ],
    order: [0, 1, 1, 1, 0, 0],
    anomaly: 'read skew, also called a nonrepeatable read',
  },
  {
    id: 'write-skew',
    title: 'Write skew',
    story:
      'Two doctors are on call, and one must stay. Each sees two, and goes off. Each changes another item, so neither overwrites the other.',
    rows: [
      { id: 'alice', oncall: 'yes' },
      { id: 'bob', oncall: 'yes' },
    ],
    clients: [
      { name: 'Alice', steps: goOff('alice') },
      { name: 'Bob', steps: goOff('bob') },
    ],
    order: [0, 1, 0, 1, 0, 1],
    anomaly: 'write skew',
  },
  {
    id: 'phantom',
    title: 'Phantom',
    story:
      'Two people look for bookings of a room, find none, and book it. There was no item that either could have locked.',
    rows: [{ id: 'b0', room: 'R2' }],
    clients: [
      { name: 'First', steps: book('b1') },
      { name: 'Second', steps: book('b2') },
    ],
    order: [0, 1, 0, 1, 0, 1],
    anomaly: 'a phantom',
  },
  {
    id: 'dirty-read',
    title: 'Dirty read',
    story:
      'A client writes, another reads before the first has committed, and the first gives up. The second must not have seen it.',
    rows: [{ id: 'price', value: 10 }],
    clients: [
      {
        name: 'Writer gives up',
        steps: [{ do: 'put', text: 'price = 99', row: () => ({ id: 'price', value: 99 }) }, { do: 'abort' }],
      },
      { name: 'Reader', steps: [get('price'), commit] },
    ],
    order: [0, 1, 0, 1],
    anomaly: 'a dirty read',
  },
  {
    id: 'dirty-write',
    title: 'Dirty write',
    story:
      'Alice and Bob buy the same car: a listing and an invoice each. Both must end with the same buyer.',
    rows: [
      { id: 'listing', buyer: '-' },
      { id: 'invoice', recipient: '-' },
    ],
    clients: [
      { name: 'Alice', steps: buy('Alice') },
      { name: 'Bob', steps: buy('Bob') },
    ],
    order: [0, 1, 1, 0, 1, 0],
    anomaly: 'a dirty write',
  },
  {
    id: 'add',
    title: 'Increments without reading',
    story:
      'The same two increments, as an update that adds. Neither reads, so at snapshot isolation neither stands in the way of the other.',
    rows: [{ id: 'counter', value: 42 }],
    clients: [0, 1].map((at) => ({
      name: at === 0 ? 'First' : 'Second',
      steps: [{ do: 'add', id: 'counter', attribute: 'value', by: 1 }, commit],
    })),
    order: [0, 1, 0, 1],
    anomaly: 'lost update',
  },
  {
    id: 'customer-scan',
    title: 'Demo 1: the same customer twice',
    story:
      'A client creates a customer if no one has the address, which it looks for by a scan. Another client does the same meanwhile.',
    rows: [],
    clients: [
      { name: 'Create', steps: [look('scan'), create('new'), commit] },
      { name: 'Other client', steps: [look('scan'), create('c1'), commit] },
    ],
    order: [0, 1, 1, 1, 0, 0],
    anomaly: 'two customers with one address',
  },
  {
    id: 'customer-other',
    title: 'Demo 2: another customer',
    story:
      'The same, but the other client creates a customer with another address. QLDB refused the first client for that; here only what it looked for counts.',
    rows: [],
    clients: [
      { name: 'Create', steps: [look('scan'), create('new'), commit] },
      { name: 'Other client', steps: [createOther('other@example.org'), commit] },
    ],
    order: [0, 1, 1, 0, 0],
    anomaly: 'two customers with one address',
  },
  {
    id: 'customer-index',
    title: 'Demo 3: with an index',
    story: 'The address is looked for by an index. The same answers, and only a part of the index was read.',
    rows: [],
    clients: [
      { name: 'Create', steps: [look('index'), create('new'), commit] },
      { name: 'Other client', steps: [createOther(WANTED), commit] },
      { name: 'A third', steps: [look('index'), create('third'), commit] },
    ],
    order: [0, 2, 1, 1, 0, 0, 2, 2],
    anomaly: 'two customers with one address',
  },
  {
    id: 'timeout',
    title: 'Demo 4: too slow',
    story: 'A unit of work may take 1.5 seconds here (30 unless it is said). It waits for 2, and is refused.',
    rows: [{ id: 'counter', value: 42 }],
    clients: [
      {
        name: 'Slow',
        timeoutMs: 1500,
        steps: [get('counter'), { do: 'wait', ms: 2000 }, ...increment.slice(1)],
      },
      { name: 'Quick', steps: increment },
    ],
    order: [0, 1, 1, 1, 0, 0, 0],
    anomaly: 'lost update',
  },
]

export function stepText(step: Step): string {
  switch (step.do) {
    case 'get':
      return `read ${step.id}`
    case 'find':
      return `find all with ${step.attribute} = ${step.value}, by ${step.by === 'scan' ? 'a scan' : 'the index'}`
    case 'put':
      return `write ${step.text}`
    case 'add':
      return `add ${step.by} to ${step.attribute} of ${step.id}`
    case 'wait':
      return `wait ${step.ms / 1000} s`
    case 'commit':
      return 'commit'
    case 'abort':
      return 'give up'
  }
}
