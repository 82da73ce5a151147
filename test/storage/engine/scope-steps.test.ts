// Steps that share a compare-and-set: what is decided again, and what is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RowAddress, RowChange } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import type { KeyBytes } from '../../../src/model/brand.js'
import { clientRuntime } from '../../../src/runtime/real-runtime.js'
import { ScopeSteps } from '../../../src/storage/engine/scope-steps.js'
import { newVersionId, nextPut, SureCas } from '../../../src/storage/engine/sure-cas.js'

const runtime = clientRuntime()
const at = (row: string): RowAddress => ({ space: 't1', partition: 'p' as KeyBytes, row: row as KeyBytes })
const put = (row: string, text: string) => ({ address: at(row), cells: { head: Buffer.from(text) } })

/** Before the first step of this server another one changes a row that it has read. */
async function overtaken(row: string) {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  let isOvertaken = false
  const cas = async (changes: readonly RowChange[]) => {
    if (!isOvertaken) {
      isOvertaken = true
      const next = nextPut(undefined, newVersionId(runtime), { head: Buffer.from('of another server') })
      await engine.cas([{ address: at(row), seen: 'any', next }])
    }
    return engine.cas(changes)
  }
  const sure = new SureCas({ runtime, engine: { cas, read: (...args) => engine.read(...args) } })
  const steps = new ScopeSteps({ engine, runtime, sure, behind: () => undefined })
  const textOf = async (name: string) => {
    const [found] = await engine.read([at(name)], 'consistent')
    return found?.cells.head && Buffer.from(found.cells.head).toString()
  }
  return { steps, textOf }
}

test('a step whose caller was told that it failed is not carried out when those beside it are decided again', async () => {
  const { steps, textOf } = await overtaken('a')
  let tries = 0
  // As one that met a row of a newer shape, which is known by the second time.
  const failing = steps.take({
    addresses: [at('b')],
    decide: () => {
      if (tries++ === 0) throw new Error('the catalogue is read again')
      return { answer: undefined, next: [put('b', 'twice')] }
    },
  })
  const beside = steps.take({
    addresses: [at('a')],
    decide: () => ({ answer: 'done', next: [put('a', 'mine')] }),
  })
  await assert.rejects(failing, /the catalogue is read again/)
  assert.equal(await beside, 'done')
  assert.equal(await textOf('a'), 'mine')
  assert.equal(await textOf('b'), undefined)
})

/** An engine that counts its calls, and answers a compare-and-set in a later turn, so that others wait for it. */
async function counted(stepsMax: number) {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  const calls = { read: 0, cas: 0 }
  const later = () => new Promise((resolve) => void setImmediate(resolve))
  const slow = {
    read: async (...args: Parameters<MemoryEngine['read']>) => {
      calls.read++
      await later()
      return engine.read(...args)
    },
    cas: async (changes: readonly RowChange[]) => {
      calls.cas++
      await later()
      return engine.cas(changes)
    },
  }
  const server = () => {
    const own = Object.assign(Object.create(engine) as MemoryEngine, slow, {
      scopeOf: engine.scopeOf.bind(engine),
      write: engine.write.bind(engine),
    })
    const sure = new SureCas({ runtime, engine: slow })
    return new ScopeSteps({ engine: own, runtime, sure, stepsMax, behind: () => undefined })
  }
  return { engine, calls, server }
}

const numberIn = (head: Uint8Array | undefined) => Number(Buffer.from(head ?? []).toString() || '0')
const addOne = (steps: ScopeSteps, row = 'n') =>
  steps.take({
    addresses: [at(row)],
    decide: (rows) => {
      const next = numberIn(rows.row(at(row))?.cells.head) + 1
      return { answer: next, next: [put(row, String(next))] }
    },
  })
const look = (steps: ScopeSteps, row = 'n') =>
  steps.take({
    addresses: [at(row)],
    decide: (rows) => ({ answer: numberIn(rows.row(at(row))?.cells.head) }),
  })

test('steps that waited for a compare-and-set decide on what it has left: a group is one call of the engine', async () => {
  const { calls, server } = await counted(10)
  const steps = server()
  const answers = await Promise.all(Array.from({ length: 50 }, () => addOne(steps)))
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, (_, n) => n + 1),
  )
  assert.deepEqual(calls, { read: 1, cas: 5 })
  // Nobody waited for it: what another server has done since is not known.
  assert.equal(await addOne(steps), 51)
  assert.deepEqual(calls, { read: 2, cas: 6 })
})

test('two servers whose writers follow each other on one row lose nothing of each other', async () => {
  const { server } = await counted(3)
  const servers = [server(), server()]
  const answers = await Promise.all(
    servers.flatMap((steps) => Array.from({ length: 40 }, () => addOne(steps))),
  )
  assert.deepEqual(
    answers.toSorted((a, b) => a - b),
    Array.from({ length: 80 }, (_, n) => n + 1),
  )
})

test('once another server was faster, a few groups are read for before what was left is relied on again', async () => {
  const { calls, engine, server } = await counted(5)
  const steps = server()
  const groups = Array.from({ length: 60 }, () => addOne(steps))
  await groups[4]
  // While the second group is on its way.
  const before = engine.rowNow(at('n'))
  const next = nextPut(before, newVersionId(runtime), { head: Buffer.from('100') })
  await engine.cas([{ address: at('n'), seen: before!.version, next }])
  const answers = await Promise.all(groups)
  assert.equal(answers.at(-1), 155)
  // The first group is read for, and the eight behind the second one, which is refused once.
  assert.deepEqual(calls, { read: 9, cas: 13 })
})

test('a step that changes nothing, and waited, sees what another server has done meanwhile', async () => {
  const { calls, server } = await counted(1)
  const [one, two] = [server(), server()]
  const first = addOne(one)
  const looked = look(one)
  await first
  assert.equal(await addOne(two), 2)
  assert.ok([1, 2].includes(await looked))
  assert.equal(calls.read, 3)
  // In one group with a change of the row it is answered as of that change.
  const { calls: grouped, server: another } = await counted(2)
  const steps = another()
  assert.deepEqual(
    await Promise.all([addOne(steps), addOne(steps), addOne(steps), look(steps)]),
    [1, 2, 3, 3],
  )
  assert.deepEqual(grouped, { read: 1, cas: 2 })
})

test('several rows that are only looked at for a change of none are compared: a read may show them as of several moments', async () => {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  const write = async (row: string, text: string) => {
    const before = engine.rowNow(at(row))
    const next = nextPut(before, newVersionId(runtime), { head: Buffer.from(text) })
    await engine.cas([{ address: at(row), seen: before?.version ?? 'absent', next }])
  }
  await write('a', 'old')
  await write('b', 'old')
  let isTorn = true
  const read: MemoryEngine['read'] = async (addresses, consistency) => {
    const [a] = await engine.read(addresses.slice(0, 1), consistency)
    if (isTorn) {
      isTorn = false
      await write('a', 'new')
      await write('b', 'new')
    }
    return [a, ...(await engine.read(addresses.slice(1), consistency))]
  }
  const sure = new SureCas({ runtime, engine: { cas: (changes) => engine.cas(changes), read } })
  const torn = Object.assign(Object.create(engine) as MemoryEngine, {
    read,
    scopeOf: engine.scopeOf.bind(engine),
  })
  const steps = new ScopeSteps({ engine: torn, runtime, sure, behind: () => undefined })
  const answer = await steps.take({
    addresses: [at('a'), at('b')],
    decide: (rows) => ({
      answer: ['a', 'b'].map((row) => Buffer.from(rows.row(at(row))?.cells.head ?? []).toString()),
      next: [{ address: at('a') }, { address: at('b') }],
    }),
  })
  assert.deepEqual(answer, ['new', 'new'])
})
