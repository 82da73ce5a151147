// What CloudFormation, SAM and CreateTable call a table, as the input of CreateTable.
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { isObject, listAt, objectAt, type Place, shown, textAt, wrong } from './template-error.js'

/** One table of a template. */
export interface TemplateTable {
  /** Its logical id in the template; the name of the table if it has none. */
  readonly id: string
  /** The input of CreateTable. */
  readonly create: CreateTableCommandInput
  /** The time to live that the template asks for; absent if it asks for none. */
  readonly timeToLive?: { readonly AttributeName: string; readonly Enabled: boolean }
}

type Properties = Readonly<Record<string, unknown>>

/** Whether that type of a resource is a table, and how its properties become those of a table. */
export const TABLE_TYPES: ReadonlyMap<string, (properties: Properties, place: Place) => Properties> = new Map(
  [
    ['AWS::DynamoDB::Table', (properties: Properties) => properties],
    // Replicas and the scaling of capacity are the deployment's.
    [
      'AWS::DynamoDB::GlobalTable',
      (properties: Properties) => ({ ...properties, BillingMode: 'PAY_PER_REQUEST' }),
    ],
    ['AWS::Serverless::SimpleTable', simpleTable],
  ],
)

/** From properties that hold no functions any more. */
export function templateTable(id: string, given: Properties, place: Place): TemplateTable {
  const name = given['TableName'] === undefined ? id : textAt([...place, 'TableName'], given['TableName'])
  for (const required of ['KeySchema', 'AttributeDefinitions'])
    if (given[required] === undefined) throw wrong(place, `the table ${name} has no ${required}`)
  const isOnDemand = given['BillingMode'] === 'PAY_PER_REQUEST'
  const create: Record<string, unknown> = { TableName: name }
  for (const key of COPIED) if (given[key] !== undefined) create[key] = given[key]
  if (!isOnDemand && given['ProvisionedThroughput'] !== undefined)
    create['ProvisionedThroughput'] = throughput(given['ProvisionedThroughput'], [
      ...place,
      'ProvisionedThroughput',
    ])
  for (const key of ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes'] as const) {
    if (given[key] === undefined) continue
    const indexes = listAt([...place, key], given[key])
    // A list that a condition has left empty is as good as none.
    if (indexes.length > 0)
      create[key] = indexes.map((index, at) => indexInput(index, [...place, key, at], isOnDemand))
  }
  if (given['DeletionProtectionEnabled'] !== undefined)
    create['DeletionProtectionEnabled'] = flag(given['DeletionProtectionEnabled'], [
      ...place,
      'DeletionProtectionEnabled',
    ])
  const stream = streamOf(given['StreamSpecification'])
  if (stream !== undefined) create['StreamSpecification'] = stream
  const timeToLive = timeToLiveOf(given['TimeToLiveSpecification'], [...place, 'TimeToLiveSpecification'])
  return {
    id,
    create: create as unknown as CreateTableCommandInput,
    ...(timeToLive !== undefined && { timeToLive }),
  }
}

/** Encryption, backups, insights and the like say nothing of what a table holds; KMS keys and roles exist only deployed. */
const COPIED = ['AttributeDefinitions', 'KeySchema', 'BillingMode', 'TableClass', 'Tags'] as const

function indexInput(given: unknown, place: Place, isOnDemand: boolean): Properties {
  const { IndexName, KeySchema, Projection, ProvisionedThroughput } = objectAt(place, given)
  return {
    IndexName,
    KeySchema,
    Projection,
    ...(!isOnDemand &&
      ProvisionedThroughput !== undefined && {
        ProvisionedThroughput: throughput(ProvisionedThroughput, [...place, 'ProvisionedThroughput']),
      }),
  }
}

/** Templates often have numbers as texts. */
function throughput(given: unknown, place: Place): Properties {
  const { ReadCapacityUnits, WriteCapacityUnits } = objectAt(place, given)
  return {
    ReadCapacityUnits: count(ReadCapacityUnits, [...place, 'ReadCapacityUnits']),
    WriteCapacityUnits: count(WriteCapacityUnits, [...place, 'WriteCapacityUnits']),
  }
}

function count(given: unknown, place: Place): number {
  const text = String(given)
  if (!/^\d{1,15}$/.test(text)) throw wrong(place, `must be a whole number, not ${shown(given)}`)
  return Number(text)
}

function flag(given: unknown, place: Place): boolean {
  if (given === true || given === 'true') return true
  if (given === false || given === 'false') return false
  throw wrong(place, `must be true or false, not ${shown(given)}`)
}

/** In a template a stream is there if it is specified; in CreateTable it must be enabled. */
function streamOf(given: unknown): Properties | undefined {
  if (!isObject(given) || given['StreamEnabled'] === false) return undefined
  return { StreamEnabled: true, StreamViewType: given['StreamViewType'] }
}

function timeToLiveOf(given: unknown, place: Place): TemplateTable['timeToLive'] {
  if (given === undefined) return undefined
  const { AttributeName, Enabled } = objectAt(place, given)
  if (!flag(Enabled, [...place, 'Enabled'])) return undefined
  return { AttributeName: textAt([...place, 'AttributeName'], AttributeName), Enabled: true }
}

const KEY_TYPES: Readonly<Record<string, string>> = { String: 'S', Number: 'N', Binary: 'B' }

/** SAM's table with a partition key alone: `id`, a text, unless it says otherwise. */
function simpleTable(properties: Properties, place: Place): Properties {
  const { TableName, PrimaryKey = {}, ProvisionedThroughput, Tags } = properties
  const { Name = 'id', Type = 'String' } = objectAt([...place, 'PrimaryKey'], PrimaryKey)
  const type = KEY_TYPES[textAt([...place, 'PrimaryKey', 'Type'], Type)]
  if (type === undefined)
    throw wrong([...place, 'PrimaryKey', 'Type'], `must be String, Number or Binary, not ${shown(Type)}`)
  return {
    TableName,
    AttributeDefinitions: [{ AttributeName: Name, AttributeType: type }],
    KeySchema: [{ AttributeName: Name, KeyType: 'HASH' }],
    ...(ProvisionedThroughput === undefined ? { BillingMode: 'PAY_PER_REQUEST' } : { ProvisionedThroughput }),
    ...(isObject(Tags) && { Tags: Object.entries(Tags).map(([Key, Value]) => ({ Key, Value })) }),
  }
}
