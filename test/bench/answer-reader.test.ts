import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type HttpAnswer, AnswerReader, refusalName } from '../../src/bench/load/answer-reader.js'

const answer = (status: string, body: string, name = 'Content-Length'): Buffer =>
  Buffer.from(`HTTP/1.1 ${status}\r\nDate: today\r\n${name}: ${Buffer.byteLength(body)}\r\n\r\n${body}`)

/** As the socket would hand it out: the same memory for each chunk. */
function feed(reader: AnswerReader, bytes: Buffer, chunkBytes: number): (HttpAnswer | undefined)[] {
  const memory = Buffer.alloc(chunkBytes)
  const answers: (HttpAnswer | undefined)[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const length = bytes.copy(memory, 0, at, at + chunkBytes)
    answers.push(reader.feed(memory.subarray(0, length)))
  }
  return answers
}

test('answers are found whole, however they are cut and whatever came before', () => {
  const one = fc.tuple(fc.constantFrom('200 OK', '400 Bad Request'), fc.string({ maxLength: 2000 }))
  fc.assert(
    fc.property(
      fc.array(one, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3000 }),
      (all, size) => {
        const reader = new AnswerReader()
        for (const [status, body] of all) {
          const seen = feed(reader, answer(status, body), size)
          const last = seen.pop()
          assert.deepEqual(
            seen.filter((each) => each !== undefined),
            [],
            'nothing before the end',
          )
          assert.deepEqual(last, status.startsWith('200') ? { status: 200, body: '' } : { status: 400, body })
        }
      },
    ),
  )
})

test('an answer in chunks ends with the empty chunk', () => {
  const reader = new AnswerReader()
  const head = 'HTTP/1.1 400 Bad Request\r\ntransfer-encoding: chunked\r\n\r\n'
  assert.equal(reader.feed(Buffer.from(`${head}3\r\nabc\r\n`)), undefined)
  assert.equal(reader.feed(Buffer.from('0\r\n\r\n'))?.status, 400)
})

test('an answer of unknown length is an error, not a wait for ever', () => {
  assert.throws(() => new AnswerReader().feed(Buffer.from('HTTP/1.1 200 OK\r\n\r\n{}')), /content-length/)
})

test('refusals are called by their names, cancellations by their reason too', () => {
  const named = (body: object): string => refusalName({ status: 400, body: JSON.stringify(body) })
  assert.equal(
    named({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' }),
    'ThrottlingException',
  )
  assert.equal(
    named({
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    }),
    'TransactionCanceledException: TransactionConflict',
  )
  assert.equal(refusalName({ status: 503, body: '' }), 'HTTP 503')
})
