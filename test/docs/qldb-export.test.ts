// The script of docs/how-to/migrate-from-qldb.md on exports as QLDB wrote them: names of files, blocks, revisions and
// metadata as its documentation and awslabs' export processor have them.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { makeBinaryWriter, makeReader } from 'ion-js'
import { fromSdkItem, unmarshallItem } from '../../src/toolkit/values/values.js'
import { spawnServer } from '../support/spawned-server.js'
import { Installation, scriptOf } from './programs.js'

const installation = new Installation()
const exported = mkdtempSync(join(tmpdir(), 'seriatim-qldb-'))
after(() => {
  installation[Symbol.dispose]()
  rmSync(exported, { recursive: true, force: true })
})

const STRAND = 'JdxjkR9bSYB5jMHWcI464T'
const script = scriptOf('docs/how-to/migrate-from-qldb.md', 'load-qldb-export.mjs')

interface Revision {
  readonly table: string
  readonly tableId: string
  readonly id: string
  readonly version: number
  /** Ion text; absent in a revision that deletes. */
  readonly data?: string
}

const block = (sequenceNo: number, ...revisions: readonly Revision[]): string => `{
  blockAddress:{ strandId:"${STRAND}", sequenceNo:${sequenceNo} },
  transactionId:"tx${sequenceNo}",
  blockTimestamp:2022-06-08T18:46:46.512Z,
  blockHash:{{QS5lJt8vRxT30L9OGL5oU1pxFTe+UlEwakYBCrvGQ4A=}},
  transactionInfo:{
    statements:[{ statement:"…", startTime:2022-06-08T18:46:46.063Z }],
    documents:{ ${revisions.map(documentOf).join(', ')} }
  },
  revisions:[ ${revisions.map((revision) => revisionOf(sequenceNo, revision)).join(', ')} ]
}
`
const documentOf = ({ id, table, tableId }: Revision): string =>
  `'${id}':{ tableName:"${table}", tableId:"${tableId}", statements:[0] }`
const revisionOf = (sequenceNo: number, { id, version, data }: Revision): string => `{
  blockAddress:{ strandId:"${STRAND}", sequenceNo:${sequenceNo} },
  hash:{{FR1IWcWew0yw1TnRklo2YMF/qtwb7ohsu5FD8A4DSVg=}},
  ${data === undefined ? '' : `data:${data},`}
  metadata:{ id:"${id}", version:${version}, txTime:2022-06-08T18:46:46.492Z, txId:"tx${sequenceNo}" }
}`

const SYSTEM = `{
  blockAddress:{ strandId:"${STRAND}", sequenceNo:7 },
  transactionId:"tx7",
  transactionInfo:{ statements:[{ statement:"CREATE TABLE Vehicle" }], documents:{ 'sys':{ tableName:"x", tableId:"y" } } },
  revisions:[{ hash:{{FR1IWcWew0yw1TnRklo2YMF/qtwb7ohsu5FD8A4DSVg=}} }]
}
`
const vehicle = { table: 'Vehicle', tableId: 'v1' }
const person = { table: 'Person', tableId: 'p1' }
/** Files of an export, by name. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  [`2022/06/08/18/${STRAND}.7-9.ion`]: [
    SYSTEM,
    block(8, { table: 'Person', tableId: 'p0', id: 'P0', version: 0, data: '{ Name:"of a dropped table" }' }),
    block(
      9,
      { ...vehicle, id: 'V1', version: 0, data: '{ VIN:"KM8", Miles:10, Owner:"P1" }' },
      { ...vehicle, id: 'V2', version: 0, data: '{ VIN:"1N4", Miles:20 }' },
      { ...person, id: 'P1', version: 0, data: '{ Name:"Ada" }' },
    ),
  ],
  // Sorted by their names this one would come first.
  [`2022/06/08/18/${STRAND}.10-12.ion`]: [
    block(10, {
      ...vehicle,
      id: 'V1',
      version: 1,
      data: '{ VIN:"KM8", Miles:12345678901234567890, Owner:"P1", Tax:42.2000000000000000000001, Since:2011-10-26T, Tags:[a, "b"], Photo:{{AAEC}}, Sold:null, Weight:1.5e0 }',
    }),
    block(11, { ...vehicle, id: 'V2', version: 1 }),
    block(12, { ...person, id: 'P1', version: 1, data: '{ Name:"Ada Lovelace" }' }),
  ],
}

const written = {
  'Ion text': (text: string): string => text,
  'Ion binary': (text: string): Uint8Array => {
    const writer = makeBinaryWriter()
    writer.writeValues(makeReader(text))
    writer.close()
    return writer.getBytes()
  },
}

function exportOf(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(exported, name)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  writeFileSync(join(folder, `8UyXulxccYLAsbN1aon7e4.${STRAND}.completed.manifest`), '{ keys:[] }')
  return folder
}

async function loaded(
  folder: string,
  targets: readonly string[],
): Promise<{ readonly printed: string; readonly tables: Readonly<Record<string, unknown>> }> {
  const server = await spawnServer()
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' }
  const client = new DynamoDBClient({ endpoint: server.url, region: 'us-east-1', credentials })
  try {
    const printed = await installation.run(script, [folder, ...targets], {
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
    })
    const tables: Record<string, unknown> = {}
    for (const target of targets) {
      const [TableName = ''] = target.split('=')
      const { Items } = await client.send(new ScanCommand({ TableName }))
      tables[TableName] = Items!.map((item) => unmarshallItem(fromSdkItem(item)))
    }
    return { printed, tables }
  } finally {
    client.destroy()
    await server.stop()
  }
}

for (const [format, write] of Object.entries(written)) {
  test(`load-qldb-export.mjs loads the current state from ${format}: updated, deleted, of tables that remain`, async () => {
    const files = Object.fromEntries(
      Object.entries(FILES).map(([name, blocks]) => [name, write(blocks.join(''))]),
    )
    const { printed, tables } = await loaded(exportOf(format, files), ['Vehicle=VIN', 'Person='])
    assert.equal(printed, 'Vehicle: 1 items\nPerson: 1 items\n')
    const [{ Tax, ...car }] = tables['Vehicle'] as [Record<string, unknown>]
    assert.equal(String(Tax), '42.2000000000000000000001')
    assert.deepEqual(car, {
      VIN: 'KM8',
      Miles: 12345678901234567890n,
      Owner: 'P1',
      Since: '2011-10-26T',
      Tags: ['a', 'b'],
      Photo: new Uint8Array([0, 1, 2]),
      Sold: null,
      Weight: 1.5,
      documentId: 'V1',
      documentVersion: 1,
    })
    assert.deepEqual(tables['Person'], [{ Name: 'Ada Lovelace', documentId: 'P1', documentVersion: 1 }])
  })
}

test('load-qldb-export.mjs loads JSON Lines, with numbers as exact as they were written', async () => {
  const revision = (data: string): string =>
    `{"blockAddress":{"strandId":"${STRAND}","sequenceNo":0},"transactionId":"t","transactionInfo":` +
    `{"documents":{"V1":{"tableName":"Vehicle","tableId":"v1","statements":[0]}}},"revisions":[{"hash":"FR1I","data":${data},` +
    '"metadata":{"id":"V1","version":0,"txTime":"2022-06-08T18:46:46.492Z","txId":"t"}}]}\n'
  const folder = exportOf('json', {
    [`${STRAND}.0-0.json`]: revision('{"VIN":"KM8","Miles":12345678901234567890,"Tax":42.20,"Sold":null}'),
  })
  const { tables } = await loaded(folder, ['Vehicle=VIN'])
  const car = { VIN: 'KM8', Miles: 12345678901234567890n, Tax: 42.2, Sold: null }
  assert.deepEqual(tables['Vehicle'], [{ ...car, documentId: 'V1', documentVersion: 0 }])
})

test('load-qldb-export.mjs refuses an export that lacks blocks, and a field that is no key', async () => {
  const [early = '', late = ''] = Object.keys(FILES)
  const text = (name: string): string => FILES[name]!.join('')
  await assert.rejects(
    loaded(exportOf('late', { [late]: text(late) }), ['Vehicle=VIN']),
    /the export begins later than document V1/,
  )
  const gap = exportOf('gap', { [early]: text(early), [late]: FILES[late]!.slice(1).join('') })
  await assert.rejects(loaded(gap, ['Vehicle=VIN']), /block 10 is missing/)
  const whole = exportOf('twice', { [early]: FILES[early]!.join('').replace('"1N4"', '"KM8"') })
  await assert.rejects(loaded(whole, ['Vehicle=VIN']), /VIN is not unique in Vehicle/)
  await assert.rejects(loaded(whole, ['Vehicles=VIN']), /the export has no documents of Vehicles/)
})
