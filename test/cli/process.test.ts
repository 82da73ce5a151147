import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { MAIN, spawnServer } from '../support/spawned-server.js'

test('cli: the process answers after its one line, ends by itself with 0 at a signal, and leaves sound data', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'seriatim-process-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'data')
  const childOf = (...args: string[]) => {
    const child = spawn(process.execPath, [MAIN, ...args, '--path', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = childOf('start', '--port', '0')
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const [, url] = /^seriatim listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString())!
    // fetch keeps its connection open: an idle connection must not keep the process.
    const answer = await fetch(`${url}/health`)
    assert.deepEqual(await answer.json(), { status: 'ok' })
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
  assert.deepEqual(await once(childOf('verify'), 'exit'), [0, null])
})

test('cli: a SIGHUP does not end a server without a certificate', async () => {
  const server = await spawnServer()
  for (let count = 0; count < 3; count++) {
    process.kill(server.pid, 'SIGHUP')
    assert.equal((await fetch(`${server.url}/health`)).status, 200)
  }
  assert.equal(await server.stop(), 0)
})

test('cli: a server prints the public key of a ledger when it begins, and goes on where nobody reads that', async (t) => {
  const began = async (stderr: 'read' | 'closed'): Promise<readonly [told: string, served: string]> => {
    const child = spawn(process.execPath, [MAIN, 'start', '--memory', '--ledger', '*', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let told = ''
    child.stderr.on('data', (text: Buffer) => (told += text.toString()))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = line.toString().trim().split(' ').at(-1)!
    if (stderr === 'closed') child.stderr.destroy()
    const created = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.CreateTable',
      },
      body: JSON.stringify({
        TableName: 'Things',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    })
    assert.equal(created.status, 200)
    const served = (await (await fetch(`${url}/ledger/key`)).text()).trim()
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'close'), [0, null])
    return [told, served]
  }
  const [told, served] = await began('read')
  assert.match(told, /^seriatim: A ledger begins\. Its public key: seriatim\.local\/[^ ]+\n$/)
  assert.ok(told.includes(served), `${told} tells of ${served}`)
  const [, servedUnseen] = await began('closed')
  assert.notEqual(servedUnseen, served)
})

test('cli: a damaged catalogue is named by verify, and start refuses it with a sentence', async () => {
  const path = testFolder()
  const store = await open({ path })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await store.close()
  const file = join(path, 'node-0', 'index', 'data.mdb')
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf('"keySchema"'); at !== -1; at = bytes.indexOf('"keySchema"', at)) bytes[at] = 0
  writeFileSync(file, bytes)
  const sentence = /The record "table\/Things" of the catalogue of tables is damaged/
  const { problems } = await verifyDataFolder(path)
  assert.equal(problems.length, 1)
  assert.match(problems[0] as string, sentence)
  await assert.rejects(open({ path }), sentence)
})
