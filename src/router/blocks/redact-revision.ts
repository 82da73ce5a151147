import { redact, type RedactionVerdict } from '../../blocks/redaction.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { jsonReply } from '../request/reply.js'
import {
  type DocumentInput,
  documentMembers,
  documentOf,
  ledgerOperation,
  numberShape,
} from './ledger-request.js'

interface RedactRevisionInput extends DocumentInput {
  readonly Version: number
  readonly Reason?: string
}

export const redactRevision = ledgerOperation<RedactRevisionInput>({
  name: 'RedactRevision',
  members: {
    ...documentMembers,
    Version: { ...numberShape, required: true },
    Reason: { kind: 'string', lengthMax: 1024 },
  },

  async run({ blocks, catalog }, input, scope) {
    const { table, document } = documentOf(catalog, input, scope)
    const { Version: version, Reason: reason } = input
    const { id } = scope.principal
    const by = id === '' ? undefined : id
    const done = await redact(blocks, { table, document, version, reason, by })
    if (done.verdict !== 'done') throw refusal(done.verdict, version)
    return jsonReply({ BlockAddress: { StrandId: blocks.signer.origin, SequenceNumber: done.block } })
  },
})

function refusal(verdict: Exclude<RedactionVerdict['verdict'], 'done'>, version: number): DynamoError {
  switch (verdict) {
    case 'unknown':
      return new DynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: The item has no version ${version}`,
      )
    case 'current':
      return validationError(
        `Version ${version} is the current one: change or delete the item first, then redact the version`,
      )
    case 'without-data':
      return validationError(`Version ${version} is a deletion, and has no data`)
    case 'redacted-before':
      return validationError(`Version ${version} was redacted before`)
  }
}
