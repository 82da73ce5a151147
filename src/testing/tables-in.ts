// Finds the tables in a document, whatever tool it was written for: pure.
//
//   { Resources }              CloudFormation, SAM       functions evaluated
//   { service, resources }     serverless.yml            its variables first
//   [ { TableName, ... } ]     inputs of CreateTable, a list or one, or { Tables: [...] }
import { evaluate, holds, type Parameters, type Scope, type Template } from './intrinsics.js'
import { serverlessText } from './serverless.js'
import { TABLE_TYPES, type TemplateTable, templateTable } from './table-properties.js'
import { isObject, listAt, objectAt, type Place, textAt, wrong } from './template-error.js'

/** What a template needs besides its text. */
export interface TemplateOptions {
  /**
   * Values of the template's parameters, and of attributes that only a deployment knows: `{ Stage: 'test', 'Key.Arn':
   * 'arn:...' }`. For serverless.yml also variables such as `{ 'opt:stage': 'test' }`.
   */
  readonly parameters?: Parameters | undefined
  /** Environment variables, for `${env:NAME}` of serverless.yml; none by default. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Reads the files that `${file(path)}` of serverless.yml names; without it such a variable is refused. */
  readonly readDocument?: ((path: string, place: Place) => unknown) | undefined
}

type Members = Readonly<Record<string, unknown>>

/**
 * The tables of a parsed document, as inputs of CreateTable: what `readTables` does without a file.
 *
 * @throws TemplateError if the document has no table, or one that cannot be understood
 *
 * @example
 *   const [table] = tablesIn({
 *     Resources: {
 *       Orders: {
 *         Type: 'AWS::DynamoDB::Table',
 *         Properties: {
 *           BillingMode: 'PAY_PER_REQUEST',
 *           AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
 *           KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
 *         },
 *       },
 *     },
 *   })
 *   console.log(table?.create.TableName) // Orders
 */
export function tablesIn(document: unknown, options: TemplateOptions = {}): readonly TemplateTable[] {
  const tables = isObject(document) ? tablesOfObject(document, options) : plainTables(document, [])
  if (tables.length === 0) throw wrong([], 'there is no table in it')
  const ids = new Map<string, string>()
  for (const { id, create } of tables) {
    const name = create.TableName as string
    if (ids.has(name)) throw wrong([], `${ids.get(name)} and ${id} are both called ${name}`)
    ids.set(name, id)
  }
  return tables
}

function tablesOfObject(document: Members, options: TemplateOptions): readonly TemplateTable[] {
  if (isObject(document['Resources'])) return tablesOfTemplate([document], [], options, undefined)
  if ('resources' in document || 'service' in document) return serverlessTables(document, options)
  const listed = document['Tables'] ?? document['tables']
  if (listed !== undefined) return plainTables(listed, ['Tables'])
  if ('TableName' in document) return plainTables([document], [])
  throw wrong(
    [],
    'this is no template: it has neither Resources (CloudFormation, SAM) nor resources (serverless.yml), nor tables',
  )
}

function plainTables(document: unknown, place: Place): readonly TemplateTable[] {
  return listAt(place, document).map((table, at) => {
    const properties = objectAt([...place, at], table)
    const name = textAt([...place, at, 'TableName'], properties['TableName'])
    return templateTable(name, properties, [...place, name])
  })
}

function serverlessTables(document: Members, options: TemplateOptions): readonly TemplateTable[] {
  const readDocument =
    options.readDocument ??
    ((path, place) => {
      throw wrong(place, `there is no way to read ${path} here`)
    })
  const text = serverlessText({
    document,
    given: options.parameters ?? {},
    environment: options.environment ?? {},
    readDocument,
  })
  const place = ['resources']
  const resolved = (value: unknown): unknown => (typeof value === 'string' ? text(value, place) : value)
  const resources = resolved(document['resources'])
  const parts = Array.isArray(resources) ? resources.map(resolved) : [resources]
  const templates = parts
    .filter((part) => part !== null && part !== undefined)
    .map((part) => objectAt(place, part))
  return tablesOfTemplate(templates, place, options, text)
}

/** Several templates are one: each brings some of its resources, conditions and mappings. */
function tablesOfTemplate(
  templates: readonly Members[],
  place: Place,
  options: TemplateOptions,
  text: Scope['text'],
): readonly TemplateTable[] {
  const resolved = (value: unknown, where: Place): unknown =>
    typeof value === 'string' && text !== undefined ? text(value, where) : value
  const section = (name: string): Members => {
    const where = [...place, name]
    const parts = templates
      .map((template) => resolved(template[name], where))
      .filter((part) => part !== undefined)
    return Object.assign({}, ...parts.map((part) => objectAt(where, part))) as Members
  }
  const template: Template = {
    parameters: section('Parameters'),
    mappings: section('Mappings'),
    conditions: section('Conditions'),
    resources: section('Resources'),
  }
  const resourceOf = (id: string): Members => {
    const where = [...place, 'Resources', id]
    if (id.startsWith('Fn::')) throw wrong(where, 'is not understood; write out the resources that it makes')
    return objectAt(where, resolved(template.resources[id], where))
  }
  const propertiesAt = (id: string): Place => [...place, 'Resources', id, 'Properties']
  const scope: Scope = {
    template,
    given: options.parameters ?? {},
    text,
    nameOf: (id, depth) => {
      const { Type, Properties } = resourceOf(id)
      if (!TABLE_TYPES.has(String(Type))) return undefined
      const name = isObject(Properties) ? Properties['TableName'] : undefined
      const where = [...propertiesAt(id), 'TableName']
      return name === undefined ? id : textAt(where, evaluate(name, where, scope, depth + 1))
    },
  }
  const tables: TemplateTable[] = []
  for (const id of Object.keys(template.resources)) {
    const { Type, Condition, Properties = {} } = resourceOf(id)
    const shape = TABLE_TYPES.get(String(Type))
    if (shape === undefined) continue
    if (typeof Condition === 'string' && !holds(Condition, [...place, 'Resources', id], scope)) continue
    const where = propertiesAt(id)
    const wanted = Object.entries(objectAt(where, resolved(Properties, where))).filter(([key]) =>
      USED.has(key),
    )
    const properties = objectAt(where, evaluate(Object.fromEntries(wanted), where, scope))
    tables.push(templateTable(id, shape(properties, where), where))
  }
  return tables
}

/** Only these are evaluated: the others may refer to what only a deployment knows. */
const USED: ReadonlySet<string> = new Set([
  'TableName',
  'PrimaryKey',
  'AttributeDefinitions',
  'KeySchema',
  'BillingMode',
  'ProvisionedThroughput',
  'GlobalSecondaryIndexes',
  'LocalSecondaryIndexes',
  'StreamSpecification',
  'TimeToLiveSpecification',
  'TableClass',
  'DeletionProtectionEnabled',
  'Tags',
])
