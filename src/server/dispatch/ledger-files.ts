// GET /ledger/...: the files of the ledger as C2SP's tlog-tiles has them, for any client that reads such logs.
import type { DynamoError } from '../../model/errors.js'
import type { Principal, Router } from '../../router/request/router.js'
import type { Answer } from '../http/answer.js'
import type { RequestHead } from '../http/request-head.js'

/** The operation that has them. */
export const LEDGER_FILES = 'GetLedgerFile'
const PREFIX = '/ledger/'

export const asksForLedgerFile = ({ method, url }: RequestHead): boolean =>
  (method === 'GET' || method === 'HEAD') && url?.startsWith(PREFIX) === true

/** What a client may keep: tiles never change, the data of a block may be redacted. */
const KINDS = {
  text: { contentType: 'text/plain; charset=utf-8', cache: 'no-cache' },
  bytes: { contentType: 'application/octet-stream', cache: 'max-age=31536000, immutable' },
  block: { contentType: 'application/octet-stream', cache: 'no-store' },
} as const

/** What the operation is asked. */
export const ledgerFileInput = ({ url = '' }: RequestHead): { readonly Path: string } => ({
  Path: url.slice(PREFIX.length),
})

export async function ledgerFileAnswer(
  router: Router,
  head: RequestHead,
  principal: Principal,
  errorAnswer: (error: DynamoError, status: number) => Answer,
): Promise<Answer> {
  const reply = await router.handle({ operation: LEDGER_FILES, input: ledgerFileInput(head), principal })
  if (!reply.ok) return errorAnswer(reply.error, statusOf(reply.error))
  const { Kind, Content } = JSON.parse(Buffer.from(reply.body).toString()) as {
    readonly Kind: keyof typeof KINDS
    readonly Content: string
  }
  const { contentType, cache } = KINDS[Kind]
  // What a key may read is no other client's: caches that several share do not keep it.
  const shared = Kind !== 'bytes' ? cache : `${principal.id === '' ? 'public' : 'private'}, ${cache}`
  const headers = ['content-type', contentType, 'cache-control', shared]
  return { status: 200, headers, body: Buffer.from(Content, 'base64'), headroomBytes: 0, error: undefined }
}

/** As web servers say it. */
const statusOf = ({ name, status }: DynamoError): number =>
  name === 'ResourceNotFoundException' ? 404 : name === 'AccessDeniedException' ? 403 : status
