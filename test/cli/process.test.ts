import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('start-with-echo.js', import.meta.url))

test('cli: the process answers after its one line, and ends by itself with 0 at SIGTERM and SIGINT', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = spawn(process.execPath, [program, 'start', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const [, url] = /^seriatim listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString())!
    // fetch keeps its connection open: an idle connection must not keep the process.
    const answer = await fetch(`${url}/health`)
    assert.deepEqual(await answer.json(), { status: 'ok' })
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
})
