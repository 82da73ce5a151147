// Document paths with their names resolved: into a value, as text, and how two of them get in each other's way.
import { attribute, type AttributeValue, type Item } from '../../model/value.js'
import { expressionError } from './lexer.js'
import type { ExpressionKind, PathNode, PathStep } from './tree.js'
import type { Bindings } from './types.js'

/** A path without #names: attribute names and list indexes. The first is the name of an attribute of the item. */
export type Path = readonly PathStep[]

export function resolvePath(path: PathNode, names: Bindings['names']): Path {
  return path.steps.some(isPlaceholder) ? path.steps.map((step) => resolveStep(step, names)) : path.steps
}

export function valueAt(path: PathNode, item: Item, names: Bindings['names']): AttributeValue | undefined {
  const [first] = path.steps
  let value = attribute(item, resolveStep(first!, names) as string)
  for (let at = 1; at < path.steps.length && value !== undefined; at++) {
    const step = resolveStep(path.steps[at]!, names)
    if (typeof step === 'number') value = 'L' in value ? value.L[step] : undefined
    else value = 'M' in value ? attribute(value.M, step) : undefined
  }
  return value
}

/** `[a, [0], b]`, as DynamoDB writes paths in its messages. */
export function pathText(path: Path): string {
  return `[${path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join(', ')}]`
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, at) => step === b[at])
}

/** Refuses two paths of which one is within the other, or that take the same place for a list and for a map. */
export function refuseClash(one: Path, others: readonly Path[], kind: ExpressionKind): void {
  for (const two of others) {
    const clash = clashOf(one, two)
    if (clash !== undefined)
      throw expressionError(
        kind,
        `Two document paths ${clash} with each other; must remove or rewrite one of these paths; ` +
          `path one: ${pathText(one)}, path two: ${pathText(two)}`,
      )
  }
}

const HASH = '#'.charCodeAt(0)

const isPlaceholder = (step: PathStep): boolean => typeof step === 'string' && step.charCodeAt(0) === HASH

function resolveStep(step: PathStep, names: Bindings['names']): PathStep {
  return isPlaceholder(step) ? names.get(step as string)! : step
}

function clashOf(one: Path, two: Path): 'overlap' | 'conflict' | undefined {
  const shared = Math.min(one.length, two.length)
  for (let at = 0; at < shared; at++) {
    if (typeof one[at] !== typeof two[at]) return 'conflict'
    if (one[at] !== two[at]) return undefined
  }
  return 'overlap'
}
