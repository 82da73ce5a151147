// AWS Signature Version 4, the form with an Authorization header: what a client signs, made again from what arrived.
//
//   Authorization: AWS4-HMAC-SHA256 Credential=KEY/20250101/us-east-1/dynamodb/aws4_request,
//                  SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=<64 hex digits>
//
// The checks run in the order of the service, because a client that is wrong in two ways learns the same first one. The
// payload is always hashed here: x-amz-content-sha256 is a header like any other, so a client that signed
// UNSIGNED-PAYLOAD is refused, as DynamoDB does.
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { DynamoError } from '../../model/errors.js'

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 'dynamodb'
const TERMINATOR = 'aws4_request'
const SKEW_MINUTES = 15
const SKEW_MS = SKEW_MINUTES * 60_000
const SIGNED_HEADERS_MAX = 100

export const missingToken = (): DynamoError =>
  new DynamoError('MissingAuthenticationTokenException', 'Request is missing Authentication Token')
export const unknownKey = (): DynamoError =>
  new DynamoError('UnrecognizedClientException', 'The security token included in the request is invalid.')
export const wrongSignature = (): DynamoError =>
  new DynamoError(
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
  )

export type SignedHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request that claims to be signed: well formed and of this time, its signature not yet compared. */
export interface SignatureClaim {
  readonly accessKeyId: string
  /** `20250101/us-east-1/dynamodb/aws4_request` */
  readonly scope: string
  /** `20250101T000000Z` */
  readonly date: string
  readonly signedHeaders: readonly string[]
  readonly signature: Buffer
}

/** Reads the claim out of the headers, or says what is wrong with it. */
export function readClaim(headers: SignedHeaders, nowMs: number): SignatureClaim | DynamoError {
  const authorization = headers['authorization']
  if (typeof authorization !== 'string' || !authorization.startsWith('AWS4-')) return missingToken()
  const parameters = readParameters(authorization)
  const dateHeader = headers['x-amz-date'] ?? headers['date']
  let incomplete = ''
  for (const name of ['Credential', 'Signature', 'SignedHeaders']) {
    if (!parameters.get(name)) incomplete += `Authorization header requires '${name}' parameter. `
  }
  if (typeof dateHeader !== 'string') {
    incomplete += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
  }
  // The service repeats the header in its answer; a signature does not belong in anybody's log.
  if (incomplete !== '' || typeof dateHeader !== 'string') return incompleteSignature(incomplete.trimEnd())
  const date = basicDate(dateHeader)
  if (date === undefined) {
    return incompleteSignature(
      `Date must be in ISO-8601 'basic format'. Got '${dateHeader.slice(0, 100)}'. See http://en.wikipedia.org/wiki/ISO_8601`,
    )
  }
  const skew = skewRefusal(date, nowMs)
  if (skew !== undefined) return skew
  const signedHeaders = parameters.get('SignedHeaders')!.toLowerCase().split(';')
  const unsigned = firstUnsigned(headers, signedHeaders)
  if (unsigned !== undefined) {
    return invalidSignature(`'${unsigned}' must be a 'SignedHeader' in the AWS Authorization.`)
  }
  if (!authorization.startsWith(ALGORITHM + ' ')) {
    return incompleteSignature(`Unsupported AWS 'algorithm' (only ${ALGORITHM} for now).`)
  }
  return readScope(parameters.get('Credential')!, date, signedHeaders, parameters.get('Signature')!)
}

const CREDENTIAL_REGION = /\bCredential=[^/,]{1,200}\/\d{1,16}\/([^/,]{1,64})\//

/** The region that a request claims to be signed for, whether that is looked at or not. */
export const signedRegion = (authorization: string): string | undefined =>
  CREDENTIAL_REGION.exec(authorization)?.[1]

/** What of a request is signed beside its body. A path needs no escapes here: those that have any are not served. */
export interface SignedRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: SignedHeaders
}

/** The string that the client must have signed. */
export function stringToSign(
  claim: SignatureClaim,
  { method = '', url = '/', headers }: SignedRequest,
  body: Buffer,
): string {
  let canonical = `${method}\n${url}\n\n`
  for (const name of claim.signedHeaders) {
    // A client may name any header, `constructor` too.
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined
    canonical += `${name}:${canonicalValue(value)}\n`
  }
  canonical += `\n${claim.signedHeaders.join(';')}\n${hash('sha256', body)}`
  return `${ALGORITHM}\n${claim.date}\n${claim.scope}\n${hash('sha256', canonical)}`
}

/** The key that signs everything of one scope. */
export function deriveSigningKey(secretAccessKey: string, scope: string): Buffer {
  let key: string | Buffer = `AWS4${secretAccessKey}`
  for (const part of scope.split('/')) key = hmac(key, part)
  return key as Buffer
}

export function signatureMatches(claim: SignatureClaim, signingKey: Buffer, text: string): boolean {
  return timingSafeEqual(hmac(signingKey, text), claim.signature)
}

function readParameters(authorization: string): Map<string, string> {
  const parameters = new Map<string, string>()
  const start = authorization.indexOf(' ')
  if (start === -1) return parameters
  for (const part of authorization.slice(start + 1).split(/[ ,]+/, 16)) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals), part.slice(equals + 1))
  }
  return parameters
}

const BASIC_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/** `20250101T000000Z` from itself or from an RFC 1123 date. */
function basicDate(value: string): string | undefined {
  if (BASIC_DATE.test(value)) return Number.isNaN(millisOf(value)) ? undefined : value
  if (!value.endsWith(' GMT')) return undefined
  const millis = Date.parse(value)
  return Number.isNaN(millis) ? undefined : toBasic(millis)
}

const millisOf = (date: string): number => Date.parse(date.replace(BASIC_DATE, '$1-$2-$3T$4:$5:$6Z'))
const toBasic = (millis: number): string => new Date(millis).toISOString().replace(/[-:]|\.\d{3}/g, '')

function skewRefusal(date: string, nowMs: number): DynamoError | undefined {
  const millis = millisOf(date)
  const now = toBasic(nowMs)
  if (millis < nowMs - SKEW_MS) {
    const bound = toBasic(nowMs - SKEW_MS)
    return invalidSignature(
      `Signature expired: ${date} is now earlier than ${bound} (${now} - ${SKEW_MINUTES} min.)`,
    )
  }
  if (millis > nowMs + SKEW_MS) {
    const bound = toBasic(nowMs + SKEW_MS)
    return invalidSignature(
      `Signature not yet current: ${date} is still later than ${bound} (${now} + ${SKEW_MINUTES} min.)`,
    )
  }
  return undefined
}

/** What decides where a request goes and what it does must be covered by the signature. */
function firstUnsigned(headers: SignedHeaders, signedHeaders: readonly string[]): string | undefined {
  if (!signedHeaders.includes('host')) return 'Host'
  for (const name of Object.keys(headers)) {
    if (decides(name) && !signedHeaders.includes(name)) return name
  }
  return undefined
}

const decides = (name: string): boolean => name === 'x-amz-target' || name.startsWith('x-seriatim-')

function readScope(
  credential: string,
  date: string,
  signedHeaders: readonly string[],
  signature: string,
): SignatureClaim | DynamoError {
  const parts = credential.replace(/\/+$/, '').split('/')
  if (parts.length !== 5) {
    return incompleteSignature(
      `Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '${credential.slice(0, 200)}'`,
    )
  }
  const [accessKeyId, day, region, service, terminator] = parts as [string, string, string, string, string]
  const wrong: string[] = []
  if (region === '') wrong.push("Credential should be scoped to a valid region, not ''.")
  if (service !== SERVICE) wrong.push(`Credential should be scoped to correct service: '${SERVICE}'.`)
  if (terminator !== TERMINATOR) {
    wrong.push(`Credential should be scoped with a valid terminator: '${TERMINATOR}', not '${terminator}'.`)
  }
  if (day !== date.slice(0, 8)) {
    wrong.push(
      `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '${day}' != '${date.slice(0, 8)}', from '${date}'.`,
    )
  }
  if (wrong.length > 0) return invalidSignature(wrong.join(' '))
  if (!/^[0-9a-f]{64}$/i.test(signature) || signedHeaders.length > SIGNED_HEADERS_MAX) return wrongSignature()
  const scope = `${day}/${region}/${service}/${terminator}`
  return { accessKeyId, scope, date, signedHeaders, signature: Buffer.from(signature, 'hex') }
}

function canonicalValue(value: string | string[] | undefined): string {
  const text = Array.isArray(value) ? value.join(',') : (value ?? '')
  return text.trim().replace(/\s+/g, ' ')
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const invalidSignature = (message: string): DynamoError =>
  new DynamoError('InvalidSignatureException', message)
const incompleteSignature = (message: string): DynamoError =>
  new DynamoError('IncompleteSignatureException', message)
