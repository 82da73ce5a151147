// Parts of an item, each at its place in the structure around it; a list keeps only the elements asked for.
import {
  attribute,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
} from '../../model/value.js'
import { pathTreeOf, type PathTree } from '../parse/path-tree.js'
import { resolvePath, type Path } from '../parse/paths.js'
import type { BoundProjection } from '../parse/types.js'

/** The parts of one item. For many items, make one `projector`. */
export function project(projection: BoundProjection, item: Item): Item {
  return projector(projection)(item)
}

export function projector(projection: BoundProjection): (item: Item) => Item {
  const { tree, bindings } = projection
  return pathsProjector(tree.paths.map((path) => resolvePath(path, bindings.names)))
}

/** A projector for paths that do not clash. */
export function pathsProjector(paths: readonly Path[]): (item: Item) => Item {
  const branches = pathTreeOf(paths.map((path) => [path, true] as const))
  return (item) => membersOf(item, branches) ?? {}
}

function partOf(value: AttributeValue, tree: PathTree<true>): AttributeValue | undefined {
  switch (tree.type) {
    case 'leaf':
      return value
    case 'members': {
      const members = 'M' in value ? membersOf(value.M, tree.branches) : undefined
      return members === undefined ? undefined : { M: members }
    }
    case 'elements':
      return 'L' in value ? elementsOf(value.L, tree.branches) : undefined
  }
}

function membersOf(item: Item, branches: ReadonlyMap<string, PathTree<true>>): Item | undefined {
  let members: MutableItem | undefined
  for (const [name, branch] of branches) {
    const value = attribute(item, name)
    const part = value === undefined ? undefined : partOf(value, branch)
    if (part !== undefined) setAttribute((members ??= {}), name, part)
  }
  return members
}

function elementsOf(
  list: readonly AttributeValue[],
  branches: ReadonlyMap<number, PathTree<true>>,
): AttributeValue | undefined {
  const elements: AttributeValue[] = []
  for (const [index, branch] of branches) {
    const element = list[index]
    const part = element === undefined ? undefined : partOf(element, branch)
    if (part !== undefined) elements.push(part)
  }
  return elements.length === 0 ? undefined : { L: elements }
}
