import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemWaits, waitLimits, type WaitedItem } from '../../src/router/reads/item-waits.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import type { Item } from '../../src/model/value.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { ItemRecord } from '../../src/storage/contract/storage-node.js'

/** An item that the test changes, and a count of what is done with it. */
function world() {
  const clock = manualClock(1_900_000_000_000)
  const runtime: Runtime = {
    clock,
    randomBytes: () => new Uint8Array(),
    defer: (callback) => void setImmediate(callback),
  }
  const seen = { parses: 0, conditions: 0, watches: 0 }
  let record: ItemRecord | undefined
  const watching = new Set<() => void>()
  const waits = new ItemWaits(({ json }) => {
    seen.parses++
    return JSON.parse(Buffer.from(json).toString()) as Item
  })
  const item: WaitedItem = {
    id: 'a',
    read: () => Promise.resolve(record),
    watch: (changed) => {
      seen.watches++
      watching.add(changed)
      return { end: () => watching.delete(changed) }
    },
  }
  return {
    clock,
    seen,
    waits,
    watching,
    write: (n: number): void => {
      const json = Buffer.from(JSON.stringify({ n: { N: String(n) } }))
      record = { json, itemBytes: 3, timestamp: n } as unknown as ItemRecord
      for (const changed of watching) changed()
    },
    untilAbove: (n: number, timeoutMs = 1_000) =>
      waits.until(
        runtime,
        item,
        (image) => {
          seen.conditions++
          return Number((image?.['n'] as { N: string } | undefined)?.N ?? 0) > n
        },
        timeoutMs,
      ),
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('WaitForItem: a change is read and parsed once for all that wait for the item', async () => {
  const { seen, untilAbove, write, watching } = world()
  write(1)
  const waiting = Array.from({ length: 500 }, () => untilAbove(2))
  await turns(1)
  const { parses } = seen
  assert.equal(seen.watches, 1, 'one watch for the item')
  write(2)
  await turns(500 / waitLimits.conditionsPerTurn + 2)
  assert.equal(seen.parses - parses, 1)
  write(3)
  const outcomes = await Promise.all(waiting)
  assert.equal(seen.parses - parses, 2)
  const replies = new Set(outcomes.map(({ met, image }) => image.reply(met)))
  assert.equal(replies.size, 1, 'and all get the same bytes')
  assert.deepEqual(JSON.parse(Buffer.from([...replies][0]!).toString()), {
    Met: true,
    Item: { n: { N: '3' } },
  })
  assert.equal(watching.size, 0)
})

test('WaitForItem: the item is parsed once for all that begin to wait at once, and their conditions are evaluated a few in a turn', async () => {
  const { seen, untilAbove, write } = world()
  write(1)
  const waiting = Array.from({ length: 500 }, () => untilAbove(1))
  await turns(1)
  assert.ok(seen.conditions <= 2 * waitLimits.conditionsPerTurn, `${seen.conditions} in a turn or two`)
  await turns(500 / waitLimits.conditionsPerTurn + 4)
  assert.equal(seen.conditions, 500)
  assert.ok(seen.parses <= 2, 'the first one may have been looked at by itself')
  write(2)
  assert.ok((await Promise.all(waiting)).every(({ met }) => met))
})

test('WaitForItem: who comes while others are looked at does not miss what changed since', async () => {
  const { seen, untilAbove, write } = world()
  write(1)
  const waiting = Array.from({ length: 100 }, () => untilAbove(5))
  await turns(2)
  write(3)
  const late = untilAbove(2)
  assert.equal((await late).met, true)
  assert.ok(seen.conditions > 100)
  write(6)
  assert.ok((await Promise.all(waiting)).every(({ met }) => met))
})

const hops = async (count: number): Promise<void> => {
  for (let hop = 0; hop < count; hop++) await Promise.resolve()
}

// Some of these moments lie between the end of a look and that of what waited for it.
test('WaitForItem: whoever comes in any moment of a look is looked at', async () => {
  for (let moment = 0; moment < 30; moment++) {
    const { clock, untilAbove, write } = world()
    write(1)
    const waiting = untilAbove(9, 100)
    await hops(moment)
    const late = untilAbove(0, 100)
    await turns(5)
    clock.advance(100)
    assert.equal((await late).met, true, `after ${moment} steps`)
    assert.equal((await waiting).met, false)
  }
})

test('WaitForItem: a change in any moment of a look at the one before it is seen', async () => {
  for (let moment = 0; moment < 30; moment++) {
    const { clock, untilAbove, write } = world()
    write(1)
    const waiting = untilAbove(2, 100)
    await turns(2)
    write(2)
    await hops(moment)
    write(3)
    await turns(5)
    clock.advance(100)
    assert.equal((await waiting).met, true, `after ${moment} steps`)
  }
})

test('WaitForItem: conditions are evaluated a few in a turn, and changes meanwhile are looked at once', async () => {
  const { seen, untilAbove, write } = world()
  const waiting = Array.from({ length: 100 }, () => untilAbove(9))
  await turns(100 / waitLimits.conditionsPerTurn + 2)
  assert.equal(seen.conditions, 100, 'the first look of each')
  seen.conditions = 0
  write(1)
  await turns(1)
  assert.ok(seen.conditions <= 2 * waitLimits.conditionsPerTurn, `${seen.conditions} in a turn or two`)
  for (let n = 2; n < 9; n++) write(n)
  await turns(60)
  assert.equal(seen.conditions, 200, 'the look under way, and one for all later changes')
  write(10)
  assert.ok((await Promise.all(waiting)).every(({ met }) => met))
})

test('WaitForItem: so many wait for one item; the next is answered at once', async () => {
  const { clock, untilAbove, write, seen } = world()
  write(1)
  const waiting = Array.from({ length: waitLimits.waitsOfItemMax }, () => untilAbove(2, 100))
  await turns(1)
  assert.equal((await untilAbove(2, 100)).met, false)
  const { parses } = seen
  clock.advance(100)
  const outcomes = await Promise.all(waiting)
  assert.ok(outcomes.every(({ met }) => !met))
  assert.equal(new Set(outcomes.map(({ image }) => image)).size, 1, 'those of one turn are answered together')
  assert.equal(seen.parses, parses)
})

test('WaitForItem: the first look comes when no change is missed any more, and the watch is ended', async () => {
  const clock = manualClock(1_900_000_000_000)
  const runtime: Runtime = {
    clock,
    randomBytes: () => new Uint8Array(),
    defer: (callback) => void setImmediate(callback),
  }
  const seen: string[] = []
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const item: WaitedItem = {
    id: 'a',
    read: () => {
      seen.push('read')
      return Promise.resolve(undefined)
    },
    watch: () => ({ begun, end: () => void seen.push('ended') }),
  }
  const waiting = new ItemWaits().until(runtime, item, () => true, 1_000)
  await turns(3)
  assert.deepEqual(seen, [])
  begin()
  assert.equal((await waiting).met, true)
  assert.deepEqual(seen, ['read', 'ended'])
})
