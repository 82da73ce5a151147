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
  const root = new Map<string, PathTree<Leaf>>()
  let hasIndexes = false
  for (const [path, leaf] of entries) {
    let branches: Branches<Leaf> = root
    for (let at = 0; at + 1 < path.length; at++) {
      const type = typeof path[at + 1] === 'number' ? 'elements' : 'members'
      if (type === 'elements') hasIndexes = true
      branches = branchesAt(branches, path[at]!, type)
    }
    branches.set(path.at(-1)!, { type: 'leaf', leaf })
  }
  if (hasIndexes) for (const tree of root.values()) sortElements(tree)
  return root
}

type Branches<Leaf> = Map<string | number, PathTree<Leaf>>

/** Of the list or map at that step. Paths that take the same place for both clash, and are refused before. */
function branchesAt<Leaf>(
  branches: Branches<Leaf>,
  step: string | number,
  type: 'members' | 'elements',
): Branches<Leaf> {
  const known = branches.get(step)
  if (known !== undefined && known.type !== 'leaf') return known.branches as Branches<Leaf>
  const next: Branches<Leaf> = new Map()
  branches.set(step, { type, branches: next } as PathTree<Leaf>)
  return next
}

function sortElements<Leaf>(tree: PathTree<Leaf>): void {
  if (tree.type === 'leaf') return
  const branches = tree.branches as Branches<Leaf>
  for (const branch of branches.values()) sortElements(branch)
  if (tree.type === 'members') return
  const entries = [...branches].toSorted(([a], [b]) => (a as number) - (b as number))
  branches.clear()
  for (const [index, branch] of entries) branches.set(index, branch)
}
