// A witness as a process of its own: C2SP tlog-witness over HTTP, also through kill -9.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { cosignedCheckpoint } from '../../src/mirror/cosign.js'
import { remoteSource } from '../../src/mirror/remote-source.js'
import { formatWitnessRequest } from '../../src/mirror/witness.js'
import { base64 } from '../../src/verify/bytes.js'
import { openCheckpoint } from '../../src/verify/checkpoint.js'
import { emptyRoot, rootOf } from '../../src/verify/merkle.js'
import { consistencyPath, stretchHash, subtreesFrom } from '../../src/verify/paths.js'
import {
  LOG,
  ORIGIN,
  sampleKey,
  sampleLedger,
  SampleLedger,
  signedCheckpoint,
} from '../verify/sample-ledger.js'
import { HostedLedger } from './hosted-ledger.js'

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.js')

class Witness {
  readonly #process: ChildProcess
  readonly #lines: AsyncIterator<string>
  url = ''
  key = ''

  private constructor(folder: string) {
    const args = ['ledger', 'witness', '--path', folder, '--log', LOG.key, '--port', '0']
    this.#process = spawn(process.execPath, [MAIN, ...args, '--name', 'witness.example/w9'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#lines = linesOf(this.#process)
  }

  static async start(folder: string): Promise<Witness> {
    const witness = new Witness(folder)
    witness.key = (await witness.#line()).replace('key ', '')
    witness.url = (await witness.#line()).replace('seriatim witness listening on ', '')
    return witness
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const exited = new Promise<number | null>((done) => this.#process.once('exit', done))
    this.#process.kill(signal)
    return exited
  }

  async ask(
    body: string,
  ): Promise<{ readonly status: number; readonly type: string | null; readonly text: string }> {
    const response = await fetch(`${this.url}/add-checkpoint`, { method: 'POST', body })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }

  async #line(): Promise<string> {
    return ((await this.#lines.next()) as { readonly value: string }).value
  }
}

async function* linesOf({ stdout }: ChildProcess): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stdout!) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

describe('ledger witness', () => {
  const ledger = sampleLedger(40)
  const at = (size: number, of = ledger): string => signedCheckpoint(size, rootOf(of.leaves.slice(0, size)))
  const request = (oldSize: number, size: number, of = ledger): string =>
    formatWitnessRequest({
      oldSize,
      path: consistencyPath(oldSize, size).map((stretch) =>
        base64(stretchHash(stretch, subtreesFrom(of.leaves))),
      ),
      checkpoint: at(size, of),
    })
  let folder: string
  let witness: Witness

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'seriatim-witness-'))
    witness = await Witness.start(folder)
  })
  after(async () => {
    assert.equal(await witness.end('SIGTERM'), 0)
    rmSync(folder, { recursive: true })
  })

  test('makes its key at the first start, for its owner only', () => {
    assert.equal(statSync(join(folder, 'witness.key')).mode & 0o777, 0o600)
    assert.match(witness.key, /^witness\.example\/w9\+[0-9a-f]{8}\+B/)
  })

  test('cosigns what goes on where the last one ended, and only that', async () => {
    const first = await witness.ask(request(0, 5))
    assert.equal(first.status, 200)
    const { witnesses } = await openCheckpoint(at(5) + first.text, { key: LOG.key, witnesses: [witness.key] })
    assert.equal(witnesses[0]!.name, 'witness.example/w9')
    assert.ok(Math.abs(witnesses[0]!.timeS - Date.now() / 1000) < 60)
    assert.deepEqual(await witness.ask(request(0, 12)), {
      status: 409,
      type: 'text/x.tlog.size',
      text: '5\n',
    })
    assert.deepEqual(await witness.ask(request(4, 12)), {
      status: 409,
      type: 'text/x.tlog.size',
      text: '5\n',
    })
    assert.equal((await witness.ask(request(5, 12))).status, 200)
    assert.equal((await witness.ask(request(12, 12))).status, 200, 'the same once more')
  })

  test('refuses what the specification lists, with its status', async () => {
    const fork = new SampleLedger()
    fork.blocks.push(...ledger.blocks.slice(0, 11))
    for (let block = 11; block < 20; block++) fork.commit({ other: `o${block}` })
    const other = sampleKey(ORIGIN, 99)
    const unknown = at(14).replace(`${ORIGIN}\n`, 'other.example/log\n')
    const path = request(12, 14).slice(0, request(12, 14).indexOf('\n\n')).split('\n').slice(1)
    for (const [status, body] of [
      [422, request(12, 20, fork)],
      [422, request(12, 12, fork)],
      [422, request(12, 14).replace(path[0]!, path[1]!)],
      [422, formatWitnessRequest({ oldSize: 12, path: [], checkpoint: at(14) })],
      [400, request(12, 14).replace('old 12', 'old 15')],
      [400, request(12, 14).replace('old 12', 'old 012')],
      [400, ''],
      [400, 'old 12\nnot a hash\n\n' + at(14)],
      [400, `old 12\n${`${base64(emptyRoot())}\n`.repeat(64)}\n${at(14)}`],
      [
        403,
        formatWitnessRequest({
          oldSize: 12,
          path,
          checkpoint: signedCheckpoint(14, rootOf(ledger.leaves.slice(0, 14)), other),
        }),
      ],
      [403, request(12, 14).replace('\n14\n', '\n15\n')],
      [404, formatWitnessRequest({ oldSize: 0, path: [], checkpoint: unknown })],
      [413, `old 12\n${'x'.repeat(200_000)}`],
    ] as const)
      assert.equal((await witness.ask(body)).status, status, body.slice(0, 300))
    assert.deepEqual(await witness.ask(request(0, 1)), {
      status: 409,
      type: 'text/x.tlog.size',
      text: '12\n',
    })
    assert.equal((await fetch(`${witness.url}/add-checkpoint`)).status, 405)
    assert.equal((await fetch(`${witness.url}/other`)).status, 404)
  })

  test('of two requests at once for one ledger grants one, and the other learns of it', async () => {
    const answers = await Promise.all([witness.ask(request(12, 15)), witness.ask(request(12, 14))])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]))
    const size = answers[0].status === 200 ? 15 : 14
    assert.equal(answers.find(({ status }) => status === 409)!.text, `${size}\n`)
    if (size === 14) assert.equal((await witness.ask(request(14, 15))).status, 200)
  })

  test('serves the last checkpoint that it cosigned', async () => {
    const hash = createHash('sha256').update(ORIGIN).digest('hex')
    const note = await (await fetch(`${witness.url}/${hash}/checkpoint`)).text()
    assert.equal((await openCheckpoint(note, { key: LOG.key, witnesses: [witness.key] })).size, 15)
    assert.equal((await fetch(`${witness.url}/${'0'.repeat(64)}/checkpoint`)).status, 404)
  })

  test('serves no signature that somebody else has put below a checkpoint', async () => {
    const [name, id] = witness.key.split('+')
    const bytes = Buffer.concat([Buffer.from(id!, 'hex'), Buffer.alloc(72, 7)])
    const body = `${request(15, 15)}— ${name} ${bytes.toString('base64')}\n— other.example/x ${bytes.toString('base64')}\n`
    assert.equal((await witness.ask(body)).status, 200)
    const hash = createHash('sha256').update(ORIGIN).digest('hex')
    const note = await (await fetch(`${witness.url}/${hash}/checkpoint`)).text()
    assert.equal((await openCheckpoint(note, { key: LOG.key, witnesses: [witness.key] })).size, 15)
    assert.ok(!note.includes('other.example'))
  })

  test('killed right after an answer remembers it', async () => {
    for (const size of [16, 20, 27]) {
      const { key } = witness
      const before = size === 16 ? 15 : size === 20 ? 16 : 20
      assert.equal((await witness.ask(request(before, size))).status, 200)
      await witness.end('SIGKILL')
      witness = await Witness.start(folder)
      assert.equal(witness.key, key)
      assert.deepEqual(await witness.ask(request(0, 30)), {
        status: 409,
        type: 'text/x.tlog.size',
        text: `${size}\n`,
      })
    }
  })

  test('is asked by whoever wants its signature, however far behind it is', async () => {
    await using host = await HostedLedger.open(ledger.files(40))
    const trust = { key: LOG.key, witnesses: [witness.key] }
    const { size, witnesses } = await cosignedCheckpoint(remoteSource(host.address), [witness.url], trust)
    assert.deepEqual([size, witnesses.length], [40, 1])
    host.files = ledger.files(30)
    await assert.rejects(
      cosignedCheckpoint(remoteSource(host.address), [witness.url], trust),
      /answers 409: 40/,
    )
  })

  test('a second one with the same memory is refused, and a damaged key is', async () => {
    const second = spawn(process.execPath, [
      MAIN,
      'ledger',
      'witness',
      '--path',
      folder,
      '--log',
      LOG.key,
      '--port',
      '0',
    ])
    let said = ''
    second.stderr.on('data', (chunk) => (said += String(chunk)))
    assert.equal(await new Promise((done) => second.once('exit', done)), 1)
    assert.match(said, /another process is the witness of/)
    await witness.end('SIGTERM')
    const key = readFileSync(join(folder, 'witness.key'), 'utf8')
    writeFileSync(join(folder, 'witness.key'), key.replace('w9', 'w8'))
    const third = spawn(process.execPath, [
      MAIN,
      'ledger',
      'witness',
      '--path',
      folder,
      '--log',
      LOG.key,
      '--port',
      '0',
    ])
    assert.equal(await new Promise((done) => third.once('exit', done)), 1)
    writeFileSync(join(folder, 'witness.key'), key)
    witness = await Witness.start(folder)
  })
})
