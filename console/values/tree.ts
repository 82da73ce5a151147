// An item as a tree that is edited in place, and as the flat list of rows that is shown of it.
import {
  type AttributeValue,
  binaryProblem,
  emptyValue,
  type Item,
  numberProblem,
  type TypeName,
  typeOf,
} from './attribute.js'

export interface TreeNode {
  readonly id: number
  /** Of an attribute or a member of a map; members of lists and sets have none. */
  name: string
  type: TypeName
  /** Of scalars. */
  text: string
  flag: boolean
  children: TreeNode[]
  isOpen: boolean
}

export interface TreeRow {
  readonly node: TreeNode
  readonly parent: TreeNode
  readonly depth: number
  readonly at: number
}

let lastId = 0

export const hasChildren = (type: TypeName): boolean => type === 'L' || type === 'M' || isSet(type)
export const isSet = (type: TypeName): boolean => type === 'SS' || type === 'NS' || type === 'BS'
/** What the members of a set are. */
export const memberType = (type: TypeName): TypeName => (type === 'NS' ? 'N' : type === 'BS' ? 'B' : 'S')

export function nodeOf(name: string, value: AttributeValue, isOpen = true): TreeNode {
  const type = typeOf(value)
  const node: TreeNode = { id: ++lastId, name, type, text: '', flag: false, children: [], isOpen }
  if ('S' in value) node.text = value.S
  else if ('N' in value) node.text = value.N
  else if ('B' in value) node.text = value.B
  else if ('BOOL' in value) node.flag = value.BOOL
  else if ('L' in value) node.children = value.L.map((each) => nodeOf('', each, false))
  else if ('M' in value)
    node.children = Object.entries(value.M).map(([key, each]) => nodeOf(key, each, false))
  else if (isSet(type)) {
    const members = Object.values(value)[0] as readonly string[]
    node.children = members.map((text) => ({ ...nodeOf('', emptyValue(memberType(type))), text }))
  }
  return node
}

export const treeOf = (item: Item): TreeNode => nodeOf('', { M: item })

export function valueOfNode(node: TreeNode): AttributeValue {
  switch (node.type) {
    case 'S':
      return { S: node.text }
    case 'N':
      return { N: node.text.trim() }
    case 'B':
      return { B: node.text.trim() }
    case 'BOOL':
      return { BOOL: node.flag }
    case 'NULL':
      return { NULL: true }
    case 'SS':
      return { SS: node.children.map(({ text }) => text) }
    case 'NS':
      return { NS: node.children.map(({ text }) => text.trim()) }
    case 'BS':
      return { BS: node.children.map(({ text }) => text.trim()) }
    case 'L':
      return { L: node.children.map(valueOfNode) }
    case 'M':
      return { M: membersOf(node) }
  }
}

export function membersOf(node: TreeNode): Item {
  const members = Object.create(null) as Record<string, AttributeValue>
  for (const child of node.children) members[child.name] = valueOfNode(child)
  return members
}

export function rowsOf(root: TreeNode): readonly TreeRow[] {
  const rows: TreeRow[] = []
  const walk = (parent: TreeNode, depth: number): void => {
    for (let at = 0; at < parent.children.length; at++) {
      const node = parent.children[at] as TreeNode
      rows.push({ node, parent, depth, at })
      if (node.isOpen && node.children.length > 0) walk(node, depth + 1)
    }
  }
  walk(root, 0)
  return rows
}

/** What is wrong with this row; undefined if nothing is. */
export function problemOf({ node, parent }: TreeRow): string | undefined {
  if (parent.type === 'M' && node.name === '') return 'a name is missing'
  if (node.type === 'N') return numberProblem(node.text.trim())
  if (node.type === 'B') return binaryProblem(node.text.trim())
  if (isSet(node.type) && node.children.length === 0) return 'a set has at least one member'
  return undefined
}

/** The first problem anywhere, also where names or members are there twice. */
export function problemIn(root: TreeNode): string | undefined {
  const walk = (parent: TreeNode, path: string): string | undefined => {
    const seen = new Set<string>()
    for (let at = 0; at < parent.children.length; at++) {
      const node = parent.children[at] as TreeNode
      const here = parent.type === 'M' ? `${path}${path === '' ? '' : '.'}${node.name}` : `${path}[${at}]`
      const own = problemOf({ node, parent, depth: 0, at })
      if (own !== undefined) return `${here}: ${own}`
      const key = parent.type === 'M' ? node.name : isSet(parent.type) ? node.text : undefined
      if (key !== undefined && seen.has(key)) return `${here}: it is there twice`
      if (key !== undefined) seen.add(key)
      const inner = walk(node, here)
      if (inner !== undefined) return inner
    }
    return undefined
  }
  return walk(root, '')
}

/** The same row as another type; what can be kept of its content is. */
export function retyped(node: TreeNode, type: TypeName): void {
  const texts = isSet(node.type) || node.type === 'L' ? node.children.map(({ text }) => text) : [node.text]
  if (isSet(type))
    node.children = texts.map((text) => ({ ...nodeOf('', emptyValue(memberType(type))), text }))
  else if (type === 'L' || type === 'M') {
    if (!(node.type === 'L' || node.type === 'M')) node.children = []
    if (type === 'M') node.children.forEach((child, at) => (child.name ||= `member${at}`))
  } else {
    if (node.children.length > 0) node.text = texts[0] ?? ''
    node.children = []
  }
  node.isOpen = true
  node.type = type
}

export function addChild(parent: TreeNode): TreeNode {
  const child = nodeOf('', emptyValue(isSet(parent.type) ? memberType(parent.type) : 'S'))
  if (isSet(parent.type)) child.text = ''
  parent.children.push(child)
  parent.isOpen = true
  return child
}
