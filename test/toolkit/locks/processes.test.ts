// Many real processes on one lock, some killed and some stopped and continued while they hold it. The file that the
// lock protects is written by this process, which checks the fence and nothing else.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { locks } from '../../../src/toolkit/index.js'
import { dynalite } from '../../support/dynalite.js'
import { testFolder } from '../../support/folder.js'
import { spawnServer } from '../../support/spawned-server.js'
import type { ToParent, ToWorker } from './worker.js'
import { sized } from '../../support/sizes.js'

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url))
const PROCESSES = sized(4, 20)
const ROUNDS = sized(2, 3)
const LEASE_MS = 2_000
const KILLED = sized(1, 4)
const STOPPED = sized(1, 4)
const STOPPED_MS = LEASE_MS * 1.7
const TIMEOUT_MS = 240_000

for (const place of ['Seriatim', 'dynalite'] as const) {
  test(
    `locks, ${place}: ${PROCESSES} processes, some killed and some stopped while holding: no overlap, no loss`,
    { timeout: TIMEOUT_MS },
    async () => {
      await using server = await (place === 'Seriatim' ? spawnServer() : dynalite())
      const client = new DynamoDBClient({
        endpoint: server.url,
        region: 'us-east-1',
        credentials: { accessKeyId: 'A', secretAccessKey: 's' },
      })
      const admin = locks(client, { table: 'Locks' })
      await admin.setup()
      const report = await contend(server.url)
      assert.equal(report.killed, KILLED)
      assert.equal(report.stopped, STOPPED)
      // Each line builds upon the one before, and fences only grow: nobody wrote beside another, nothing was lost.
      let fence = 0n
      for (const [at, line] of report.lines.entries()) {
        const [lineFence = '', value] = line.split(' ')
        assert.equal(Number(value), at + 1, `line ${at + 1}: ${line}`)
        assert.ok(BigInt(lineFence) > fence, `line ${at + 1}: ${line}`)
        fence = BigInt(lineFence)
      }
      const survivors = PROCESSES - KILLED
      assert.ok(report.lines.length >= survivors * ROUNDS, `${report.lines.length} lines`)
      assert.equal(report.done, survivors)
      // Everything but what a killed one left behind it at the very end is gone; sweeping takes that, too.
      await admin.sweep()
      assert.deepEqual(await admin.list(), [])
      client.destroy()
    },
  )
}

interface Report {
  readonly lines: readonly string[]
  readonly done: number
  readonly killed: number
  readonly stopped: number
}

async function contend(endpoint: string): Promise<Report> {
  const path = join(testFolder(), 'shared')
  writeFileSync(path, '')
  let highest = 0n
  let value = 0
  let reads = 0
  const counts = { done: 0, killed: 0, stopped: 0 }

  /** Whoever has been overtaken is refused; reading counts, for what is written builds upon it. */
  const serve = (message: Exclude<ToParent, { readonly type: 'done' }>): ToWorker => {
    const fence = BigInt(message.fence)
    if (fence < highest) return { accepted: false, value }
    highest = fence
    if (message.type === 'write') {
      value = message.value
      appendFileSync(path, `${fence} ${value}\n`)
    }
    return { accepted: true, value }
  }

  /** A holder has just begun: now and then that is when it is killed, or stopped for longer than its lease. */
  const strike = (child: ChildProcess): void => {
    const turn = reads++ % 5
    if (turn === 1 && counts.killed < KILLED) {
      counts.killed++
      child.kill('SIGKILL')
    } else if (turn === 3 && counts.stopped < STOPPED) {
      counts.stopped++
      child.kill('SIGSTOP')
      setTimeout(() => child.kill('SIGCONT'), STOPPED_MS)
    }
  }

  const exits = Array.from({ length: PROCESSES }, (_, at) => {
    const manners = at % 2 === 0 ? 'polite' : 'rude'
    const child = fork(WORKER, [endpoint, 'Locks', String(LEASE_MS), String(ROUNDS), manners], {
      execArgv: ['--no-warnings'],
    })
    child.on('message', (message: ToParent) => {
      if (message.type === 'done') {
        counts.done++
        return
      }
      if (message.type === 'read') strike(child)
      if (child.connected) child.send(serve(message), () => undefined)
    })
    return new Promise<void>((resolve) => child.once('exit', () => resolve()))
  })
  await Promise.all(exits)
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return { lines, ...counts }
}
