// kill -9 in the middle of an import and of an export: nothing half is in use, and the request repeated succeeds.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { call, killNow, start } from '../kill/killed-server.js'
import { sized } from '../support/sizes.js'
import { testFolder } from '../support/folder.js'
import { importInput, keysIn, putObject } from './support.js'

const ITEMS = sized(16_000, 400_000)

// eslint-disable-next-line typescript/no-explicit-any -- answers are compared member by member
type Answer = any

interface Place {
  readonly root: string
  readonly folder: string
  readonly data: string
}

function place(): Place {
  const home = testFolder()
  const root = join(home, 'buckets')
  const folder = join(root, 'shop')
  mkdirSync(folder, { recursive: true })
  const line = (at: number): string => `{"Item":{"p":{"S":"key-${at}"},"text":{"S":"${'x'.repeat(40)}"}}}\n`
  for (let file = 0; file < 4; file++)
    putObject(
      folder,
      `in/${file}.json`,
      Array.from({ length: ITEMS / 4 }, (_, at) => line((file * ITEMS) / 4 + at)).join(''),
    )
  return { root, folder, data: join(home, 'data') }
}

const serve = ({ data, root }: Place, nodes: number) => start(data, nodes, ['--buckets', root])

/** Without an end of its own: how often one may ask says nothing about how long it takes. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(2)
}

for (const [nodes, share] of [
  [1, 0],
  [2, 0.4],
] as const)
  test(`transfer: an import that is killed after ${share * 100} % on ${nodes} nodes leaves no table, and can be repeated`, async () => {
    const where = place()
    const server = await serve(where, nodes)
    const request = { ...importInput('Things', { prefix: 'in/' }), ClientToken: 'token-1' }
    const begun = (await call(server.url, 'ImportTable', request)) as Answer
    const { ImportArn } = begun.ImportTableDescription
    await until(async () => {
      const { Table } = (await call(server.url, 'DescribeTable', { TableName: 'Things' })) as Answer
      return Table.ItemCount >= share * ITEMS
    })
    await killNow(server.child)
    const again = await serve(where, nodes)
    try {
      await assert.rejects(
        call(again.url, 'DescribeTable', { TableName: 'Things' }),
        /ResourceNotFoundException/,
      )
      const failed = (await call(again.url, 'DescribeImport', { ImportArn })) as Answer
      assert.equal(failed.ImportTableDescription.ImportStatus, 'FAILED')
      assert.match(failed.ImportTableDescription.FailureMessage, /was cut off/)
      const repeated = (await call(again.url, 'ImportTable', request)) as Answer
      assert.notEqual(repeated.ImportTableDescription.ImportArn, ImportArn)
      let done: Answer
      await until(async () => {
        const answer = (await call(again.url, 'DescribeImport', {
          ImportArn: repeated.ImportTableDescription.ImportArn,
        })) as Answer
        done = answer.ImportTableDescription
        return done.ImportStatus !== 'IN_PROGRESS'
      })
      assert.deepEqual([done.ImportStatus, done.ImportedItemCount], ['COMPLETED', ITEMS])
      const { Table } = (await call(again.url, 'DescribeTable', { TableName: 'Things' })) as Answer
      assert.deepEqual([Table.TableStatus, Table.ItemCount], ['ACTIVE', ITEMS])
    } finally {
      await killNow(again.child)
    }
    // What was acknowledged as complete is there after a kill, too.
    const last = await serve(where, nodes)
    const { Table } = (await call(last.url, 'DescribeTable', { TableName: 'Things' })) as Answer
    assert.deepEqual([Table.TableStatus, Table.ItemCount], ['ACTIVE', ITEMS])
    await killNow(last.child)
  })

test('transfer: an export that is killed leaves no manifest and nothing to be taken for one, and can be repeated', async () => {
  const where = place()
  const server = await serve(where, 1)
  await call(server.url, 'ImportTable', {
    ...importInput('Things', { prefix: 'in/' }),
    ClientToken: 'token-1',
  })
  let TableArn = ''
  await until(async () => {
    const { Table } = (await call(server.url, 'DescribeTable', { TableName: 'Things' })) as Answer
    TableArn = Table.TableArn
    return Table.TableStatus === 'ACTIVE'
  })
  await enablePointInTime(server.url)
  const request = { TableArn, S3Bucket: 'shop' }
  const begun = (await call(server.url, 'ExportTableToPointInTime', request)) as Answer
  await until(async () => {
    await call(server.url, 'ListTables', {})
    return keysIn(where.folder).some((key) => key.includes('AWSDynamoDB/'))
  })
  await killNow(server.child)
  const again = await serve(where, 1)
  try {
    const { ExportArn } = begun.ExportDescription
    const ended = ((await call(again.url, 'DescribeExport', { ExportArn })) as Answer).ExportDescription
    if (ended.ExportStatus === 'FAILED')
      assert.deepEqual(
        keysIn(where.folder).filter((key) => key.includes('manifest')),
        [],
      )
    const repeated = (await call(again.url, 'ExportTableToPointInTime', request)) as Answer
    let done: Answer
    await until(async () => {
      const answer = (await call(again.url, 'DescribeExport', {
        ExportArn: repeated.ExportDescription.ExportArn,
      })) as Answer
      done = answer.ExportDescription
      return done.ExportStatus !== 'IN_PROGRESS'
    })
    assert.deepEqual([done.ExportStatus, done.ItemCount], ['COMPLETED', ITEMS])
  } finally {
    await killNow(again.child)
  }
})

async function enablePointInTime(url: string): Promise<void> {
  await call(url, 'UpdateContinuousBackups', {
    TableName: 'Things',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  })
}
