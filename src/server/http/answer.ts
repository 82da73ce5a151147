// An answer on its way out, still free of HTTP's framing: whoever writes it to the socket adds content-length.
import { crc32 } from 'node:zlib'
import { DynamoError } from '../../model/errors.js'

export interface Answer {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: Uint8Array
  /** So many bytes before the body, in the same buffer, are free for a head. */
  readonly headroomBytes: number
  /** The name of the exception in it; undefined for success. */
  readonly error: string | undefined
  /** Close the connection instead of answering: an injected fault. */
  readonly lost?: true
}

/** What clients of DynamoDB call its content type. */
export const AMZ_JSON = 'application/x-amz-json-1.0'
const EMPTY = new Uint8Array(0)

/** An answer of an operation, success or exception, as the SDKs read it. */
export function operationAnswer(
  status: number,
  contentType: string,
  requestId: string,
  body: Uint8Array,
  error: string | undefined,
  headroomBytes = 0,
): Answer {
  const headers = [
    'x-amzn-RequestId',
    requestId,
    'x-amz-crc32',
    String(crc32(body)),
    'content-type',
    contentType,
  ]
  return { status, headers, body, headroomBytes, error }
}

export function errorAnswer(error: DynamoError, contentType: string, requestId: string): Answer {
  return operationAnswer(error.status, contentType, requestId, Buffer.from(error.toBody()), error.name)
}

/** An exception of the HTTP edge, for which DynamoDB has no name of its own. */
export function edgeAnswer(status: number, error: string, message: string, requestId = ''): Answer {
  const body = Buffer.from(JSON.stringify({ __type: `com.amazon.coral.service#${error}`, message }))
  return operationAnswer(status, AMZ_JSON, requestId, body, error)
}

export function textAnswer(status: number, contentType: string, text: string, error?: string): Answer {
  const headers = ['content-type', contentType]
  return { status, headers, body: Buffer.from(text), headroomBytes: 0, error }
}

export function emptyAnswer(status: number, headers: string[]): Answer {
  return { status, headers, body: EMPTY, headroomBytes: 0, error: undefined }
}

/** The connection is closed without a word. */
export function lostAnswer(): Answer {
  return { status: 500, headers: [], body: EMPTY, headroomBytes: 0, error: 'InjectedFault', lost: true }
}
