// Requests with a value that is nested very deep. The service reads those of PutItem, UpdateItem, DeleteItem and transactions in an
// older way, and answers in older words. Asked only once a request has been refused.

/** Levels of maps and lists around a value, up to which a request is read in the newer way. */
const LEVELS_MAX = 62
/** The same of an action of a transaction, which is itself nested in its request. */
const LEVELS_MAX_OF_ACTION = 60

type Json = Readonly<Record<string, unknown>>

/** Whether a value of a single-item write is nested so deep. */
export const isReadInOlderWay = (input: Json): boolean => hasValueDeeperThan(LEVELS_MAX, input)

/** The same of an action of a transaction. */
export const isActionReadInOlderWay = (input: Json): boolean =>
  hasValueDeeperThan(LEVELS_MAX_OF_ACTION, input)

function hasValueDeeperThan(levels: number, input: Json): boolean {
  for (const name of ['Item', 'Key', 'ExpressionAttributeValues'])
    if (membersOf(input[name]).some((value) => isDeeper(value, levels))) return true
  for (const name of ['Expected', 'AttributeUpdates'])
    for (const member of membersOf(input[name])) {
      const { Value, AttributeValueList } = member as Json
      const values = [Value, ...(Array.isArray(AttributeValueList) ? (AttributeValueList as unknown[]) : [])]
      if (values.some((value) => isDeeper(value, levels))) return true
    }
  return false
}

const membersOf = (json: unknown): readonly object[] =>
  typeof json === 'object' && json !== null
    ? Object.values(json).filter((value): value is object => typeof value === 'object' && value !== null)
    : []

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { M, L } = value as Json
  const inner = M ?? L
  if (inner === undefined || inner === null) return false
  return levels === 0 || membersOf(inner).some((element) => isDeeper(element, levels - 1))
}
