// Which step of the protocol a request is, for counting where processes died and what was lost.
import { INTENT } from '../../src/toolkit/intents/protocol/records.js'
import { RECORDS } from '../../src/toolkit/intents/intents-protocol.js'
import type { Item } from '../../src/model/value.js'
import { isGuardRecord } from '../../src/toolkit/intents/items/guards.js'
import type { Input } from './sim-store.js'

export function protocolStepOf(operation: string, input: Input): string {
  const update = (input['UpdateExpression'] as string | undefined) ?? ''
  const condition = (input['ConditionExpression'] as string | undefined) ?? ''
  const key = input['Key'] as Item | undefined
  if (input['TableName'] === RECORDS && !(key !== undefined && isGuardRecord(key))) {
    if (operation === 'GetItem') return 'read record'
    if (operation === 'PutItem') return condition === '' ? 'spill' : 'begin'
    if (operation === 'DeleteItem') return 'forget'
    if (operation !== 'UpdateItem') return `${operation} records`
    if (update.includes(':committed')) return 'decide'
    if (update.includes(':cancelled')) return 'cancel'
    if (update.includes('#beat')) return 'beat'
    return update.includes('#done') && !update.includes('#turn') ? 'done' : 'turn'
  }
  if (operation === 'UpdateItem' && update.startsWith('SET #i = :intent')) return 'place'
  const names = Object.values((input['ExpressionAttributeNames'] as Record<string, string> | undefined) ?? {})
  if (condition.startsWith('#i.#id') && names.includes(INTENT)) {
    if (operation === 'DeleteItem') return 'settle by delete'
    return update.startsWith('REMOVE') ? 'drop' : 'apply'
  }
  return operation
}
