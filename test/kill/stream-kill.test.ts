import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../support/sizes.js'
import { type ReadRecord, StreamJudge, writeOf } from './stream-judge.js'
import { streamKillLoop } from './stream-kill-loop.js'

const KILLS = sized(2, 15)
const SEED = 1

for (const nodes of [1, 4]) {
  test(`kill -9, streams: a reader over the wire has each change once and in order after ${KILLS} kills with ${nodes} node(s) (seed ${SEED})`, async () => {
    const report = await streamKillLoop({ nodes, kills: KILLS, seed: SEED })
    assert.deepEqual(report.problems, [])
    assert.ok(report.acknowledged > KILLS, `only ${report.acknowledged} changes were acknowledged`)
  })
}

const item = (id: string, mark: string): ReadRecord['dynamodb']['Keys'] => ({
  id: { S: id },
  mark: { S: mark },
})
const inserted = (commit: number, id: string, mark: string): ReadRecord => ({
  eventName: 'INSERT',
  dynamodb: {
    SequenceNumber: `1${String(commit).padStart(15, '0')}00000`,
    Keys: { id: { S: id } },
    NewImage: item(id, mark),
  },
})

test('kill -9, streams: the judge finds a lost, a repeated and a reordered record, and half a transaction', () => {
  const judged = (records: readonly ReadRecord[], acknowledged: readonly string[] = []): StreamJudge => {
    const judge = new StreamJudge()
    judge.sendTogether('both', [writeOf('a', 'both'), writeOf('b', 'both')])
    for (const change of acknowledged) judge.acknowledge(change)
    for (const record of records) judge.take(record)
    judge.compare(records.map(({ dynamodb }) => dynamodb.NewImage!))
    return judge
  }
  const [a, b] = [inserted(1, 'a', 'both'), inserted(1, 'b', 'both')]
  const after = {
    ...b,
    dynamodb: { ...b.dynamodb, SequenceNumber: `${b.dynamodb.SequenceNumber.slice(0, -1)}1` },
  }
  assert.deepEqual(judged([a, after], [writeOf('a', 'both')]).problems, [])
  assert.match(judged([], [writeOf('c', 'lost')]).problems.join(), /acknowledged and is not in the stream/)
  assert.match(judged([a, a]).problems.join(), /in the stream twice/)
  assert.match(judged([inserted(2, 'c', '2'), inserted(1, 'd', '1')]).problems.join(), /is read after/)
  assert.match(judged([a]).problems.join(), /in halves/)
  assert.match(
    judged([inserted(1, 'c', '1'), inserted(2, 'c', '2')]).problems.join(),
    /its old image is undefined/,
  )
})

test(`kill -9, streams: so it has with two workers, of which one or both are killed (seed ${SEED})`, async () => {
  const report = await streamKillLoop({ nodes: 4, kills: sized(2, 10), seed: SEED, workers: 2 })
  assert.deepEqual(report.problems, [])
})
