// Small named records beside the items, on an engine: the catalogue of tables, and claims. All of them in one partition, so that
// several change in one step.
import type { Engine } from '../../engine/engine.js'
import { asBuffer } from '../../line/record.js'
import type { MetaEntry } from '../contract/storage-node.js'
import { META_SPACE, metaNameOf, metaRange, metaRow } from './rows.js'
import type { StepDecision, ScopeSteps } from './scope-steps.js'

const PAGE_ROWS = 1000

export class EngineMeta {
  readonly #engine: Engine
  readonly #steps: ScopeSteps

  constructor(engine: Engine, steps: ScopeSteps) {
    this.#engine = engine
    this.#steps = steps
  }

  async read(prefix: string): Promise<readonly Required<MetaEntry>[]> {
    const entries: Required<MetaEntry>[] = []
    const range = metaRange(prefix)
    for (let { from } = range; ;) {
      const { rows, more } = await this.#engine.range({
        space: META_SPACE,
        ...range,
        from,
        reverse: false,
        rowsMax: PAGE_ROWS,
      })
      for (const { address, cells } of rows)
        if (cells.head !== undefined) entries.push({ name: metaNameOf(address), value: cells.head })
      const last = rows.at(-1)
      if (!more || last === undefined) return entries
      from = `${last.address.row}\0` as typeof from
    }
  }

  async write(entries: readonly MetaEntry[]): Promise<void> {
    await this.#take(entries, undefined)
  }

  writeIf(seen: MetaEntry, entries: readonly MetaEntry[]): Promise<boolean> {
    return this.#take(entries, seen)
  }

  #take(entries: readonly MetaEntry[], seen: MetaEntry | undefined): Promise<boolean> {
    const names = new Set([...entries.map(({ name }) => name), ...(seen ? [seen.name] : [])])
    return this.#steps.take({
      addresses: Array.from(names, metaRow),
      decide: (rows): StepDecision<boolean> => {
        if (seen !== undefined) {
          const there = rows.row(metaRow(seen.name))?.cells.head
          const isSame =
            there === undefined || seen.value === undefined
              ? there === seen.value
              : asBuffer(there).equals(seen.value)
          if (!isSame) return { answer: false }
        }
        const changed = new Map(entries.map((entry) => [entry.name, entry]))
        return {
          answer: true,
          next: [
            ...(seen !== undefined && !changed.has(seen.name) ? [{ address: metaRow(seen.name) }] : []),
            ...Array.from(changed.values(), ({ name, value }) => ({
              address: metaRow(name),
              cells: value === undefined ? ('removed' as const) : { head: value },
            })),
          ],
        }
      },
    })
  }
}
