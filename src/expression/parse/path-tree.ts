// Paths that do not clash, merged into one tree: what happens to a document is then one walk down the tree, and a list
// or map that several paths lead into is visited, and copied, once.
import type { Path } from './paths.js'

/** Leaves where paths end; all steps of one branch are names, or all are indexes. */
export type PathTree<Leaf> =
  | { readonly type: 'leaf'; readonly leaf: Leaf }
  | { readonly type: 'members'; readonly branches: ReadonlyMap<string, PathTree<Leaf>> }
  /** In ascending order. */
  | { readonly type: 'elements'; readonly branches: ReadonlyMap<number, PathTree<Leaf>> }

/** The branches by the attributes of the item, in the order of the entries. */
export function pathTreeOf<Leaf>(
  entries: Iterable<readonly [path: Path, leaf: Leaf]>,
): ReadonlyMap<string, PathTree<Leaf>> {
  const root: Draft<Leaf> = new Map()
  for (const [path, leaf] of entries) {
    let branches = root
    for (const step of path.slice(0, -1)) {
      let next = branches.get(step)
      if (!(next instanceof Map)) branches.set(step, (next = new Map()))
      branches = next
    }
    branches.set(path.at(-1)!, { leaf })
  }
  return finished(root) as ReadonlyMap<string, PathTree<Leaf>>
}

type Draft<Leaf> = Map<string | number, Draft<Leaf> | { readonly leaf: Leaf }>

function finished<Leaf>(draft: Draft<Leaf>): ReadonlyMap<string | number, PathTree<Leaf>> {
  const branches = [...draft].map(([step, next]) => [step, finishedBranch(next)] as const)
  if (typeof branches[0]?.[0] === 'number') branches.sort(([a], [b]) => (a as number) - (b as number))
  return new Map(branches)
}

function finishedBranch<Leaf>(draft: Draft<Leaf> | { readonly leaf: Leaf }): PathTree<Leaf> {
  if (!(draft instanceof Map)) return { type: 'leaf', leaf: draft.leaf }
  const branches = finished(draft)
  const [first] = branches.keys()
  return typeof first === 'number'
    ? { type: 'elements', branches: branches as ReadonlyMap<number, PathTree<Leaf>> }
    : { type: 'members', branches: branches as ReadonlyMap<string, PathTree<Leaf>> }
}
