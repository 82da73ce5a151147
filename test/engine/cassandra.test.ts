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

/** Hosts by address, with the Paxos variant of each; one without is down. */
const hostsWith = (variants: Readonly<Record<string, string | undefined>>) =>
  ({
    hosts: { values: () => Object.keys(variants).map((address) => ({ address })) },
    execute: (_: string, __: unknown, { host }: { readonly host: { readonly address: string } }) => {
      const value = variants[host.address]
      return value === undefined
        ? Promise.reject(new Error(`${host.address} is down`))
        : Promise.resolve({ rows: [{ value }] })
    },
  }) as never

for (const variant of [
  'v1',
  'v2_without_linearizable_reads',
  'v2_without_linearizable_reads_or_rejected_writes',
])
  test(`a ring of which one host runs Paxos ${variant} is refused by its name: its reads may go back in time`, async () => {
    await assert.rejects(checkPaxos(hostsWith({ a: 'v2', b: variant, c: undefined }), 'the ring'), {
      message: `the ring: host b runs Paxos ${variant}: set paxos_variant: v2 in cassandra.yaml of every node`,
    })
  })

test('a ring with one host down is taken, and one of which no host tells how it is set up is not', async () => {
  await checkPaxos(hostsWith({ a: 'v2', b: undefined, c: 'v2' }), 'the ring')
  await assert.rejects(checkPaxos(hostsWith({ a: undefined, b: undefined }), 'the ring'), /a is down/)
})

test('the marks of removed rows are kept for three hours where rows come and go, and as long as the ring keeps them elsewhere', () => {
  assert.match(tableCreation('shop', 'ledger', 'passing'), / AND gc_grace_seconds = 10800$/)
  assert.doesNotMatch(tableCreation('shop', 't1', 'lasting'), /gc_grace/)
})
