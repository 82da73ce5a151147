// UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights: whether they are enabled is kept and
// told. There are no rules behind it: no key is counted, and the list of rules is empty.
import { DynamoError } from '../../model/errors.js'
import type { RequestScope } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, indexNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from '../tables/table-operation.js'
import type { Insights, TableRecord } from '../tables/record/table-record.js'

interface InsightsInput {
  readonly TableName: string
  readonly IndexName?: string
}

const { required: _required, missing: _missing, ...optionalTableName } = administeredTableNameShape
const { required: _indexRequired, ...optionalIndexName } = indexNameShape
const MODES = ['ACCESSED_AND_THROTTLED_KEYS', 'THROTTLED_KEYS']
const PAGE_MAX = 100
/** The insights of the table itself; the others are of its indexes, whose names are longer. */
const TABLE = ''

export const updateContributorInsights = tableOperation<
  InsightsInput & {
    readonly ContributorInsightsAction: 'ENABLE' | 'DISABLE'
    readonly ContributorInsightsMode?: string
  }
>({
  name: 'UpdateContributorInsights',
  shape: {
    kind: 'struct',
    members: {
      TableName: administeredTableNameShape,
      IndexName: optionalIndexName,
      ContributorInsightsAction: { kind: 'string', required: true, values: ['ENABLE', 'DISABLE'] },
      ContributorInsightsMode: { kind: 'string', values: MODES },
    },
  },

  async run(catalog, input, scope, { runtime }) {
    const name = allowedTable(input, scope)
    const part = input.IndexName ?? TABLE
    const mode = await catalog.change((draft) => {
      const record = withIndex(draft.record(name), input.IndexName)
      const { [part]: there, ...others } = Object.fromEntries(enabledParts(record))
      if (input.ContributorInsightsAction === 'DISABLE') {
        if (there !== undefined) draft.put({ ...record, contributorInsights: others })
        return there?.mode
      }
      const mode = input.ContributorInsightsMode ?? there?.mode ?? MODES[0]!
      const enabled = { mode, atMicros: runtime.clock.nowMicros() }
      if (there?.mode !== mode) draft.put({ ...record, contributorInsights: { ...others, [part]: enabled } })
      return mode
    })
    return jsonReply({
      TableName: name,
      IndexName: input.IndexName,
      ContributorInsightsStatus: input.ContributorInsightsAction === 'ENABLE' ? 'ENABLING' : 'DISABLING',
      ContributorInsightsMode: mode,
    })
  },
})

export const describeContributorInsights = tableOperation<InsightsInput>({
  name: 'DescribeContributorInsights',
  shape: {
    kind: 'struct',
    members: { TableName: administeredTableNameShape, IndexName: optionalIndexName },
  },

  run(catalog, input, scope) {
    const name = allowedTable(input, scope)
    const record = withIndex(catalog.record(name), input.IndexName)
    const enabled = new Map(enabledParts(record)).get(input.IndexName ?? TABLE)
    return jsonReply({
      TableName: name,
      IndexName: input.IndexName,
      ContributorInsightsRuleList: enabled && [],
      ContributorInsightsStatus: enabled === undefined ? 'DISABLED' : 'ENABLED',
      LastUpdateDateTime: enabled && Math.floor(enabled.atMicros / 1000) / 1000,
      ContributorInsightsMode: enabled?.mode,
    })
  },
})

export const listContributorInsights = tableOperation<{
  readonly TableName?: string
  readonly NextToken?: string
  readonly MaxResults?: number
}>({
  name: 'ListContributorInsights',
  shape: {
    kind: 'struct',
    members: {
      TableName: optionalTableName,
      NextToken: { kind: 'string' },
      MaxResults: { kind: 'integer', valueMax: PAGE_MAX },
    },
  },

  run(catalog, input, scope) {
    const only = input.TableName === undefined ? undefined : tableNameOf(input.TableName)
    const pageMax = Math.max(1, input.MaxResults ?? PAGE_MAX)
    const [afterTable = '', afterPart = TABLE] = input.NextToken?.split('/', 2) ?? []
    const page: object[] = []
    let last: string | undefined
    for (const name of only === undefined ? catalog.names() : [only]) {
      // By name and not by place: what the page before ended with may be gone by now.
      if (name < afterTable || !scope.allows(name, 'listed')) continue
      for (const [part, { mode }] of enabledParts(catalog.find(name))) {
        if (name === afterTable && part <= afterPart) continue
        if (page.length === pageMax) return jsonReply({ ContributorInsightsSummaries: page, NextToken: last })
        page.push({
          TableName: name,
          ...(part !== TABLE && { IndexName: part }),
          ContributorInsightsStatus: 'ENABLED',
          ContributorInsightsMode: mode,
        })
        last = `${name}/${part}`
      }
    }
    return jsonReply({ ContributorInsightsSummaries: page })
  },
})

function allowedTable({ TableName }: InsightsInput, scope: RequestScope): string {
  const name = tableNameOf(TableName)
  scope.authorise(name)
  return name
}

/** In the order of their names; those of indexes that are gone are left out. */
const enabledParts = (record: TableRecord | undefined): [string, Insights][] =>
  Object.entries(record?.contributorInsights ?? {})
    .filter(([part]) => hasIndex(record!, part))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

const hasIndex = ({ indexes }: TableRecord, part: string): boolean =>
  part === TABLE || indexes.some((index) => index.name === part)

function withIndex(record: TableRecord, index: string | undefined): TableRecord {
  if (hasIndex(record, index ?? TABLE)) return record
  throw new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: Index: ${index} of table: ${record.name} not found`,
  )
}
