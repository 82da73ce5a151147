// Where a processor profile spent its time: self times, by function and by the part of the program that the function
// belongs to. What V8 says of idling is left out: the rest is what the thread did.
import type { Profiler } from 'node:inspector'

/** What is read of a profile; a .cpuprofile file holds the same. */
export type CpuProfile = Pick<Profiler.Profile, 'nodes' | 'samples' | 'timeDeltas'>

export interface FunctionTime {
  /** With where it stands: `parse, model/json.js:12`. */
  readonly name: string
  readonly micros: number
}

export interface SelfTimes {
  readonly busyMicros: number
  readonly idleMicros: number
  /** All of the busy time, the longest first. */
  readonly parts: readonly FunctionTime[]
  /** The longest of it. */
  readonly functions: readonly FunctionTime[]
}

/** As many as tell something. */
const FUNCTIONS_MAX = 15
const IDLE = '(idle)'
/** What V8 has names of its own for. */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'the system, and native code that has no name'],
  ['(root)', 'the system, and native code that has no name'],
])

type ProfileNode = CpuProfile['nodes'][number]

export function selfTimes({ nodes, samples = [], timeDeltas = [] }: CpuProfile): SelfTimes {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const callerOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const parts = new Map<string, number>()
  const functions = new Map<string, number>()
  let busyMicros = 0
  let idleMicros = 0
  samples.forEach((id, at) => {
    const node = byId.get(id)
    // A sample stands until the next one.
    const micros = timeDeltas[at + 1]
    if (node === undefined || micros === undefined || micros <= 0) return
    if (node.callFrame.functionName === IDLE) {
      idleMicros += micros
      return
    }
    busyMicros += micros
    add(parts, partOf(node, callerOf, byId), micros)
    add(functions, functionName(node), micros)
  })
  return {
    busyMicros,
    idleMicros,
    parts: longest(parts, Infinity),
    functions: longest(functions, FUNCTIONS_MAX),
  }
}

function add(times: Map<string, number>, name: string, micros: number): void {
  times.set(name, (times.get(name) ?? 0) + micros)
}

const longest = (times: ReadonlyMap<string, number>, count: number): readonly FunctionTime[] =>
  [...times]
    .map(([name, micros]) => ({ name, micros }))
    .toSorted((a, b) => b.micros - a.micros)
    .slice(0, count)

/** A native function has no place of its own: its time is that of whoever called it. */
function partOf(
  node: ProfileNode,
  callerOf: ReadonlyMap<number, number>,
  byId: ReadonlyMap<number, ProfileNode>,
): string {
  for (let at: ProfileNode | undefined = node; at !== undefined; at = byId.get(callerOf.get(at.id) ?? -1)) {
    const { functionName, url } = at.callFrame
    const outside = OUTSIDE.get(functionName)
    if (outside !== undefined) return outside
    if (url !== '') return partOfUrl(url)
  }
  return OUTSIDE.get('(program)')!
}

/** A folder of this package, another package, or Node itself. */
export function partOfUrl(url: string): string {
  if (url.startsWith('node:')) return 'Node: sockets, streams, timers'
  const installed = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1]
  if (installed !== undefined && installed !== 'seriatim') return `package ${installed}`
  return /\/dist\/src\/([^/]+?)(?:\.js)?(?:\/|$)/.exec(url)?.[1] ?? url
}

function functionName({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName === '' ? '(no name)' : functionName
  if (OUTSIDE.has(name)) return OUTSIDE.get(name)!
  if (url === '') return `${name}, native`
  const place = url
    .replace(/^.*\/dist\/src\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^file:\/\//, '')
  return `${name}, ${place}:${lineNumber + 1}`
}
