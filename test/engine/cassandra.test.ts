// The adapter for Cassandra keeps what every engine promises. `npm run fleet` starts a ring and runs this on it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cassandra } from '../../src/engine/cassandra/cassandra.js'
import { checkPaxos } from '../../src/engine/cassandra/connection.js'
import { cassandraOptionsOf } from '../../src/engine/cassandra/options.js'
import { tableCreation } from '../../src/engine/cassandra/statements.js'
import { RING, ringOptions } from '../fleet/shared-engines.js'
import { engineSuite } from '../suites/engine.js'

if (RING === undefined)
  test(
    'engine on Cassandra',
    { skip: 'no ring: SERIATIM_RING names none, npm run fleet starts one' },
    () => {},
  )
else
  engineSuite('engine on Cassandra', () => {
    const engine = cassandra(ringOptions('suite'))
    return Promise.resolve({ engine, close: () => engine.close() })
  })

test('cassandra:// names hosts, a keyspace, and how the ring is used', () => {
  assert.deepEqual(cassandraOptionsOf('cassandra://a,b:9043/shop'), {
    contactPoints: ['a', 'b:9043'],
    keyspace: 'shop',
  })
  assert.deepEqual(
    cassandraOptionsOf(
      'cassandra://u%40x:p%2Fw@a/shop?datacenter=dc1&replication=2&consistency=local&tls=true&timeoutMs=900',
    ),
    {
      contactPoints: ['a'],
      keyspace: 'shop',
      localDataCenter: 'dc1',
      replication: 2,
      consistency: 'local',
      tls: true,
      timeoutMs: 900,
      username: 'u@x',
      password: 'p/w',
    },
  )
})

for (const [address, sentence] of [
  ['postgres://a/b', /is not an engine: cassandra:\/\/HOST/],
  ['cassandra://a', /is not an engine/],
  ['cassandra://a/Shop', /"Shop" is not a keyspace/],
  ['cassandra://a/shop; DROP', /is not a keyspace/],
  ['cassandra://a,/shop', /are not hosts/],
  ['cassandra://a/shop?colour=red', /no parameter colour/],
  ['cassandra://a/shop?replication=0', /from 1 to 100/],
  ['cassandra://a/shop?replication=three', /whole number/],
  ["cassandra://a/shop?datacenter=d'c", /not the name of a data centre/],
  ['cassandra://a/shop?consistency=some', /global or local/],
] as const)
  test(`${address} is refused with a sentence`, () => {
    assert.throws(() => cassandraOptionsOf(address), { name: 'RangeError', message: sentence })
  })

test('a password does not appear in what is said of a wrong address', () => {
  assert.throws(
    () => cassandraOptionsOf('cassandra://me:secret@a'),
    (error: Error) => !error.message.includes('secret'),
  )
})

for (const variant of [
  'v1',
  'v2_without_linearizable_reads',
  'v2_without_linearizable_reads_or_rejected_writes',
])
  test(`a ring that runs Paxos ${variant} is refused: its reads may go back in time`, async () => {
    const client = { execute: () => Promise.resolve({ rows: [{ value: variant }] }) } as never
    await assert.rejects(checkPaxos(client, 'the ring'), {
      message: `the ring runs Paxos ${variant}: set paxos_variant: v2 in cassandra.yaml of every node`,
    })
  })

test('the marks of removed rows are kept for three hours where rows come and go, and as long as the ring keeps them elsewhere', () => {
  assert.match(tableCreation('shop', 'ledger', 'passing'), / AND gc_grace_seconds = 10800$/)
  assert.doesNotMatch(tableCreation('shop', 't1', 'lasting'), /gc_grace/)
})
