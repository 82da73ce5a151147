// A process that commits one unit and kills itself before or after a request: told by its arguments.
//   node killed-child.js URL K before|after ID ID ID
import { clientRuntime } from '../../../src/runtime/real-runtime.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { intentsProtocol } from '../../../src/toolkit/intents/intents-protocol.js'
import { unitTransactor } from '../../../src/toolkit/unit/unit-transactor.js'

const [url = '', k = '', when, ...ids] = process.argv.slice(2)
let sent = 0

/** The wire without the SDK, which takes longer to load than all the rest; there are no binaries in this unit. */
const endpoint: Endpoint = {
  extension: () => Promise.reject(new Error('not used')),
  async call(operation, input) {
    const isTheOne = ++sent === Number(k)
    if (isTheOne && when === 'before') process.kill(process.pid, 'SIGKILL')
    const answer = fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': '20300101T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=a/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
      },
      body: JSON.stringify(input),
    })
    const response = await answer
    if (isTheOne) process.kill(process.pid, 'SIGKILL')
    const body = (await response.json()) as { __type?: string; message?: string }
    if (response.ok) return body as never
    throw Object.assign(new Error(body.message), {
      name: body.__type?.split('#').at(-1),
      Item: (body as { Item?: object }).Item,
    })
  },
}

const runtime = clientRuntime()
const t = unitTransactor(
  () => intentsProtocol(endpoint, runtime, { always: true, patience: { stalledMs: 200 } }),
  {},
  runtime,
)
await t.transact(async (tx) => {
  await tx.get('Things', { id: ids[0] })
  tx.update('Things', { id: ids[0] }, { set: { taken: true } })
  tx.delete('Things', { id: ids[1] })
  tx.put('Things', { id: ids[2], made: true })
})
process.stdout.write('committed\n')
await t.idle()
process.stdout.write(`requests ${sent}\n`)
