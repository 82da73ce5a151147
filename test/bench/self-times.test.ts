import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CpuProfile, partOfUrl, selfTimes } from '../../bench/profile/self-times.js'

const frame = (functionName: string, url = '', lineNumber = 0) => ({
  functionName,
  url,
  lineNumber,
  columnNumber: 0,
  scriptId: '0',
})

const ROOT = 'file:///somewhere/seriatim/dist/src'

/** (root) -> handle -> write (native), parse; and what V8 has names for. */
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 5, 6, 7] },
    { id: 2, callFrame: frame('handle', `${ROOT}/server/pipe.js`, 9), children: [3, 4] },
    { id: 3, callFrame: frame('write'), children: [] },
    { id: 4, callFrame: frame('', `${ROOT}/router/shape.js`, 0) },
    { id: 5, callFrame: frame('(idle)') },
    { id: 6, callFrame: frame('(garbage collector)') },
    { id: 7, callFrame: frame('(program)') },
  ],
  samples: [2, 3, 4, 5, 6, 7, 2, 2],
  timeDeltas: [999, 10, 20, 30, 400, 50, 60, 5],
}

test('a sample stands until the next one, and idling is no time of the program', () => {
  const { busyMicros, idleMicros } = selfTimes(PROFILE)
  assert.equal(idleMicros, 400)
  assert.equal(busyMicros, 10 + 20 + 30 + 50 + 60 + 5)
})

test('native functions count with the part that calls them, and by their own name', () => {
  const { parts, functions } = selfTimes(PROFILE)
  assert.deepEqual(parts, [
    { name: 'the system, and native code that has no name', micros: 60 },
    { name: 'garbage collection', micros: 50 },
    { name: 'server', micros: 10 + 20 + 5 },
    { name: 'router', micros: 30 },
  ])
  assert.deepEqual(
    functions.map(({ name, micros }) => [name, micros]),
    [
      ['the system, and native code that has no name', 60],
      ['garbage collection', 50],
      ['(no name), router/shape.js:1', 30],
      ['write, native', 20],
      ['handle, server/pipe.js:10', 15],
    ],
  )
})

for (const [url, part] of [
  ['node:net', 'Node: sockets, streams, timers'],
  ['node:internal/streams/readable', 'Node: sockets, streams, timers'],
  [`${ROOT}/storage/view.js`, 'storage'],
  [`${ROOT}/server/http1/reader.js`, 'server'],
  [`${ROOT}/store.js`, 'store'],
  ['file:///somewhere/node_modules/lmdb/index.js', 'package lmdb'],
  [
    'file:///somewhere/node_modules/@aws-sdk/client-dynamodb/dist/index.js',
    'package @aws-sdk/client-dynamodb',
  ],
  ['file:///somewhere/node_modules/seriatim/dist/src/journal/frame.js', 'journal'],
] as const) {
  test(`a script belongs to a part of the program: ${url}`, () => assert.equal(partOfUrl(url), part))
}

test('a profile without samples has no time', () => {
  assert.deepEqual(selfTimes({ nodes: [] }), { busyMicros: 0, idleMicros: 0, parts: [], functions: [] })
})
