import type { ItemRef } from '../../ledger/ledger.js'
import { DynamoError } from '../../model/errors.js'
import type { Timestamp } from '../../model/brand.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { Item } from '../../model/value.js'
import type { ItemRecord } from '../../storage/storage-node.js'
import {
  EXTENSION_PREFIX,
  type Input,
  type Operation,
  type RequestScope,
  type RouterContext,
} from '../context.js'
import { keyOf } from '../keys.js'
import { furtherMembers, joinReply } from '../reply.js'
import type { Reply } from '../router.js'
import { tableNameShape } from '../shape.js'
import { tableNameOf } from '../table-name.js'
import {
  ageMember,
  forget,
  openingOf,
  readPlace,
  readsAtOneSnapshot,
  refusedSnapshot,
  refuseLost,
  releaseOf,
  shownId,
  type Unit,
  unitConflict,
  unitLimits,
  unitMembers,
  unitOf,
  type WireUnit,
} from './unit.js'

export const unitGetItems: Operation = {
  name: 'UnitGetItems',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: {
      ...unitMembers,
      Gets: {
        kind: 'list',
        required: true,
        lengthMin: 1,
        lengthMax: unitLimits.getsMax,
        member: {
          kind: 'struct',
          members: {
            TableName: tableNameShape,
            Key: { kind: 'map', member: { kind: 'any' }, required: true },
            Lock: { kind: 'boolean' },
          },
        },
      },
    },
  },

  async run(context, input, scope) {
    const unit = unitOf(context, scope, input)
    const gets = bindGets(context, input['Gets'] as readonly Input[], scope)
    if (readsAtOneSnapshot(unit)) refuseLost(unit)
    releaseOf(context, scope, input)
    const { records, readTimestamp, clock } = await readItems(context, unit, gets)
    const ticket =
      readTimestamp !== undefined && unit.ticket === undefined
        ? context.tickets.giveSnapshot(scope.principal, readTimestamp)
        : unit.ticket
    const count = fittingCount(records)
    const left = (input['Gets'] as readonly Input[]).slice(count)
    return answer(records.slice(0, count), {
      UnprocessedGets: left.length > 0 ? left : undefined,
      ReadTimestamp: readsAtOneSnapshot(unit) ? ticket : undefined,
      Clock: clock,
      ...ageMember(unit),
    })
  },
}

/** How many of them, from the first on, make an answer that is not too large; one always does. */
export function fittingCount(
  records: readonly (Pick<ItemRecord, 'itemBytes' | 'json'> | undefined)[],
): number {
  let itemBytes = 0
  let jsonBytes = 0
  const beyond = records.findIndex((record, at) => {
    itemBytes += record?.itemBytes ?? 0
    jsonBytes += record?.json.length ?? 0
    return at > 0 && Math.max(itemBytes, jsonBytes) > limits.batchGetBytesMax
  })
  return beyond === -1 ? records.length : beyond
}

export interface ItemsRead {
  /** In the order of the gets; undefined where there is none. */
  readonly records: readonly (ItemRecord | undefined)[]
  /** Absent at levels that read at no single snapshot. */
  readonly readTimestamp: Timestamp | undefined
  readonly clock: number
}

/** Locks what is to be locked, and reads where the unit reads. Throws DynamoError. */
export async function readItems(
  context: RouterContext,
  unit: Unit | WireUnit,
  gets: readonly BoundGet[],
): Promise<ItemsRead> {
  // Before the snapshot is taken: what is locked is then read as it stays.
  if (gets.some(({ locked }) => locked)) await lock(context, unit, gets)
  const open = openingOf(unit)
  const { snapshots } = context.coordinator
  const items = gets.map(({ ref }) => ref)
  const clock = context.runtime.clock.nowMicros()
  if (readsAtOneSnapshot(unit) && unit.readTimestamp === undefined) {
    const { at, answer: outcome } = await snapshots.readNew({ items, ...open })
    if (outcome.outcome === 'read') return { records: outcome.records, readTimestamp: at, clock }
    // Nobody knows of it.
    forget(context, at)
    throw refusedSnapshot(outcome)
  }
  const place = await readPlace(context, unit, open)
  try {
    const outcome = await snapshots.read({ at: place.at, items })
    if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
    return { records: outcome.records, readTimestamp: place.readTimestamp, clock }
  } finally {
    place.done()
  }
}

export interface BoundGet {
  readonly tableName: string
  readonly keyAttributes: Item
  readonly ref: ItemRef
  readonly locked: boolean
}

function bindGets(
  context: RouterContext,
  elements: readonly Input[],
  scope: RequestScope,
): readonly BoundGet[] {
  return elements.map((get) => {
    const tableName = tableNameOf(get['TableName'])
    scope.authorise(tableName)
    if (get['Lock'] === true) scope.authorise(tableName, 'Lock')
    const keyAttributes = parseItem(get['Key'])
    const { shape } = context.catalog.table(tableName)
    const ref = { space: shape.space, key: keyOf(shape, keyAttributes) }
    return { tableName, keyAttributes, ref, locked: get['Lock'] === true }
  })
}

async function lock(context: RouterContext, unit: Unit | WireUnit, gets: readonly BoundGet[]): Promise<void> {
  const items = gets.filter(({ locked }) => locked).map(({ ref }) => ref)
  const now = context.runtime.clock.nowMicros()
  const began = unit.began ?? (Math.floor(now) as Timestamp)
  const until = (now + unit.timeoutMs * 1000) as Timestamp
  const reply = await context.coordinator.snapshots.lock({
    unit: { id: unit.id, began, ...(unit.key !== undefined && { key: unit.key }) },
    items,
    until,
  })
  if (reply.verdict === 'locked') return
  if (reply.verdict === 'too-many') {
    throw new DynamoError(
      'ThrottlingException',
      'Too many items are locked by units of work; try again later',
    )
  }
  const blamed = gets.find(
    ({ ref }) => ref.space === reply.item.space && ref.key.bytes === reply.item.key.bytes,
  )
  const conflict = {
    ...(blamed && { TableName: blamed.tableName, Key: blamed.keyAttributes }),
    TransactionId: shownId(reply.holder),
  }
  // With its age: the next attempt is as old as this one, and gets through in the end.
  throw unitConflict('An item that was to be locked is locked by an older unit of work', [conflict], {
    Began: 'age' in unit ? unit.age() : began,
  })
}

/** One element for each, in order; an item that is not there leaves an empty one. */
function answer(records: readonly (ItemRecord | undefined)[], members: object): Reply {
  const pieces: (string | Uint8Array)[] = []
  let text = '{"Responses":['
  for (const [at, record] of records.entries()) {
    const comma = at > 0 ? ',' : ''
    if (record === undefined) {
      text += `${comma}{}`
    } else {
      pieces.push(`${text}${comma}{"Item":`, record.json)
      text = `,"Version":${record.timestamp}}`
    }
  }
  pieces.push(`${text}]${furtherMembers(members as Readonly<Record<string, unknown>>)}}`)
  return joinReply(pieces)
}
