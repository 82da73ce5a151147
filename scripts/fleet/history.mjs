// What clients of a fleet do, and what they have seen: appends to lists, alone and several at once, reads at one moment, plain reads, by
// plain requests and by the SDKs that people have (callers.mjs). Every
// value is appended once, so a list tells the order of its writers (sim/check/elle.ts). The lists change every few seconds: each set is
// judged by itself, when it is not used any more.
import { Agent, request } from 'node:http'
import { judgeLists } from '../../dist/sim/check/elle.js'

const TableName = 'Lists'
const COLORS = ['red', 'green', 'blue']
const LISTS = 10
const REQUEST_MS_MAX = 40_000
const REST_MS_MAX = 30_000
const REFUSALS = new Set([
  'TransactionCanceledException',
  'TransactionConflictException',
  'ConditionalCheckFailedException',
  'ThrottlingException',
])

export const table = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'color', AttributeType: 'S' },
  ],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-color',
      KeySchema: [{ AttributeName: 'color', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** An answer, or `lost` if none came. */
export function call(url, operation, body, timeoutMs = REQUEST_MS_MAX) {
  return new Promise((resolve) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        timeout: timeoutMs,
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
      },
      (answer) => {
        const pieces = []
        answer.on('data', (piece) => pieces.push(piece))
        answer.on('error', () => resolve({ status: 'lost' }))
        answer.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          const parsed = text === '' ? {} : JSON.parse(text)
          resolve({ status: answer.statusCode, body: parsed, name: parsed.__type?.split('#')[1] })
        })
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', () => resolve({ status: 'lost' }))
    sent.end(JSON.stringify(body))
  })
}

export class Clients {
  /** @param urls where the servers are now, and nothing where one is down */
  constructor({ urls, random, clients, epochMs, pauseMs = 0, callers = [{ call }] }) {
    this.callers = callers
    this.pauseMs = pauseMs
    this.urls = urls
    this.random = random
    this.clients = clients
    this.epochMs = epochMs
    this.epochs = []
    this.tally = new Map()
    this.problems = []
    this.values = 0
    this.isEnded = false
    this.lastAnswerMs = performance.now()
    this.silentMsMax = 0
  }

  async run() {
    this.#newEpoch()
    const timer = setInterval(() => this.#newEpoch(), this.epochMs)
    await Promise.all(
      Array.from({ length: this.clients }, (_, at) => this.#client(this.callers[at % this.callers.length])),
    )
    clearInterval(timer)
  }

  end() {
    this.isEnded = true
  }

  #newEpoch() {
    const number = this.epochs.length
    this.epochs.push({
      keys: Array.from({ length: LISTS }, (_, list) => `l-${number}-${list}`),
      history: [],
      looks: [],
    })
  }

  get epoch() {
    return this.epochs.at(-1)
  }

  count(what) {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }

  sample(keys, count) {
    const left = [...keys]
    return Array.from({ length: count }, () => left.splice(this.random(left.length), 1)[0])
  }

  async #client({ call }) {
    while (!this.isEnded) {
      if (this.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.random(2 * this.pauseMs)))
      const url = this.urls()[this.random(3)]
      if (url === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        continue
      }
      const which = this.random(10)
      if (which < 4) await this.#transact(url, call)
      else if (which < 6) await this.#readAll(url, call)
      else if (which < 8) await this.#append(url, call)
      else await this.#look(url, call)
    }
  }

  #update(key, value) {
    return {
      TableName,
      Key: { id: { S: key } },
      UpdateExpression: 'SET l = list_append(if_not_exists(l, :e), :v), color = :c',
      ExpressionAttributeValues: {
        ':e': { L: [] },
        ':v': { L: [{ N: String(value) }] },
        ':c': { S: COLORS[this.random(3)] },
      },
    }
  }

  #begin(operations) {
    const { epoch } = this
    const done = {
      id: `t${this.epochs.length}-${epoch.history.length}`,
      status: 'unknown',
      invokedAt: performance.now(),
      completedAt: Infinity,
      operations,
    }
    epoch.history.push(done)
    return done
  }

  #end(done, { status, name }, what) {
    if (status !== 'lost') {
      const now = performance.now()
      this.silentMsMax = Math.max(this.silentMsMax, now - this.lastAnswerMs)
      this.lastAnswerMs = now
    }
    if (status === 200) {
      done.status = 'committed'
      done.completedAt = performance.now()
    } else if (REFUSALS.has(name)) {
      done.status = 'aborted'
      done.completedAt = performance.now()
    }
    this.count(`${what} ${status === 200 ? 'done' : (name ?? status)}`)
  }

  async #transact(url, call) {
    const keys = this.sample(this.epoch.keys, 1 + this.random(3))
    const operations = keys.map((key) => ({ kind: 'append', key, value: ++this.values }))
    const done = this.#begin(operations)
    const body = { TransactItems: operations.map(({ key, value }) => ({ Update: this.#update(key, value) })) }
    const isRepeated = this.random(3) === 0
    if (isRepeated) body.ClientRequestToken = done.id
    let answer = await call(url, 'TransactWriteItems', body)
    let isOnItsWay = answer.status === 'lost'
    // As an SDK does behind a load balancer: the same request again, at whatever server.
    for (let tries = 0; tries < (isRepeated ? 4 : 0); tries++) {
      const isOver = answer.status !== 'lost' && answer.status < 500
      if (isOver && answer.name !== 'TransactionInProgressException') break
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** tries))
      const other = this.urls()[this.random(3)]
      if (other === undefined) continue
      answer = await call(other, 'TransactWriteItems', body)
      isOnItsWay ||= answer.status === 'lost'
      this.count(`again ${answer.status === 200 ? 'done' : (answer.name ?? answer.status)}`)
    }
    // A server that was frozen may not have read the one before yet: then a refusal of this one does not tell of it.
    if (isOnItsWay && answer.status !== 200) answer = { status: 'lost' }
    this.#end(done, answer, isRepeated ? 'transaction with a token' : 'transaction')
  }

  async #append(url, call) {
    const [key] = this.sample(this.epoch.keys, 1)
    const value = ++this.values
    const done = this.#begin([{ kind: 'append', key, value }])
    this.#end(done, await call(url, 'UpdateItem', this.#update(key, value)), 'update')
  }

  async #readAll(url, call) {
    const keys = this.sample(this.epoch.keys, 2 + this.random(3))
    const done = this.#begin([])
    const answer = await call(url, 'TransactGetItems', {
      TransactItems: keys.map((id) => ({ Get: { TableName, Key: { id: { S: id } } } })),
    })
    if (answer.status === 200)
      for (const [at, key] of keys.entries())
        done.operations.push({ kind: 'read', key, list: listOf(answer.body.Responses[at].Item) })
    this.#end(done, answer, 'read')
  }

  /** A consistent read of one item sees what was acknowledged before it began, at whatever server. */
  async #look(url, call) {
    const { epoch } = this
    const [key] = this.sample(epoch.keys, 1)
    const acknowledged = epoch.history.flatMap(({ status, operations }) =>
      status === 'committed'
        ? operations.flatMap((each) => (each.kind === 'append' && each.key === key ? [each.value] : []))
        : [],
    )
    const answer = await call(url, 'GetItem', {
      TableName,
      Key: { id: { S: key } },
      ConsistentRead: true,
    })
    this.count(`look ${answer.status === 200 ? 'done' : (answer.name ?? answer.status)}`)
    if (answer.status !== 200) return
    const seen = new Set(listOf(answer.body.Item))
    for (const value of acknowledged)
      if (!seen.has(value))
        this.problems.push(`a read of ${key} did not see ${value}, which was acknowledged`)
  }

  /** Nothing is pending: a read at one moment is not refused, or not for long. */
  async #judgeRest(url, keys) {
    const TransactItems = keys.map((id) => ({ Get: { TableName, Key: { id: { S: id } } } }))
    const untilMs = performance.now() + REST_MS_MAX
    for (;;) {
      const { status, name } = await call(url, 'TransactGetItems', { TransactItems })
      if (status === 200) return
      if (performance.now() > untilMs) {
        this.problems.push(`${keys[0]} and others are not at rest: ${name ?? status}`)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** What clients have seen against what is there. */
  async judge(url) {
    const colors = new Map()
    for (const { keys, history } of this.epochs) {
      await this.#judgeRest(url, keys)
      const final = new Map()
      for (const key of keys) {
        const { status, body } = await call(url, 'GetItem', {
          TableName,
          Key: { id: { S: key } },
          ConsistentRead: true,
        })
        if (status !== 200) this.problems.push(`${key} cannot be read at the end: ${status}`)
        final.set(key, listOf(body?.Item))
        if (body?.Item !== undefined) colors.set(key, body.Item.color.S)
      }
      const { anomalies, realtime } = judgeLists(history, final)
      for (const { kind, explanation } of [...anomalies, ...realtime])
        this.problems.push(`${kind}: ${explanation}`)
    }
    const found = new Map()
    for (const color of COLORS)
      for (let start; ;) {
        const { status, body } = await call(url, 'Query', {
          TableName,
          IndexName: 'by-color',
          KeyConditionExpression: 'color = :c',
          ExpressionAttributeValues: { ':c': { S: color } },
          ...(start && { ExclusiveStartKey: start }),
        })
        if (status !== 200) {
          this.problems.push(`the index cannot be read at the end: ${status}`)
          break
        }
        for (const { id } of body.Items) {
          if (found.has(id.S)) this.problems.push(`${id.S} is in the index twice`)
          found.set(id.S, color)
        }
        start = body.LastEvaluatedKey
        if (start === undefined) break
      }
    for (const [key, color] of colors)
      if (found.get(key) !== color)
        this.problems.push(`${key} is ${color}, the index has it as ${found.get(key) ?? 'nothing'}`)
    for (const key of found.keys())
      if (!colors.has(key)) this.problems.push(`the index has ${key}, which is not there`)
  }
}

const listOf = (item) => (item?.l?.L ?? []).map(({ N }) => Number(N))
