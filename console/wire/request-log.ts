// What was asked, in this tab and for as long as it is open: nothing of it is stored.
import { observable } from './observable.js'

export interface LoggedRequest {
  readonly id: number
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  /** Only the size of its input was kept. */
  readonly isCut: boolean
  readonly startedMs: number
  readonly tookMs: number
  /** `ok`, or the name of the error. */
  readonly result: string
}

const REQUESTS_MAX = 300
/** Of larger ones only the size is kept. */
const INPUT_BYTES_MAX = 20_000

export const requestLog = observable<readonly LoggedRequest[]>([])
let lastId = 0

export function noteRequest(request: Omit<LoggedRequest, 'id' | 'isCut'>): void {
  const bytes = JSON.stringify(request.input).length
  const isCut = bytes > INPUT_BYTES_MAX
  const input = isCut ? { '…': `${bytes} characters` } : request.input
  requestLog.set([{ ...request, input, isCut, id: ++lastId }, ...requestLog.get()].slice(0, REQUESTS_MAX))
}
