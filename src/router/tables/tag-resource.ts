// TagResource, UntagResource and ListTagsOfResource.
import { DynamoError, validationError } from '../../model/errors.js'
import type { CatalogDraft } from './catalog/catalog-draft.js'
import { jsonReply } from '../request/reply.js'
import type { RequestShape } from '../shapes/shape.js'
import { tableNameOfArn } from '../shapes/table-name.js'
import { checkAddedTags, checkRemovedTags } from './record/table-ledger.js'
import type { TableRecord, Tag } from './record/table-record.js'
import { tagsShape } from './record/table-shapes.js'
import { checkTagCount, checkTagKey, checkTags, mergeTags } from './record/tags.js'
import { tableOperation } from './table-operation.js'

interface ResourceInput {
  readonly ResourceArn?: string
}

const arnShape: RequestShape = { kind: 'string' }

export const tagResource = tableOperation<ResourceInput & { readonly Tags: readonly Partial<Tag>[] }>({
  name: 'TagResource',
  shape: { kind: 'struct', members: { ResourceArn: arnShape, Tags: { ...tagsShape, required: true } } },

  async run(catalog, input, scope) {
    const { arn, name } = resourceOf(input)
    scope.authorise(name)
    if (input.Tags.length === 0) throw validationError('Atleast one Tag needs to be provided as Input.')
    const added = checkTags(input.Tags)
    await catalog.change((draft) => {
      const record = taggedTable(draft, arn, name)
      checkAddedTags(record, added)
      draft.put({ ...record, tags: mergeTags(record.tags, added) })
    })
    return EMPTY_BODY
  },
})

export const untagResource = tableOperation<ResourceInput & { readonly TagKeys: readonly string[] }>({
  name: 'UntagResource',
  shape: {
    kind: 'struct',
    members: { ResourceArn: arnShape, TagKeys: { kind: 'list', required: true, member: { kind: 'string' } } },
  },

  async run(catalog, input, scope) {
    const { arn, name } = resourceOf(input)
    scope.authorise(name)
    if (input.TagKeys.length === 0)
      throw validationError('Atleast one Tag Key needs to be provided as Input.')
    for (const key of input.TagKeys) checkTagKey(key)
    checkTagCount(input.TagKeys.length)
    const removed = new Set(input.TagKeys)
    await catalog.change((draft) => {
      const record = taggedTable(draft, arn, name)
      checkRemovedTags(record, removed)
      draft.put({ ...record, tags: record.tags.filter((tag) => !removed.has(tag.Key)) })
    })
    return EMPTY_BODY
  },
})

export const listTagsOfResource = tableOperation<ResourceInput & { readonly NextToken?: string }>({
  name: 'ListTagsOfResource',
  shape: { kind: 'struct', members: { ResourceArn: arnShape, NextToken: { kind: 'string' } } },

  run(catalog, input, scope) {
    const { arn, name } = resourceOf(input)
    scope.authorise(name)
    const record = catalog.find(name)
    // The service does not say whether a table that is not the caller's exists.
    if (record === undefined) throw notAuthorised(arn)
    return jsonReply({ Tags: record.tags })
  },
})

function notAuthorised(arn: string): DynamoError {
  return new DynamoError(
    'AccessDeniedException',
    `User is not authorized to perform: dynamodb:ListTagsOfResource on resource: ${arn}`,
  )
}

/** Not even an empty object. */
const EMPTY_BODY = new Uint8Array()

function resourceOf({ ResourceArn: arn }: ResourceInput): { readonly arn: string; readonly name: string } {
  if (arn === undefined) throw validationError('Invalid TableArn')
  return { arn, name: tableNameOfArn(arn) }
}

function taggedTable(draft: CatalogDraft, arn: string, name: string): TableRecord {
  const record = draft.find(name)
  if (record !== undefined) return record
  throw new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: ResourcArn: ${arn} not found`,
  )
}
