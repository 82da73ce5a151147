// Is there an order in which the clients that committed could have run one after another, each alone, so that each saw what it
// saw and the table ended as it did? Found by trying: with three clients there are six.
import type { Client, Plain, Row, Seen, Step } from './scenes.js'

export interface Witnessed {
  readonly client: Client
  readonly at: number
  /** What the store answered, by the names of the steps. */
  readonly seen: Seen
}

export function serialOrder(
  rows: readonly Row[],
  committed: readonly Witnessed[],
  final: readonly Row[],
): readonly Witnessed[] | undefined {
  return permutations(committed).find((order) => {
    const state = new Map(rows.map((row) => [String(row['id']), row]))
    return order.every((each) => explains(state, each)) && sameRows([...state.values()], final)
  })
}

/** Runs one client alone, and says whether it would have seen the same. */
function explains(state: Map<string, Row>, { client, seen }: Witnessed): boolean {
  const own: Record<string, readonly Row[]> = {}
  const writes: ((state: Map<string, Row>) => void)[] = []
  for (const step of client.steps) {
    if (step.do === 'get' || step.do === 'find') {
      own[step.as] = readRows([...state.values()], step)
      if (!sameRows(own[step.as]!, seen[step.as] ?? [])) return false
    } else if (step.do === 'put') {
      const row = step.row(own)
      if (row !== undefined) writes.push((rows) => rows.set(String(row['id']), row))
    } else if (step.do === 'add') {
      const { id, attribute, by } = step
      writes.push((rows) => {
        const row = rows.get(id) ?? { id }
        rows.set(id, { ...row, [attribute]: Number(row[attribute] ?? 0) + by })
      })
    }
  }
  for (const write of writes) write(state)
  return true
}

export function readRows(rows: readonly Row[], step: Extract<Step, { do: 'get' | 'find' }>): readonly Row[] {
  return step.do === 'get'
    ? rows.filter((row) => row['id'] === step.id)
    : rows.filter((row) => row[step.attribute] === step.value)
}

function sameRows(one: readonly Row[], other: readonly Row[]): boolean {
  const texts = (rows: readonly Row[]): string =>
    rows
      .map(rowText)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join('\n')
  return texts(one) === texts(other)
}

const rowText = (row: Row): string =>
  JSON.stringify(
    Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1)) satisfies readonly (readonly [
      string,
      Plain,
    ])[],
  )

function permutations<T>(values: readonly T[]): readonly (readonly T[])[] {
  if (values.length <= 1) return [values]
  return values.flatMap((value, at) => permutations(values.toSpliced(at, 1)).map((rest) => [value, ...rest]))
}
