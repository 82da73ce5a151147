// A restore of one table reads nothing of others: neither their bases, nor their records in the log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogRead } from '../../src/commit-log/commit-log.js'
import { localPlacement } from '../../src/coordinator/placement.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { type WholeFiles, wholeFilesInMemory } from '../../src/runtime/whole-files.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'
import { openStore } from '../../src/store/local-store.js'
import { contentOf, itemOf, tableOf } from './support.js'

test('point in time: a restore of one table of eleven opens its own base, and asks the log for its own records', async (t) => {
  const runtime = realRuntime()
  const { nodes, log } = await openNodesWithLog({ runtime, memory: true })
  const reads: LogRead[] = []
  const read = log.read.bind(log)
  log.read = (request) => {
    reads.push(request)
    return read(request)
  }
  const kept = wholeFilesInMemory()
  const opened: string[] = []
  const files: WholeFiles = {
    ...kept,
    open: (name) => {
      opened.push(name)
      return kept.open(name)
    },
  }
  const store = await openStore({
    runtime,
    clients: clientRuntime(),
    nodes,
    log,
    placement: localPlacement(1),
    rules: allRules,
    sharedJournal: false,
    isSoleOwner: true,
    backupFiles: () => ({ backups: files, bases: files }),
    onError: (error) => assert.fail(String(error)),
  })
  t.after(() => store.close())
  const names = Array.from({ length: 11 }, (_, n) => `Table-${n}`)
  for (const TableName of names) {
    await store.call('CreateTable', tableOf(TableName))
    await store.call('UpdateContinuousBackups', {
      TableName,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    })
    await store.call('PutItem', { TableName, Item: itemOf('a', TableName) })
  }
  await store.idle()
  reads.length = 0
  opened.length = 0
  await store.call('RestoreTableToPointInTime', {
    SourceTableName: 'Table-7',
    TargetTableName: 'Restored',
    UseLatestRestorableTime: true,
  })
  await store.idle()
  assert.deepEqual(await contentOf({ store }, 'Restored'), { a: 'Table-7' })
  assert.equal(opened.length, 1)
  const { Table } = await store.call('DescribeTable', { TableName: 'Table-7' })
  assert.match(opened[0] ?? '', new RegExp(`^base-${Table?.TableId}-`))
  assert.ok(reads.length > 0)
  const spaces = new Set(reads.flatMap((request) => [...(request.spaces ?? ['all'])]))
  assert.equal(spaces.size, 1)
  assert.ok(!spaces.has('all'))
})
