// PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy: a policy is kept as text, and told again.
//
// Nothing is granted or refused by it. Where keys are in use that would be a promise which is not kept: there it is refused.
import { DynamoError } from '../../model/errors.js'
import type { RequestScope } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { streamArn, streamOfArn, tableArn, tableNameOfArn } from '../shapes/table-name.js'
import type { StringShape } from '../shapes/shape.js'
import type { CatalogDraft } from '../tables/catalog/catalog-draft.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { checkedPolicy, refusePolicyWithKeys, TABLE_POLICY } from '../tables/table-policies.js'
import type { ResourcePolicy, TableRecord } from '../tables/record/table-record.js'
import { tableOperation } from '../tables/table-operation.js'

interface PolicyInput {
  readonly ResourceArn: string
  readonly ExpectedRevisionId?: string
}

const arnShape: StringShape = { kind: 'string', required: true, lengthMin: 1, lengthMax: 1283 }
const revisionShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 255 }
/** What a caller expects who expects that there is none. */
const NO_POLICY = 'NO_POLICY'

export const putResourcePolicy = tableOperation<PolicyInput & { readonly Policy: string }>({
  name: 'PutResourcePolicy',
  shape: {
    kind: 'struct',
    members: {
      ResourceArn: arnShape,
      Policy: { kind: 'string', required: true },
      ExpectedRevisionId: revisionShape,
      ConfirmRemoveSelfResourceAccess: { kind: 'boolean' },
    },
  },

  async run(catalog, input, scope, { runtime }) {
    const resource = resourceOf(input.ResourceArn, scope)
    refusePolicyWithKeys(scope.principal)
    const text = checkedPolicy(input.Policy)
    const revision = await catalog.change((draft) => {
      const record = recordOf(draft, resource)
      const there = record.resourcePolicies?.[resource.part]
      refuseOtherRevision(resource, there, input.ExpectedRevisionId)
      // The same once more is the same revision.
      if (there?.text === text) return there.revision
      const policy = { text, revision: String(runtime.clock.nowMicros()) }
      const kept = Object.entries(record.resourcePolicies ?? {}).filter(([part]) => isThere(record, part))
      draft.put({ ...record, resourcePolicies: { ...Object.fromEntries(kept), [resource.part]: policy } })
      return policy.revision
    })
    return jsonReply({ RevisionId: revision })
  },
})

export const getResourcePolicy = tableOperation<PolicyInput>({
  name: 'GetResourcePolicy',
  shape: { kind: 'struct', members: { ResourceArn: arnShape } },

  run(catalog, input, scope) {
    const resource = resourceOf(input.ResourceArn, scope)
    const policy = recordOf(catalog, resource).resourcePolicies?.[resource.part]
    if (policy === undefined) throw noPolicy(resource.arn)
    return jsonReply({ Policy: policy.text, RevisionId: policy.revision })
  },
})

export const deleteResourcePolicy = tableOperation<PolicyInput>({
  name: 'DeleteResourcePolicy',
  shape: { kind: 'struct', members: { ResourceArn: arnShape, ExpectedRevisionId: revisionShape } },

  async run(catalog, input, scope) {
    const resource = resourceOf(input.ResourceArn, scope)
    const removed = await catalog.change((draft) => {
      const record = recordOf(draft, resource)
      const { [resource.part]: there, ...others } = record.resourcePolicies ?? {}
      refuseOtherRevision(resource, there, input.ExpectedRevisionId)
      if (there !== undefined) draft.put({ ...record, resourcePolicies: others })
      return there
    })
    return jsonReply({ RevisionId: removed?.revision })
  },
})

interface Resource {
  readonly arn: string
  readonly tableName: string
  /** Of the table's policies. */
  readonly part: string
}

function resourceOf(arn: string, scope: RequestScope): Resource {
  const stream = arn.includes('/stream/') ? streamOfArn(arn) : undefined
  const tableName = stream?.tableName ?? tableNameOfArn(arn)
  scope.authorise(tableName)
  const { region } = scope.addressed
  return stream === undefined
    ? { arn: tableArn(tableName, region), tableName, part: TABLE_POLICY }
    : { arn: streamArn(tableName, stream.label, region), tableName, part: stream.label }
}

function recordOf(catalog: TableCatalog | CatalogDraft, { arn, tableName, part }: Resource): TableRecord {
  const record = catalog.find(tableName)
  if (record !== undefined && isThere(record, part)) return record
  const absent = record === undefined ? `Table: ${tableName}` : `ResourcArn: ${arn}`
  throw new DynamoError('ResourceNotFoundException', `Requested resource not found: ${absent} not found`)
}

/** A policy of a stream goes with it: streams come and go as long as the table is there. */
const isThere = ({ stream }: TableRecord, part: string): boolean =>
  part === TABLE_POLICY || stream?.label === part

function refuseOtherRevision(
  resource: Resource,
  there: ResourcePolicy | undefined,
  expected: string | undefined,
): void {
  if (expected === undefined || expected === (there?.revision ?? NO_POLICY)) return
  if (there === undefined) throw noPolicy(resource.arn)
  const { tableName } = resource
  throw noPolicy(
    expected === NO_POLICY
      ? `Requested policy update expecting none to be present for table ${tableName}, but a policy exists with revision id ${there.revision}.`
      : `Requested update for policy with revision id ${expected}, but the policy associated to target table ${tableName} has revision id ${there.revision}.`,
  )
}

/** The service answers another revision than the one that was expected with the exception of a policy that is not there. */
const noPolicy = (detail: string): DynamoError =>
  new DynamoError(
    'PolicyNotFoundException',
    `Resource-based policy not found for the provided ResourceArn: ${detail}`,
  )
