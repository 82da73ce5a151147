// A real process, killed before or after every request of its commit (every third one in the quick size): whoever sweeps brings all of it or nothing.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../../src/store/store.js'
import { clientEndpoint, type ExtendedEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { INTENT } from '../../../src/toolkit/intents/protocol/records.js'
import { dynalite } from '../../support/dynalite.js'
import { foreign, intentsTransactor, sdkClient } from './endpoints.js'
import { sized } from '../../support/sizes.js'

const CHILD = fileURLToPath(new URL('./killed-child.js', import.meta.url))

interface Served extends AsyncDisposable {
  readonly url: string
  readonly endpoint: ExtendedEndpoint
}

async function servedSeriatim(): Promise<Served> {
  const store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  const endpoint = foreign({ call: (operation, input) => store.call(operation, input) })
  return { url, endpoint, [Symbol.asyncDispose]: () => store.close() }
}

async function servedDynalite(): Promise<Served> {
  const server = await dynalite()
  const client = sdkClient(server.url)
  return {
    url: server.url,
    endpoint: foreign(clientEndpoint(client)),
    [Symbol.asyncDispose]: async () => {
      client.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('on Seriatim a coordinator killed at any request leaves all or nothing, and no lock after a sweep', (context) =>
  killedEverywhere(context, servedSeriatim))

test('on dynalite a coordinator killed at any request leaves all or nothing, and no lock after a sweep', (context) =>
  killedEverywhere(context, servedDynalite))

async function killedEverywhere(context: TestContext, serve: () => Promise<Served>): Promise<void> {
  await using server = await serve()
  const { endpoint } = server
  await endpoint.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  // The dead one's intents say how patient to be with him; this sweeper takes his word in its own time.
  const sweeper = intentsTransactor(endpoint, { patience: { stalledMs: 100 } })
  await sweeper.setup()

  const whole = await commitAndDie(0, 'after')
  assert.match(whole.said, /committed\nrequests \d+/)
  const requests = Number(/requests (\d+)/.exec(whole.said)![1])
  assert.ok(requests >= 9, `only ${requests} requests`)
  const fates = new Set<boolean>()
  let cases = 0
  for (let k = 1; k <= requests; k += sized(4, 1)) {
    for (const when of ['before', 'after'] as const) {
      const { said, effect } = await commitAndDie(k, when)
      fates.add(effect)
      cases += 1
      if (said.includes('committed')) assert.equal(effect, true, `killed ${when} request ${k}`)
    }
  }
  assert.equal(fates.size, 2, 'some were committed, some were not')
  context.diagnostic(`${cases} cases`)

  async function commitAndDie(
    k: number,
    when: 'before' | 'after',
  ): Promise<{ said: string; effect: boolean }> {
    const ids = ['changed', 'deleted', 'made'].map((word) => `${word} ${k} ${when}`)
    await sweeper.transact((tx) => ids.slice(0, 2).forEach((id) => tx.put('Things', { id })))
    await sweeper.idle()
    const child = spawn(process.execPath, [CHILD, server.url, String(k), when, ...ids], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (text: Buffer) => (said += text.toString()))
    await once(child, 'close')
    await swept()
    const things = await sweeper.transact((tx) =>
      tx.getAll(
        'Things',
        ids.map((id) => ({ id })),
      ),
    )
    const effects = [things[0]?.['taken'] === true, things[1] === undefined, things[2]?.['made'] === true]
    const label = `killed ${when} request ${k}: ${JSON.stringify(things)}`
    assert.ok(
      effects.every((effect) => effect === effects[0]),
      label,
    )
    return { said, effect: effects[0]! }
  }

  async function swept(): Promise<void> {
    for (let rounds = 0; rounds < 2_000; rounds++) {
      await sweeper.sweep({ tables: ['Things'] })
      const { Count } = await endpoint.call('Scan', {
        TableName: 'Things',
        ConsistentRead: true,
        FilterExpression: `attribute_exists(${INTENT})`,
      })
      if (Count === 0) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.fail('a lock was left')
  }
}
