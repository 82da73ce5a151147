// What every compare-and-set engine promises (src/engine/engine.ts), run for each adapter while nothing fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpaceMissing } from '../../src/engine/engine.js'
import type {
  Cells,
  Engine,
  EngineRow,
  RowAddress,
  RowChange,
  RowPage,
  RowPut,
  VersionId,
} from '../../src/engine/engine.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { seededRandom } from './seeded-random.js'

/** An engine and names of spaces that were never used in it. */
export interface OpenedEngine {
  readonly engine: Engine
  /** Closes it, and removes what the test has left. */
  readonly close: () => Promise<void>
}

let spaces = 0
let versions = 0
/** Unique in this process and, by the time it started, on a ring that is kept from run to run. */
const RUN = process.pid.toString(36) + Math.trunc(performance.timeOrigin).toString(36)
const newSpace = (): string => `test_${RUN}_${++spaces}`
const newVersion = (): VersionId => (++versions).toString(16).padStart(24, '0') as VersionId

const bytes = (text: string): KeyBytes => text as KeyBytes
const value = (text: string): Uint8Array => Buffer.from(text)
const text = (cell: Uint8Array | undefined): string | undefined => cell && Buffer.from(cell).toString()
const textsOf = ({ cells }: EngineRow): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(cells as Required<Cells>).map(([name, cell]) => [name, text(cell)]))
const rowsOf = ({ rows }: RowPage): string[] => rows.map(({ address }) => address.row)

function putOf(cells: Readonly<Record<string, string | null>>, past: readonly VersionId[] = []): RowPut {
  const given = Object.entries(cells).map(([name, cell]) => [name, cell === null ? null : value(cell)])
  return { version: newVersion(), past, cells: Object.fromEntries(given) as RowPut['cells'] }
}

export function engineSuite(name: string, open: () => Promise<OpenedEngine>): void {
  const scenario = (
    title: string,
    run: (engine: Engine, at: (partition: string, row: string) => RowAddress, space: string) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async () => {
      const { engine, close } = await open()
      try {
        const space = newSpace()
        await engine.createSpace(space)
        await run(
          engine,
          (partition, row) => ({ space, partition: bytes(partition), row: bytes(row) }),
          space,
        )
        await engine.dropSpace(space)
      } finally {
        await close()
      }
    })
  }
  const applied = async (engine: Engine, ...changes: RowChange[]): Promise<void> =>
    assert.deepEqual(await engine.cas(changes), { outcome: 'applied' })

  scenario('a row is read back as it was put, with its version and those before', async (engine, at) => {
    const [address, none] = [at('p', 'r'), at('p', 's')]
    const first = putOf({ head: 'one', left: 'image' })
    await applied(engine, { address, seen: 'absent', next: first })
    const [row, absent] = await engine.read([address, none], 'consistent')
    assert.ok(row)
    assert.equal(absent, undefined)
    assert.deepEqual(row.address, address)
    assert.deepEqual([row.version, row.past], [first.version, []])
    assert.deepEqual(textsOf(row), { head: 'one', left: 'image' })
    const past = [first.version, newVersion(), newVersion()]
    const second = putOf({ head: 'two' }, past)
    await applied(engine, { address, seen: first.version, next: second })
    const [again] = await engine.read([address], 'consistent')
    assert.deepEqual([again?.version, again?.past], [second.version, past])
  })

  scenario('cells that a change does not name stay, and null removes one', async (engine, at) => {
    const address = at('p', 'r')
    const first = putOf({ head: '1', left: 'old image' })
    const second = putOf({ head: '2', right: 'intended image' })
    const third = putOf({ head: '3', left: null })
    await applied(engine, { address, seen: 'absent', next: first })
    await applied(engine, { address, seen: first.version, next: second })
    const [both] = await engine.read([address], 'consistent')
    assert.deepEqual(both && textsOf(both), { head: '2', left: 'old image', right: 'intended image' })
    await applied(engine, { address, seen: second.version, next: third })
    const [one] = await engine.read([address], 'consistent')
    assert.deepEqual(one && textsOf(one), { head: '3', right: 'intended image' })
  })

  scenario(
    'a change that expected something else is refused, and shows what is there',
    async (engine, at) => {
      const address = at('p', 'r')
      const first = putOf({ head: 'first' })
      await applied(engine, { address, seen: 'absent', next: first })
      for (const seen of ['absent', newVersion()] as const) {
        const outcome = await engine.cas([{ address, seen, next: putOf({ head: 'never' }) }])
        assert.ok(outcome.outcome === 'refused')
        assert.deepEqual(
          [outcome.rows[0]?.version, text(outcome.rows[0]?.cells.head)],
          [first.version, 'first'],
        )
      }
      const nothing = await engine.cas([
        { address: at('p', 'none'), seen: newVersion(), next: putOf({ head: 'never' }) },
      ])
      assert.deepEqual(nothing, { outcome: 'refused', rows: [undefined] })
      const [row] = await engine.read([address], 'consistent')
      assert.equal(row?.version, first.version)
    },
  )

  scenario('several rows of a partition change together or not at all', async (engine, at) => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((row) => at('p', row)) as [
      RowAddress,
      RowAddress,
      RowAddress,
      RowAddress,
    ]
    const [first, second, looked] = [putOf({ head: 'a1' }), putOf({ head: 'b1' }), putOf({ head: 'd1' })]
    await applied(
      engine,
      { address: a, seen: 'absent', next: first },
      { address: b, seen: 'absent', next: second },
      { address: d, seen: 'any', next: looked },
    )
    const refused = await engine.cas([
      { address: a, seen: first.version, next: putOf({ head: 'a2' }) },
      { address: b, seen: newVersion(), next: putOf({ head: 'b2' }) },
      { address: c, seen: 'any', next: putOf({ head: 'c2' }) },
    ])
    assert.ok(refused.outcome === 'refused')
    assert.deepEqual(
      refused.rows.map((row) => text(row?.cells.head)),
      ['a1', 'b1', undefined],
    )
    await applied(
      engine,
      { address: a, seen: first.version, next: putOf({ head: 'a3' }) },
      { address: b, seen: second.version, next: 'removed' },
      { address: c, seen: 'any', next: putOf({ head: 'c3' }) },
      { address: d, seen: looked.version },
    )
    const rows = await engine.read([a, b, c, d], 'consistent')
    assert.deepEqual(
      rows.map((row) => text(row?.cells.head)),
      ['a3', undefined, 'c3', 'd1'],
    )
  })

  scenario('a row that was removed is absent, and may be put again', async (engine, at) => {
    const address = at('p', 'r')
    const first = putOf({ head: '1', left: 'image' })
    await applied(engine, { address, seen: 'absent', next: first })
    await applied(engine, { address, seen: first.version, next: 'removed' })
    assert.deepEqual(await engine.read([address], 'consistent'), [undefined])
    await applied(engine, { address, seen: 'absent', next: putOf({ head: '2' }) })
    const [row] = await engine.read([address], 'consistent')
    assert.deepEqual(row && textsOf(row), { head: '2' })
  })

  scenario('of many that expect the same, sent at once, exactly one is applied', async (engine, at) => {
    const address = at('p', 'r')
    const first = putOf({ head: '0' })
    await applied(engine, { address, seen: 'absent', next: first })
    const puts = Array.from({ length: 8 }, (_, n) => putOf({ head: String(n) }, [first.version]))
    const outcomes = await Promise.all(
      puts.map((next) => engine.cas([{ address, seen: first.version, next }])),
    )
    // Under contention an engine may not know of some; the row then tells.
    const [row] = await engine.read([address], 'consistent')
    const winner = puts.findIndex(({ version }) => version === row?.version)
    assert.ok(winner >= 0)
    assert.ok(outcomes[winner]?.outcome !== 'refused')
    assert.ok(outcomes.every(({ outcome }, n) => n === winner || outcome !== 'applied'))
  })

  scenario(
    'rows of a partition come in the order of their bytes, in both directions',
    async (engine, at, space) => {
      const rows = [
        '',
        '\0',
        '\0\xff',
        'a',
        'a\0',
        'aa',
        'b',
        '\x7f',
        '\x80',
        '\xff',
        '\xff\0',
        '\xff\xff',
      ].map(bytes)
      await applied(
        engine,
        ...rows.toReversed().map((row) => ({
          address: at('p', row),
          seen: 'absent' as const,
          next: putOf({ head: 'x' }),
        })),
      )
      await applied(engine, { address: at('q', 'm'), seen: 'absent', next: putOf({ head: 'other' }) })
      const partition = bytes('p')
      const range = async (from: string, to: string | undefined, reverse: boolean, rowsMax = 100) =>
        engine.range({ space, partition, from: bytes(from), ...(to && { to: bytes(to) }), reverse, rowsMax })
      assert.deepEqual(rowsOf(await range('', undefined, false)), rows)
      assert.deepEqual(rowsOf(await range('', undefined, true)), rows.toReversed())
      assert.deepEqual(rowsOf(await range('a', 'b', false)), ['a', 'a\0', 'aa'])
      assert.deepEqual(rowsOf(await range('a', '\x80', true)), ['\x7f', 'b', 'aa', 'a\0', 'a'])
      const page = await range('a', undefined, false, 2)
      assert.deepEqual([rowsOf(page), page.more], [['a', 'a\0'], true])
      const last = await range('\xff\xff', undefined, false, 5)
      assert.deepEqual([rowsOf(last), last.more], [['\xff\xff'], false])
    },
  )

  scenario(
    'a walk through a space meets every row once, and its parts make up the whole',
    async (engine, at, space) => {
      const random = seededRandom(7)
      const places: string[] = []
      for (let n = 0; n < 40; n++) {
        const partition = String.fromCharCode(...Array.from({ length: 6 }, () => random(256))) + n
        const rows = Array.from({ length: 1 + (n % 3) }, (_, row) => at(partition, `r${row}`))
        await applied(
          engine,
          ...rows.map((address) => ({ address, seen: 'absent' as const, next: putOf({ head: 'x' }) })),
        )
        places.push(...rows.map(({ row }) => `${partition}/${row}`))
      }
      const walk = async (part: { fromPart?: number; toPart?: number }, rowsMax: number) => {
        const met: string[] = []
        let after: RowAddress | undefined
        for (let page = 0; page < 200; page++) {
          const {
            rows,
            more,
            after: next,
          } = await engine.range({ space, ...part, ...(after && { after }), rowsMax })
          met.push(...rows.map(({ address }) => `${address.partition}/${address.row}`))
          if (!more) return met
          after = next ?? rows.at(-1)?.address
        }
        throw new Error('a walk without end')
      }
      const whole = await walk({}, 7)
      assert.deepEqual(whole.toSorted(), places.toSorted())
      assert.deepEqual(await walk({}, 1000), whole)
      const third = Math.floor(2 ** 32 / 3)
      const parts = [{ toPart: third }, { fromPart: third, toPart: 2 * third }, { fromPart: 2 * third }]
      const each = await Promise.all(parts.map((part) => walk(part, 5)))
      assert.deepEqual(each.flat().toSorted(), places.toSorted())
      const again = await Promise.all(parts.map((part) => walk(part, 100)))
      assert.deepEqual(again, each)
    },
  )

  scenario(
    'rows that were written plainly are there, and once removed never come back',
    async (engine, at, space) => {
      const [a, b] = [at('p', 'a'), at('p', 'b')]
      const written = await engine.write([
        { address: a, head: value('1') },
        { address: b, head: value('2') },
        { address: at('q', 'c'), head: value('3') },
      ])
      assert.deepEqual(written, { outcome: 'applied' })
      const rows = await engine.read([a, b], 'consistent')
      assert.deepEqual(
        rows.map((row) => text(row?.cells.head)),
        ['1', '2'],
      )
      assert.deepEqual(await engine.write([{ address: a }]), { outcome: 'applied' })
      assert.deepEqual(await engine.write([{ address: a, head: value('late') }]), { outcome: 'applied' })
      const range = { space, partition: bytes('p'), from: bytes(''), reverse: false, rowsMax: 10 }
      assert.deepEqual(rowsOf(await engine.range(range)), ['b'])
    },
  )

  scenario('large cells and long keys come back as they were', async (engine, at) => {
    const random = seededRandom(3)
    const image = Buffer.from(Uint8Array.from({ length: 420_000 }, () => random(256)))
    const address = at('\xff'.repeat(300), 'k'.repeat(2100))
    const next: RowPut = { version: newVersion(), past: [], cells: { head: Buffer.alloc(0), left: image } }
    await applied(engine, { address, seen: 'absent', next })
    const [row] = await engine.read([address], 'consistent')
    assert.equal(row?.cells.head?.length, 0)
    assert.ok(row.cells.left && image.equals(row.cells.left))
  })

  test(`${name}: a space may be created twice; one that was dropped or never made is missing`, async () => {
    const { engine, close } = await open()
    try {
      const space = newSpace()
      const address: RowAddress = { space, partition: bytes('p'), row: bytes('r') }
      const cas = (): Promise<unknown> =>
        engine.cas([{ address, seen: 'absent', next: putOf({ head: '1' }) }])
      await assert.rejects(cas(), SpaceMissing)
      await Promise.all([engine.createSpace(space), engine.createSpace(space)])
      assert.deepEqual(await cas(), { outcome: 'applied' })
      await engine.dropSpace(space)
      await assert.rejects(cas(), SpaceMissing)
      await assert.rejects(engine.read([address], 'consistent'), SpaceMissing)
      await engine.dropSpace(space)
    } finally {
      await close()
    }
  })
}
