// UnitGetItems: items at the snapshot of a unit of work, as they come over the wire and go back.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import { readsAtOneSnapshot } from '../../model/isolation.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import { type Input, type Operation, type RequestScope, type RouterContext } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import type { Reply } from '../request/router.js'
import { tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { type BoundGet, readItems } from './work.js'
import {
  ageMember,
  refuseLost,
  releaseOf,
  snapshotPass,
  unitRequestLimits,
  unitMembers,
  unitOf,
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
        lengthMax: unitRequestLimits.getsMax,
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
    const isRepeatable = readsAtOneSnapshot(unit.isolation)
    if (isRepeatable) refuseLost(unit)
    releaseOf(context, scope, input)
    const { records, readTimestamp, clock } = await readItems(context, unit, gets, {
      bytesMax: limits.batchGetBytesMax,
      inTurn: (read) =>
        gets.length <= limits.readAtOnceMax ? read() : context.largeReads.run(scope.principal.id, read),
    })
    const pass = snapshotPass(context, scope, unit, readTimestamp)
    const count = fittingCount(records)
    const left = (input['Gets'] as readonly Input[]).slice(count)
    return answer(records.slice(0, count), {
      UnprocessedGets: left.length > 0 ? left : undefined,
      ReadTimestamp: isRepeatable ? pass : undefined,
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
    const ref = { space: shape.space, key: checkedKeyOf(shape, keyAttributes) }
    return { tableName, keyAttributes, ref, locked: get['Lock'] === true }
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
