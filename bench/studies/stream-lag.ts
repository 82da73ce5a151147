// How soon a change can be read after its write was answered, while other clients write: one change at a time, on connections
// of its own.
//
//   GetShardIterator LATEST --> PutItem --answer--> GetRecords, again and again --> the answer that has the change
//                                          |            |                              |
//                                          |<-- asked --+                              |
//                                          |<-- seen ----------------------------------+
//
// It became readable no later than `seen`, which has a whole request in it, and no earlier than the answer before. `turn` is a
// strongly consistent GetItem in the same load: what any request takes.
import { Agent, request } from 'node:http'
import { UNSIGNED_HEADERS } from '../../src/bench/load/request-bytes.js'
import { ITEM_TABLE } from '../../src/bench/load/workloads.js'

export interface Lag {
  readonly seenMs: number
  /** From the answer to the moment at which the request that found the change was sent. */
  readonly askedMs: number
  readonly turnMs: number
  /** Calls of GetRecords until the change was there. */
  readonly looks: number
}

const LOOKS_MAX = 1000
const DATA = 'DynamoDB_20120810'
const STREAMS = 'DynamoDBStreams_20120810'

/** Changes one after another until that is so. */
export async function lagsWhile(endpoint: string, isRunning: () => boolean): Promise<readonly Lag[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (target: string, input: object): Promise<string> => send(agent, endpoint, target, input)
  const { StreamArn, ShardId } = await openShard(ask)
  const lags: Lag[] = []
  try {
    for (let at = 0; isRunning(); at++) {
      const latest = await ask(`${STREAMS}.GetShardIterator`, {
        StreamArn,
        ShardId,
        ShardIteratorType: 'LATEST',
      })
      const mark = `lag-${process.pid}-${performance.now()}-${at}`
      const Item = { id: { S: 'lag' }, mark: { S: mark } }
      await ask(`${DATA}.PutItem`, { TableName: ITEM_TABLE, Item })
      const answeredMs = performance.now()
      const found = await look(ask, mark, fieldOf('ShardIterator', latest))
      const turnFromMs = performance.now()
      await ask(`${DATA}.GetItem`, { TableName: ITEM_TABLE, Key: { id: { S: 'lag' } }, ConsistentRead: true })
      lags.push({
        seenMs: found.seenAtMs - answeredMs,
        askedMs: found.askedAtMs - answeredMs,
        turnMs: performance.now() - turnFromMs,
        looks: found.looks,
      })
    }
  } finally {
    agent.destroy()
  }
  return lags
}

type Ask = (target: string, input: object) => Promise<string>

async function look(
  ask: Ask,
  mark: string,
  latest: string,
): Promise<{ readonly looks: number; readonly askedAtMs: number; readonly seenAtMs: number }> {
  let iterator = latest
  for (let looks = 1; looks <= LOOKS_MAX; looks++) {
    const askedAtMs = performance.now()
    const answer = await ask(`${STREAMS}.GetRecords`, { ShardIterator: iterator })
    // Not parsed: what the other clients have written meanwhile is in it too.
    if (answer.includes(mark)) return { looks, askedAtMs, seenAtMs: performance.now() }
    iterator = fieldOf('NextShardIterator', answer)
  }
  throw new Error(`${mark} cannot be read`)
}

async function openShard(ask: Ask): Promise<{ readonly StreamArn: string; readonly ShardId: string }> {
  const table = JSON.parse(await ask(`${DATA}.DescribeTable`, { TableName: ITEM_TABLE })) as {
    readonly Table: { readonly LatestStreamArn: string }
  }
  const StreamArn = table.Table.LatestStreamArn
  const stream = JSON.parse(await ask(`${STREAMS}.DescribeStream`, { StreamArn })) as {
    readonly StreamDescription: { readonly Shards: readonly { readonly ShardId: string }[] }
  }
  const shard = stream.StreamDescription.Shards.at(-1)
  if (shard === undefined) throw new Error('the stream has no shard')
  return { StreamArn, ShardId: shard.ShardId }
}

function fieldOf(name: string, answer: string): string {
  // It is the last member: the records before it may be a megabyte.
  const found = new RegExp(`"${name}":"([^"]+)"`).exec(answer.slice(-3000))?.[1]
  if (found === undefined) throw new Error(`no ${name} in ${answer.slice(0, 200)}`)
  return found
}

function send(agent: Agent, endpoint: string, target: string, input: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(input)
    const headers = {
      ...UNSIGNED_HEADERS,
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-target': target,
    }
    const sent = request(endpoint, { method: 'POST', agent, headers }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(pieces).toString()
        if (answer.statusCode === 200) resolve(text)
        else reject(new Error(`${target}: ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
