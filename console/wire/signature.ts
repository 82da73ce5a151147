// AWS Signature Version 4 in the browser. The secret becomes a key of WebCrypto that no script can read back, and is forgotten;
// where a browser has no WebCrypto (plain HTTP on another machine's address), the bytes stay in this closure and nowhere else.
import { sha256 } from '../../src/verify/sha256.js'

export interface Signer {
  readonly accessKeyId: string
  sign(headers: Readonly<Record<string, string>>, body: string): Promise<Record<string, string>>
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const BLOCK_BYTES = 64
const encoder = new TextEncoder()
type Bytes = Uint8Array<ArrayBuffer>
type Hmac = (text: string) => Promise<Bytes>

export async function openSigner(accessKeyId: string, secret: string, region = 'us-east-1'): Promise<Signer> {
  const root = await hmacOf(encoder.encode(`AWS4${secret}`))
  let day: { readonly date: string; readonly key: Hmac } | undefined
  return {
    accessKeyId,
    async sign(headers, body) {
      const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '')
      const scope = `${date.slice(0, 8)}/${region}/dynamodb/aws4_request`
      const signed: Record<string, string> = { ...headers, host: location.host, 'x-amz-date': date }
      const names = Object.keys(signed).toSorted()
      const canonical = [
        'POST',
        '/',
        '',
        ...names.map((name) => `${name}:${signed[name]}`),
        '',
        names.join(';'),
        hex(sha256(encoder.encode(body))),
      ].join('\n')
      const text = [ALGORITHM, date, scope, hex(sha256(encoder.encode(canonical)))].join('\n')
      if (day?.date !== date.slice(0, 8)) day = { date: date.slice(0, 8), key: await keyOf(root, scope) }
      const signature = hex(await day.key(text))
      return {
        ...headers,
        'x-amz-date': date,
        authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
      }
    },
  }
}

async function keyOf(root: Hmac, scope: string): Promise<Hmac> {
  let key = root
  for (const part of scope.split('/')) key = await hmacOf(await key(part))
  return key
}

async function hmacOf(secret: Bytes): Promise<Hmac> {
  // Undefined outside of secure contexts, whatever the types say.
  const subtle = crypto.subtle as SubtleCrypto | undefined
  if (subtle === undefined) return async (text) => plainHmac(secret, encoder.encode(text))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', secret, algorithm, false, ['sign'])
  return async (text) => new Uint8Array(await subtle.sign('HMAC', key, encoder.encode(text)))
}

function plainHmac(secret: Bytes, message: Bytes): Bytes {
  const key = new Uint8Array(BLOCK_BYTES)
  key.set(secret.length > BLOCK_BYTES ? sha256(secret) : secret)
  const inner = sha256(
    joined(
      key.map((byte) => byte ^ 0x36),
      message,
    ),
  )
  return new Uint8Array(
    sha256(
      joined(
        key.map((byte) => byte ^ 0x5c),
        inner,
      ),
    ),
  )
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length)
  bytes.set(one)
  bytes.set(other, one.length)
  return bytes
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
