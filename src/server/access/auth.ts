// Who may do what: a file of keys, and the check of a request against it.
import type { Access, Principal } from '../../router/request/router.js'
import { readFile, stat } from 'node:fs/promises'
import { DynamoError } from '../../model/errors.js'
import { matcherOf } from '../../model/name-pattern.js'
import {
  deriveSigningKey,
  missingToken,
  readClaim,
  signatureMatches,
  stringToSign,
  unknownKey,
  wrongSignature,
  type SignedHeaders,
  type SignedRequest,
} from './sigv4.js'

/** One entry of the file: a secret, and what its holder may do to which tables. */
export interface AuthKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** For logs and error messages; the access key id if absent. */
  readonly name?: string
  /** Table names, in which `*` stands for any characters. */
  readonly tables: readonly string[]
  readonly access: readonly Access[]
}

/** The keys that may sign requests, for `store.listen({ auth })`. `loadAuthFile` makes it from a file. */
export interface Auth {
  /**
   * A quick look before the body is read: whether the request is signed at all.
   * @internal
   */
  refusesUnread(headers: SignedHeaders): DynamoError | undefined
  /**
   * The holder of the key that signed the request, or why there is none.
   * @internal
   */
  authenticate(request: SignedRequest, body: Buffer, nowMs: number): Principal | DynamoError
  /**
   * The holder of a key that signed a request at another worker.
   * @internal
   */
  holderOf?(accessKeyId: string): Principal | undefined
}

/**
 * Reads a file of access keys (docs/how-to/run-the-server.md shows one). `warnings` has sentences for the operator, such as
 * one about a file that other users can read. Rejects with an `AuthFileError`, whose message says what is wrong with the file.
 *
 * @example
 *   await writeFile('keys.json', JSON.stringify({
 *     keys: [{ accessKeyId: 'app', secretAccessKey: 'at-least-sixteen-characters', tables: ['*'], access: ['read'] }],
 *   }))
 *   const { auth } = await loadAuthFile('keys.json')
 *   await using server = await store.listen({ port: 0, auth })
 *   console.log(server.port > 0) // true
 */
export async function loadAuthFile(
  path: string,
): Promise<{ readonly auth: Auth; readonly warnings: readonly string[] }> {
  const warnings: string[] = []
  let text: string
  try {
    text = await readFile(path, 'utf8')
    const { mode } = await stat(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      warnings.push(
        `${path} holds secrets and can be read by other users of this machine; run: chmod 600 ${path}`,
      )
    }
  } catch (error) {
    throw new AuthFileError(`cannot read the file of keys ${path}: ${(error as Error).message}`)
  }
  return { auth: authOf(parseAuthFile(text, path)), warnings }
}

/** The file of keys is not usable; the message says where and why, and never repeats a secret. */
export class AuthFileError extends Error {
  override readonly name = 'AuthFileError'
}

const ACCESSES: readonly string[] = ['read', 'write', 'admin'] satisfies Access[]
const KEY_MEMBERS = new Set(['accessKeyId', 'secretAccessKey', 'name', 'tables', 'access'])
const KEYS_MAX = 10_000

/** Checks the text of a file of keys. */
export function parseAuthFile(text: string, path: string): readonly AuthKey[] {
  const wrong = (what: string): never => {
    throw new AuthFileError(`${path}: ${what}`)
  }
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and with it perhaps a secret.
    wrong('not valid JSON')
  }
  const keys: unknown = isRecord(file) ? file['keys'] : undefined
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > KEYS_MAX) {
    return wrong('expected { "keys": [ ... ] } with at least one key')
  }
  const seen = new Set<string>()
  return keys.map((key: unknown, index) => {
    const where = `keys[${index}]`
    if (!isRecord(key)) return wrong(`${where} is not an object`)
    for (const member of Object.keys(key)) {
      if (!KEY_MEMBERS.has(member)) wrong(`${where} has an unknown member "${member}"`)
    }
    const { accessKeyId, secretAccessKey, name, tables, access } = key
    if (typeof accessKeyId !== 'string' || !/^\w{1,128}$/.test(accessKeyId)) {
      return wrong(`${where}.accessKeyId must be 1 to 128 letters, digits or _`)
    }
    if (seen.has(accessKeyId)) wrong(`${where}.accessKeyId "${accessKeyId}" occurs twice`)
    seen.add(accessKeyId)
    if (typeof secretAccessKey !== 'string' || secretAccessKey === '') {
      return wrong(`${where}.secretAccessKey must be a string that is not empty`)
    }
    if (name !== undefined && typeof name !== 'string') return wrong(`${where}.name must be a string`)
    if (!isStringArray(tables) || tables.length === 0 || tables.some((table) => !/^[\w.*-]+$/.test(table))) {
      return wrong(`${where}.tables must list table names, in which * stands for any characters`)
    }
    if (!isStringArray(access) || access.length === 0 || access.some((word) => !ACCESSES.includes(word))) {
      return wrong(`${where}.access must list some of "read", "write" and "admin"`)
    }
    const checked = { accessKeyId, secretAccessKey, tables, access: access as readonly Access[] }
    return name === undefined ? checked : { ...checked, name }
  })
}

const SIGNING_KEYS_MAX = 1024

/** Verifies signatures against these keys. */
export function authOf(keys: readonly AuthKey[]): Auth {
  const holders = new Map(
    keys.map((key) => [key.accessKeyId, { secret: key.secretAccessKey, principal: principalOf(key) }]),
  )
  const signingKeys = new Map<string, Buffer>()
  return {
    holderOf: (accessKeyId) => holders.get(accessKeyId)?.principal,
    refusesUnread: (headers) => (headers['authorization'] === undefined ? missingToken() : undefined),
    authenticate: (request, body, nowMs) => {
      const claim = readClaim(request.headers, nowMs)
      if (claim instanceof DynamoError) return claim
      const holder = holders.get(claim.accessKeyId)
      if (holder === undefined) return unknownKey()
      const cacheKey = `${claim.accessKeyId}/${claim.scope}`
      const cached = signingKeys.get(cacheKey)
      const signingKey = cached ?? deriveSigningKey(holder.secret, claim.scope)
      if (!signatureMatches(claim, signingKey, stringToSign(claim, request, body))) {
        return wrongSignature()
      }
      // Only a holder of the secret gets here, so nobody else can fill the cache with scopes of his own.
      if (cached === undefined) {
        if (signingKeys.size >= SIGNING_KEYS_MAX) signingKeys.clear()
        signingKeys.set(cacheKey, signingKey)
      }
      return holder.principal
    },
  }
}

function principalOf(key: AuthKey): Principal {
  const granted = new Set<Access>(key.access)
  const exact = new Set(key.tables.filter((table) => !table.includes('*')))
  const patterns = key.tables.filter((table) => table.includes('*')).map(matcherOf)
  return {
    id: key.accessKeyId,
    name: key.name ?? key.accessKeyId,
    allows: (access, tableName) =>
      granted.has(access) && (exact.has(tableName) || patterns.some((matches) => matches(tableName))),
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((member) => typeof member === 'string')
