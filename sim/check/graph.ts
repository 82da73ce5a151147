// Directed graphs with kinds of edges: strongly connected components, and short cycles within them.

export interface Edge<Kind extends string> {
  readonly to: number
  readonly kind: Kind
  /** Why one comes before the other, for the explanation of a cycle. */
  readonly why: string
}

export interface Step<Kind extends string> extends Edge<Kind> {
  readonly from: number
}

export class Graph<Kind extends string> {
  readonly #edges: Edge<Kind>[][]

  constructor(nodes: number) {
    this.#edges = Array.from({ length: nodes }, () => [])
  }

  add(from: number, to: number, kind: Kind, why: string): void {
    const edges = this.#edges[from] as Edge<Kind>[]
    if (from !== to && !edges.some((edge) => edge.to === to && edge.kind === kind))
      edges.push({ to, kind, why })
  }

  edgesOf(node: number): readonly Edge<Kind>[] {
    return this.#edges[node] as Edge<Kind>[]
  }

  /** The components of more than one node, by edges of these kinds (Tarjan, without recursion). */
  components(kinds: ReadonlySet<Kind>): number[][] {
    const count = this.#edges.length
    const order = new Int32Array(count).fill(-1)
    const low = new Int32Array(count)
    const open = new Uint8Array(count)
    const stack: number[] = []
    const found: number[][] = []
    let next = 0
    for (let root = 0; root < count; root++) {
      if (order[root] !== -1) continue
      const path: { readonly node: number; at: number }[] = [{ node: root, at: 0 }]
      while (path.length > 0) {
        const frame = path.at(-1)!
        const { node } = frame
        if (frame.at === 0) {
          order[node] = low[node] = next++
          open[node] = 1
          stack.push(node)
        }
        const edge = this.edgesOf(node)[frame.at++]
        if (edge !== undefined) {
          if (!kinds.has(edge.kind)) continue
          if (order[edge.to] === -1) path.push({ node: edge.to, at: 0 })
          else if (open[edge.to] === 1) low[node] = Math.min(low[node]!, order[edge.to]!)
          continue
        }
        path.pop()
        const parent = path.at(-1)
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node]!, low[node]!)
        if (low[node] !== order[node]) continue
        const component: number[] = []
        for (let member = -1; member !== node;) {
          member = stack.pop()!
          open[member] = 0
          component.push(member)
        }
        if (component.length > 1) found.push(component)
      }
    }
    return found
  }

  /**
   * A shortest cycle within the component that begins with an edge of a kind in `first` and goes back by edges of the
   * kinds in `back`.
   */
  cycle(
    component: readonly number[],
    first: ReadonlySet<Kind>,
    back: ReadonlySet<Kind>,
  ): Step<Kind>[] | undefined {
    const members = new Set(component)
    let best: Step<Kind>[] | undefined
    let tries = 0
    for (const from of component) {
      for (const edge of this.edgesOf(from)) {
        if (!first.has(edge.kind) || !members.has(edge.to)) continue
        if (++tries > CYCLE_TRIES_MAX) return best
        const path = this.#path(edge.to, from, members, back)
        if (path !== undefined && (best === undefined || path.length + 1 < best.length))
          best = [{ from, ...edge }, ...path]
        if (best?.length === 2) return best
      }
    }
    return best
  }

  #path(
    from: number,
    to: number,
    members: ReadonlySet<number>,
    kinds: ReadonlySet<Kind>,
  ): Step<Kind>[] | undefined {
    const reachedBy = new Map<number, Step<Kind> | undefined>([[from, undefined]])
    for (const node of reachedBy.keys()) {
      if (node === to) break
      for (const edge of this.edgesOf(node)) {
        if (kinds.has(edge.kind) && members.has(edge.to) && !reachedBy.has(edge.to))
          reachedBy.set(edge.to, { from: node, ...edge })
      }
    }
    if (!reachedBy.has(to)) return undefined
    const path: Step<Kind>[] = []
    for (let step = reachedBy.get(to); step !== undefined; step = reachedBy.get(step.from)) path.unshift(step)
    return path
  }
}

/** In a broken history a component can be very large; one cycle of it says enough. */
const CYCLE_TRIES_MAX = 200
