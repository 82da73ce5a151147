// The files of a ledger over HTTP.
import { utf8Text } from '../verify/bytes.js'
import type { LedgerSource } from '../verify/folder.js'
import { limitedBody } from './limited-body.js'

const ANSWER_TIMEOUT_MS = 30_000
/** A transaction has at most 4 MB, twice over for JSON. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
/** What is refused is told in far less; more of it is not read. */
const ERROR_BYTES_MAX = 64 * 1024
const FILES = '/ledger/'

/** The address of a server, whose ledger is at /ledger/, or of the folder in which an export lies. */
export function remoteSource(
  address: string,
  headers: (url: URL) => Readonly<Record<string, string>> = () => ({}),
): LedgerSource {
  const base = new URL(address)
  if (base.pathname === '/') base.pathname = FILES
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return {
    read: async (path) => {
      const url = new URL(path, base)
      const response = await fetch(url, {
        headers: headers(url),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      }).catch((error: unknown) => {
        const { cause, message } = error as Error
        throw new Error(`${url.href} does not answer: ${cause instanceof Error ? cause.message : message}`, {
          cause: error,
        })
      })
      if (response.status === 404) {
        await response.body?.cancel()
        return undefined
      }
      if (!response.ok) {
        const body = await limitedBody(response, ERROR_BYTES_MAX)
        const said = (body && utf8Text(body))?.slice(0, 200).trim() ?? ''
        throw new Error(`${url.href} answers ${response.status}${said === '' ? '' : `: ${said}`}`)
      }
      const bytes = await limitedBody(response, FILE_BYTES_MAX)
      if (bytes === undefined) throw new Error(`${url.href} is larger than any file of a ledger`)
      return bytes
    },
  }
}
