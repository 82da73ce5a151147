// The formats by themselves: what is written is read back, whatever it is and however it is cut into pieces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import * as ion from 'ion-js'
import { parseItem } from '../../src/model/parse-value.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { CsvRows } from '../../src/transfer/csv.js'
import { jsonChangeLine, jsonItemLine, readJsonLine } from '../../src/transfer/dynamodb-json.js'
import { ionChangeLine, ionItemLine, readIonLine } from '../../src/transfer/ion.js'
import { sourceBatches } from '../../src/transfer/records.js'
import { SeenKeys } from '../../src/router/transfers/seen-keys.js'
import type { SourceRecord } from '../../src/transfer/transfer.js'
import { hashBytes } from '../../src/model/key-bytes.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { sized } from '../support/sizes.js'
import { item } from './items.js'

const numRuns = sized(200, 3000)

test('formats: every item is read back from JSON and Ion as it was', () => {
  fc.assert(
    fc.property(item, (one) => {
      const put = { kind: 'put', item: one }
      assert.deepEqual(readJsonLine(jsonItemLine(JSON.stringify(one)).trimEnd()), put)
      const read = readIonLine(ionItemLine(one).trimEnd()) as { readonly item: unknown }
      assert.deepEqual(parseItem(read.item), one)
    }),
    { numRuns },
  )
})

test('formats: changes of incremental exports are read back, and one without a new image is a delete', () => {
  const keys = '{"p":{"S":"a"}}'
  for (const [line, read] of [
    [jsonChangeLine, readJsonLine],
    [ionChangeLine, readIonLine],
  ] as const) {
    const change = { timestampMicros: 1_680_109_764_000_000, keys, old: keys }
    const put = read(line({ ...change, new: '{"p":{"S":"a"},"n":{"N":"1"}}' }).trimEnd())
    assert.deepEqual(put, { kind: 'put', item: { p: { S: 'a' }, n: { N: '1' } } })
    assert.deepEqual(read(line(change).trimEnd()), { kind: 'delete', key: { p: { S: 'a' } } })
  }
})

/** What Amazon's own library makes of Ion text, as values of the wire. */
function valueOf(value: ion.dom.Value): AttributeValue {
  const [annotation] = value.getAnnotations()
  if (value.isNull()) return { NULL: true }
  switch (value.getType()) {
    case ion.IonTypes.STRING:
      return { S: value.stringValue()! }
    case ion.IonTypes.INT:
    case ion.IonTypes.DECIMAL:
      return { N: value.decimalValue()?.toString() ?? String(value.bigIntValue()) }
    case ion.IonTypes.BOOL:
      return { BOOL: value.booleanValue()! }
    case ion.IonTypes.BLOB:
      return { B: Buffer.from(value.uInt8ArrayValue()!).toString('base64') }
    case ion.IonTypes.LIST: {
      const members = value.elements().map((member) => valueOf(member))
      if (annotation === undefined) return { L: members }
      const type = annotation.replace('$dynamodb_', '')
      return { [type]: members.map((member) => Object.values(member)[0]) } as unknown as AttributeValue
    }
    case ion.IonTypes.STRUCT:
      return { M: Object.fromEntries(value.fields().map(([name, member]) => [name, valueOf(member)])) }
    default:
      throw new TypeError(`not in an export: ${value.getType().name}`)
  }
}

test('formats: Amazon’s library reads the Ion that is written as the same item', () => {
  fc.assert(
    fc.property(item, (one) => {
      const [loaded] = ion.loadAll(ionItemLine(one))
      const members = valueOf(loaded!) as { readonly M: { readonly Item: { readonly M: Item } } }
      assert.deepEqual(parseItem(members.M.Item.M), one)
    }),
    { numRuns },
  )
})

test('formats: Ion of Amazon’s documentation, and what its library prints, is read', () => {
  const text =
    '$ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Dimensions:"8.5 x 11.0 x 1.5",Id:103.,' +
    "InPublication:false,PageCount:6d2,Price:2d3,'odd name':'''long ''' '''string''', Cover:{{aGk=}}, None:null.string}}"
  assert.deepEqual(parseItem((readIonLine(text) as { readonly item: unknown }).item), {
    Authors: { SS: ['Author1', 'Author2'] },
    Dimensions: { S: '8.5 x 11.0 x 1.5' },
    Id: { N: '103' },
    InPublication: { BOOL: false },
    PageCount: { N: '600' },
    Price: { N: '2000' },
    'odd name': { S: 'long string' },
    Cover: { B: 'aGk=' },
    None: { NULL: true },
  })
  fc.assert(
    fc.property(item, (one) => {
      const printed = ion.dumpText(ion.loadAll(ionItemLine(one))[0])
      const read = readIonLine(printed) as { readonly item: unknown }
      assert.deepEqual(parseItem(read.item), one)
    }),
    { numRuns },
  )
})

test('formats: lines that are no Ion are refused with a sentence, and none is too deep', () => {
  for (const text of [
    '{Item:{a:symbol}}',
    '{Item:{a:{{bad!}}}}',
    '{Item:{a:"open}}',
    '{Item:{a:$dynamodb_SS::[1]}}',
    '{Item:{a:other::[1]}}',
    `{Item:${'{a:'.repeat(100)}1${'}'.repeat(100)}}`,
    '{Item:{a:2020-01-01T}}',
    '{Item:{}} {Item:{}}',
    '{NotItem:{}}',
  ]) {
    const record = readIonLine(text) as { readonly kind: string; readonly ends: boolean }
    assert.deepEqual([record.kind, record.ends], ['error', true], text)
  }
})

async function* cut(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function all(
  chunks: AsyncIterable<Buffer>,
  format: 'DYNAMODB_JSON' | 'CSV',
): Promise<[SourceRecord[], number]> {
  const records: SourceRecord[] = []
  let bytes = 0
  const csv = { delimiter: ',', types: new Map([['p', 'S' as const]]) }
  for await (const batch of sourceBatches(chunks, format, csv)) {
    records.push(...batch.records)
    bytes += batch.bytes
  }
  return [records, bytes]
}

test('formats: lines and rows do not depend on how an object is cut into pieces', async () => {
  const json = Buffer.from(
    '{"Item":{"p":{"S":"zażółć 🦑"}}}\n\n  \n{"Item":{"p":{"S":"b"}}}\n{"Item":{"p":{"S":"c"}}}',
  )
  const rows = Buffer.from('p,q\r\n"a ""b"", c",1\n"two\nlines",zażółć 🦑\nlast,2')
  for (const [text, format, count] of [
    [json, 'DYNAMODB_JSON', 3],
    [rows, 'CSV', 3],
  ] as const) {
    const [whole, bytes] = await all(cut(text, 10_000), format)
    assert.equal(whole.length, count)
    assert.equal(bytes, text.length)
    for (let length = 1; length < 40; length++)
      assert.deepEqual(await all(cut(text, length), format), [whole, bytes], `${format}, ${length}`)
  }
})

test('formats: rows of CSV are read back, whatever is in their fields', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'ż', ';'), maxLength: 8 })
  fc.assert(
    fc.property(fc.array(fc.tuple(field, field), { maxLength: 8 }), (rows) => {
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
      const csv = new CsvRows({ delimiter: ',', headerList: ['p', 'q'], types: new Map() })
      const text = rows.map((row) => `${row.map(quoted).join(',')}\n`).join('')
      assert.deepEqual(
        csv.end(text),
        rows.map(([p, q]) => ({ kind: 'put', item: { p: { S: p }, q: { S: q } } })),
      )
    }),
    { numRuns },
  )
})

test('formats: a key that was added is never called new again, however full the filter is', () => {
  const seen = new SeenKeys(1, { bitsMin: 64, bitsMax: 64 })
  const roomy = new SeenKeys(1000)
  let called = 0
  for (let at = 0; at < 500; at++) {
    const bytes = `key-${at}` as KeyBytes
    const key = { hash: hashBytes(bytes), bytes }
    seen.add(key)
    assert.equal(seen.add(key), false)
    if (roomy.add(key)) called++
  }
  assert.ok(called > 495)
})
