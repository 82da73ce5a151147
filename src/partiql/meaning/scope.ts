// What the trees of one statement share: the values that it spells out, its parameters, and names that need an alias.
//
//   'x' in the text --> :0      ? --> :p0      "#x" --> #0, because trees take `#x` for an alias
import { validationError } from '../../model/errors.js'
import type { PathNode, PathStep, ValueNode } from '../../expression/parse/tree.js'
import type { AttributeValue } from '../../model/value.js'
import type { ExpressionNode, StepNode } from '../parse/tree.js'
import { literalOf } from './literals.js'
import { Refusals } from './places.js'

const INDEX_MAX = 2 ** 31 - 1

export const parameterName = (position: number): string => `:p${position}`

/** A parameter that has to be a set, and what is said if it is not. */
export interface SetParameter {
  readonly position: number
  readonly refusal: () => Error
}

export class StatementScope {
  readonly refusals: Refusals
  readonly names = new Map<string, string>()
  readonly values = new Map<string, AttributeValue>()
  readonly setParameters: SetParameter[] = []

  constructor(text: string) {
    this.refusals = new Refusals(text)
  }

  literal(node: ExpressionNode): ValueNode {
    return this.constant(literalOf(node, this.refusals))
  }

  constant(value: AttributeValue): ValueNode {
    const name = `:${this.values.size}`
    this.values.set(name, value)
    return { type: 'value', name }
  }

  /** A name, or names and indexes behind one. */
  path(node: ExpressionNode): PathNode {
    if (node.type === 'name') return { type: 'path', steps: [this.#step(node.name)] }
    if (node.type !== 'path') throw this.refusals.at(node.at, 'Unexpected path component')
    const { root, steps } = node
    if (root.type === 'list') throw this.refusals.at(root.at, 'A path cannot start with a list index')
    if (root.type !== 'name') throw this.refusals.at(root.at, 'Unexpected path component')
    return { type: 'path', steps: [this.#step(root.name), ...steps.map((step) => this.#inner(step))] }
  }

  #inner(step: StepNode): PathStep {
    switch (step.type) {
      case 'member':
        return this.#step(step.name)
      case 'unpivot':
        throw validationError('Unpivot path component like a.*.b are not supported')
      case 'wildcard':
        throw validationError('Wildcard path component like a[*].b are not supported')
      case 'index':
        return this.#index(step.index)
    }
  }

  #index(node: ExpressionNode): PathStep {
    if (node.type === 'string') return this.#step(node.text)
    if (node.type !== 'number') throw this.refusals.at(node.at, 'Unexpected path component')
    const index = Number(node.text)
    if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX)
      throw this.refusals.at(node.at, `List index is not within the allowable range; index: [${node.text}]`)
    return index === 0 ? 0 : index
  }

  #step(name: string): string {
    if (name === '') throw validationError('Path component cannot be an empty string')
    if (!name.startsWith('#')) return name
    const alias = `#${this.names.size}`
    this.names.set(alias, name)
    return alias
  }
}
