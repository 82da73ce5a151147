import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { Stage } from '../../src/cli/demo/stage.js'
import { processEnvironment } from '../../src/cli/process-environment.js'
import { open } from '../../src/store/store.js'

async function demo(...args: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = []
  const world = { ...processEnvironment(), print: (line: string) => void lines.push(line) }
  const code = await run(['demo', ...args], world)
  return { code, text: lines.join('\n') }
}

for (const nodes of ['1', '4']) {
  test(`demo: every scene holds on ${nodes} nodes, and says how many attempts it took`, async () => {
    const { code, text } = await demo('--nodes', nodes)
    assert.equal(code, 0, text)
    assert.ok(!text.includes('✗'), text)
    assert.equal(text.match(/✓/g)?.length, 31, text)
    for (const told of [
      /ann|ben: bought it/,
      /read-committed: she sees 500 and 400/,
      /snapshot: +she sees 500 and 500/,
      /attempts: 2; the address is taken/,
      /attempts: 1; QLDB needed two/,
      /Conflict: (?:Customers|Buyers) was changed by transaction [0-9a-f]{32}:[0-9a-f]+\. Gave up after one attempt\./,
      /UnitExpired: /,
      /read-committed: 110, attempts 1 \+ 1/,
    ])
      assert.match(text, told)
  })
}

test('demo: a check that does not hold is told and counted', async () => {
  const lines: string[] = []
  await using store = await open({ memory: true })
  const stage = new Stage(store, (line) => void lines.push(line))
  stage.check('one is two', 1, 2)
  stage.check('one is one', 1, 1)
  assert.equal(stage.failed, 1)
  assert.deepEqual(lines, ['   ✗ one is two: it is 1, not 2', '   ✓ one is one'])
})
