// What is asked for while a restore is about to read: nothing that it needs goes, and nothing that is of no use any more is offered.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { localPlacement } from '../../src/coordinator/placement.js'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { manualClock, type ManualClock } from '../../src/runtime/manual-clock.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { type WholeFiles, wholeFilesInMemory } from '../../src/runtime/whole-files.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'
import { openStore } from '../../src/store/local-store.js'
import type { Store } from '../../src/store/store.js'
import { contentOf, DAY_MS, itemOf, refusal, START_MS, tableOf } from './support.js'

interface World {
  readonly store: Store
  readonly clock: ManualClock
  readonly errors: unknown[]
  /** From now on nobody can open a file until it is called. */
  hold(): () => void
}

async function openWorld(t: TestContext): Promise<World> {
  const clock = manualClock(START_MS)
  const runtime = { ...realRuntime(), clock }
  const { nodes, log } = await openNodesWithLog({ runtime, memory: true })
  const kept = wholeFilesInMemory()
  let gate = Promise.resolve()
  const files: WholeFiles = { ...kept, open: (name) => gate.then(() => kept.open(name)) }
  const errors: unknown[] = []
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
    onError: (error) => errors.push(error),
  })
  t.after(() => store.close())
  await store.call('CreateTable', tableOf('Orders'))
  return {
    store,
    clock,
    errors,
    hold: () => {
      let open = (): void => undefined
      gate = new Promise((resolve) => (open = resolve))
      return open
    },
  }
}

const put = ({ store }: World, value: string): Promise<unknown> =>
  store.call('PutItem', { TableName: 'Orders', Item: itemOf('a', value) })

const recovery = ({ store }: World, PointInTimeRecoveryEnabled: boolean): Promise<unknown> =>
  store.call('UpdateContinuousBackups', {
    TableName: 'Orders',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled },
  })

const restore = ({ store }: World, TargetTableName: string, RestoreDateTime?: Date): Promise<unknown> =>
  store.call('RestoreTableToPointInTime', {
    SourceTableName: 'Orders',
    TargetTableName,
    ...(RestoreDateTime === undefined ? { UseLatestRestorableTime: true } : { RestoreDateTime }),
  })

test('point in time: a restore that was accepted is carried out though recovery is disabled before it reads', async (t) => {
  const world = await openWorld(t)
  await recovery(world, true)
  await put(world, 'one')
  await world.store.idle()
  await restore(world, 'Restored')
  await recovery(world, false)
  await put(world, 'two')
  await world.store.idle()
  assert.deepEqual(await contentOf(world, 'Restored'), { a: 'one' })
  assert.deepEqual(world.errors, [])
})

test('point in time: what was written while recovery was disabled cannot be restored, whatever is still read of before', async (t) => {
  const world = await openWorld(t)
  const { store, clock } = world
  await recovery(world, true)
  await put(world, 'one')
  await store.idle()
  const go = world.hold()
  await restore(world, 'Restored')
  clock.advance(1000)
  await recovery(world, false)
  await put(world, 'two')
  clock.advance(1000)
  const between = new Date(clock.nowMicros() / 1000)
  clock.advance(1000)
  await recovery(world, true)
  const { ContinuousBackupsDescription: told } = await store.call('DescribeContinuousBackups', {
    TableName: 'Orders',
  })
  const { EarliestRestorableDateTime: earliest } = told?.PointInTimeRecoveryDescription ?? {}
  assert.ok((earliest?.getTime() ?? 0) > between.getTime(), String(earliest))
  assert.equal(await refusal(restore(world, 'Between', between)), 'InvalidRestoreTimeException')
  await put(world, 'three')
  await restore(world, 'Now')
  go()
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Restored'), { a: 'one' })
  assert.deepEqual(await contentOf(world, 'Now'), { a: 'three' })
  assert.deepEqual(world.errors, [])
})

test('backups: one that is about to be restored is not deleted', async (t) => {
  const world = await openWorld(t)
  const { store } = world
  await put(world, 'one')
  const { BackupDetails } = await store.call('CreateBackup', { TableName: 'Orders', BackupName: 'first' })
  const BackupArn = BackupDetails?.BackupArn
  await store.idle()
  const go = world.hold()
  const restored = store.call('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Restored' })
  assert.equal(await refusal(store.call('DeleteBackup', { BackupArn })), 'BackupInUseException')
  await restored
  assert.equal(await refusal(store.call('DeleteBackup', { BackupArn })), 'BackupInUseException')
  go()
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Restored'), { a: 'one' })
  await store.call('DeleteBackup', { BackupArn })
  // A name that is taken: the backup is not held by a restore that never began.
  const again = await store.call('CreateBackup', { TableName: 'Orders', BackupName: 'second' })
  await store.idle()
  const other = { BackupArn: again.BackupDetails?.BackupArn }
  assert.equal(
    await refusal(store.call('RestoreTableFromBackup', { ...other, TargetTableName: 'Restored' })),
    'TableAlreadyExistsException',
  )
  await store.call('DeleteBackup', other)
})

test('point in time: the log lets go of nothing before it was said what is needed, however long a start takes', async () => {
  const clock = manualClock(START_MS)
  const { nodes, log } = await openNodesWithLog({ runtime: { ...realRuntime(), clock }, memory: true })
  await log.begin()
  const [node] = nodes
  const table: TableShape = {
    name: 'Orders',
    space: spaceId(1),
    key: { partition: { name: 'id', type: 'S' } },
    indexes: [],
    logged: { old: false, new: true },
  }
  const item = { id: { S: 'a' } }
  await node!.setShape(table)
  await node!.write({
    table,
    key: itemKey(table.key, item),
    keyAttributes: item,
    mutation: { kind: 'put', item },
  })
  await log.settled()
  clock.advance(2 * DAY_MS)
  await log.trim()
  assert.deepEqual([log.first, log.last], [1, 1])
  log.holdFrom(undefined)
  await log.trim()
  assert.deepEqual([log.first, log.last], [2, 1])
  await node!.close()
})
