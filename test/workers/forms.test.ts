import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Channel } from '../../src/workers/channel.js'
import { FRAME_HEAD_BYTES } from '../../src/workers/bytes.js'
import { NODE_FORMS } from '../../src/workers/node-forms.js'
import { ValueReader, ValueWriter } from '../../src/workers/values.js'

function roundTrip(value: unknown): unknown {
  const writer = new ValueWriter()
  writer.value(value)
  return new ValueReader(writer.out.takeFrame().subarray(FRAME_HEAD_BYTES), []).value()
}

const record = (text: string): object => ({
  timestamp: 7,
  lsn: 8,
  lastWrite: { kind: 'put', blind: false },
  itemBytes: 9,
  json: Buffer.from(text),
})

test('workers: an item that has attributes named as those of a record arrives as it is', () => {
  const item = { lastWrite: { S: 'a' }, lsn: { N: '1' }, json: { S: '{}' } }
  assert.deepEqual(roundTrip({ Item: item }), { Item: item })
  const map = { kind: 'put', item: 'a text' }
  assert.deepEqual(roundTrip(map), map)
})

test('workers: images of a write are sent only to a caller that looks at them', () => {
  const form = NODE_FORMS.write!
  const outcome = { verdict: 'done', timestamp: 5, old: record('{"a":1}'), new: record('{"a":2}') }
  const answerTo = (answer: string): unknown => {
    const writer = new ValueWriter()
    form.writeAnswer(writer, outcome, [{}, answer])
    return form.readAnswer(new ValueReader(writer.out.takeFrame().subarray(FRAME_HEAD_BYTES), []))
  }
  assert.deepEqual(answerTo('images'), outcome)
  assert.deepEqual(answerTo('verdict'), { verdict: 'done', timestamp: 5 })
})

test('workers: a callback for damage does not go along, so that a page with a damaged item fails', () => {
  const form = NODE_FORMS.range!
  const request = { space: 3, from: 'a', reverse: false, entriesMax: 10, bytesMax: 100 }
  const writer = new ValueWriter()
  form.writeArgs(writer, [{ ...request, onDamage: () => undefined }])
  assert.deepEqual(form.readArgs(new ValueReader(writer.out.takeFrame().subarray(FRAME_HEAD_BYTES), [])), [
    request,
  ])
})

test('workers: the text of a page has room around it where it arrives', () => {
  const form = NODE_FORMS.rangeText!
  const bytes = Buffer.from('..{"a":1},{"b":2}..')
  const page = { bytes, start: 2, end: 17, lastStart: 10, entries: 2, itemBytes: 6 }
  const writer = new ValueWriter()
  form.writeAnswer(writer, page, [{ roomBefore: 5, roomAfter: 3 }])
  const arrived = form.readAnswer(
    new ValueReader(writer.out.takeFrame().subarray(FRAME_HEAD_BYTES), []),
  ) as typeof page
  assert.equal(arrived.bytes.toString('utf8', arrived.start, arrived.end), '{"a":1},{"b":2}')
  assert.equal(arrived.bytes.toString('utf8', arrived.lastStart, arrived.end), '{"b":2}')
  assert.deepEqual([arrived.start, arrived.bytes.length - arrived.end], [5, 3])
})

test('workers: a second answer to a call is an error, and what comes after the end of a channel is not read', () => {
  const frames: Buffer[] = []
  const callee = new Channel({
    runtime: { defer: (callback) => callback() },
    services: [],
    send: (frame) => frames.push(frame),
  })
  void callee.call(0, 0, []).catch(() => undefined)
  const answer = Buffer.from([2, 1, 0, 0, 0, 0])
  callee.receive(answer)
  assert.throws(() => callee.receive(answer), /answered already/)
  callee.end('over')
  callee.receive(answer)
})
