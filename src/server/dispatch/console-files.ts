// GET /console/...: the console, static files that were built ahead (console/, scripts/console.mjs). They have nothing of the
// store in them: the pages get that by the same operations as every client, with the same signatures and the same rules.
//
// A closed set of flat names: what a client asks for is looked up in it, and never becomes a path.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { emptyAnswer, textAnswer, type Answer } from '../http/answer.js'
import { answerCoding } from '../http/content-coding.js'
import type { RequestHead } from '../http/request-head.js'

const PREFIX = '/console/'
/** Beside this file in the build, and beside the bundle in the package. */
const FOLDER = new URL('./console/', import.meta.url)

/**
 * No inline code, no code of anywhere else, no string that becomes code or markup (Trusted Types with no policy at all), no
 * frame around it. `connect-src 'self'`: what is read of a store can be sent to that store alone.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const SECURITY = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
].flat()

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
}

export const asksForConsole = ({ method, url = '' }: RequestHead): boolean =>
  (method === 'GET' || method === 'HEAD') && (url === '/console' || url.startsWith(PREFIX))

interface ConsoleFile {
  readonly gzipped: Buffer
  readonly etag: string
  readonly contentType: string
}

/** The files of the console, each read when it is first asked for. */
export class ConsoleFiles {
  #names: ReadonlySet<string> | undefined
  readonly #files = new Map<string, ConsoleFile>()

  answer({ url = '', headers }: RequestHead): Answer {
    if (url === '/console') return emptyAnswer(308, ['location', PREFIX])
    this.#names ??= builtNames()
    if (this.#names.size === 0) return notFound('The console was not built: run `npm run build`.')
    const [path = ''] = url.slice(PREFIX.length).split(/[?#]/, 1)
    const name = path === '' ? 'index.html' : path
    if (!this.#names.has(name)) return notFound('The console has no such file.')
    const file = this.#file(name)
    // `no-cache`: asked for again each time, and answered with 304 until another version is installed.
    const common = [...SECURITY, 'cache-control', 'no-cache', 'etag', file.etag, 'vary', 'accept-encoding']
    if (headers['if-none-match'] === file.etag) return emptyAnswer(304, common)
    const answerHeaders = ['content-type', file.contentType, ...common]
    const accepted = headers['accept-encoding']
    const isGzip = accepted !== undefined && answerCoding(accepted) === 'gzip'
    if (isGzip) answerHeaders.push('content-encoding', 'gzip')
    const body = isGzip ? file.gzipped : gunzipSync(file.gzipped)
    return { status: 200, headers: answerHeaders, body, headroomBytes: 0, error: undefined }
  }

  #file(name: string): ConsoleFile {
    let file = this.#files.get(name)
    if (file === undefined) {
      const gzipped = readFileSync(new URL(`${name}.gz`, FOLDER))
      const etag = `"${hash('sha256', gzipped).slice(0, 32)}"`
      const extension = name.slice(name.lastIndexOf('.') + 1)
      const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream'
      this.#files.set(name, (file = { gzipped, etag, contentType }))
    }
    return file
  }
}

function builtNames(): ReadonlySet<string> {
  try {
    return new Set(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith('.gz'))
        .map((name) => name.slice(0, -3)),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set()
    throw error
  }
}

const notFound = (message: string): Answer => textAnswer(404, 'text/plain', `${message}\n`, 'NotFound')
