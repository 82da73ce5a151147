// Bound trees as text again, with placeholders of their own: what is sent to an endpoint, and kept of a detached unit.
import {
  resolvePath,
  type ConditionNode,
  type OperandNode,
  type Path,
  type PathNode,
  type SetValueNode,
} from '../../expression/expression.js'
import type { Bindings, BoundCondition } from '../../expression/parse/types.js'
import type { MutableItem } from '../../model/value.js'
import type { PlacedAction } from './compose-update.js'
import type { Expression } from './expressions.js'

/** Statements have it, and DynamoDB's expressions do not. */
export class NotPrintable extends Error {}

/** A condition as an expression. */
export function printedCondition(condition: BoundCondition): Expression {
  const printer = new ExpressionPrinter()
  return printer.expression(printer.condition(condition))
}

export class ExpressionPrinter {
  readonly #names = new Map<string, string>()
  readonly #values: MutableItem = {}
  #count = 0

  action({ action, bindings }: PlacedAction): string {
    const path = this.#path(action.path, bindings)
    switch (action.type) {
      case 'set':
        return `${path} = ${this.#setValue(action.value, bindings)}`
      case 'remove':
        return path
      case 'add':
      case 'delete':
        return `${path} ${this.#operand(action.value, bindings)}`
    }
  }

  expression(text: string): Expression {
    return {
      text,
      names: Object.fromEntries([...this.#names].map(([name, placeholder]) => [placeholder, name])),
      ...(Object.keys(this.#values).length > 0 && { values: this.#values }),
    }
  }

  condition({ tree, bindings }: BoundCondition): string {
    return this.#condition(tree, bindings)
  }

  #condition(node: ConditionNode, bindings: Bindings): string {
    const operand = (one: OperandNode): string => this.#operand(one, bindings)
    switch (node.type) {
      case 'and':
        return node.terms.map((term) => this.#term(term, bindings, 'or')).join(' AND ')
      case 'or':
        return node.terms.map((term) => this.#term(term, bindings)).join(' OR ')
      case 'not':
        return `NOT ${this.#term(node.term, bindings, 'or', 'and')}`
      case 'compare':
        return `${operand(node.left)} ${node.operator} ${operand(node.right)}`
      case 'between':
        return `${operand(node.operand)} BETWEEN ${operand(node.lower)} AND ${operand(node.upper)}`
      case 'in':
        return `${operand(node.operand)} IN (${node.list.map(operand).join(', ')})`
      case 'function':
        return operand(node)
    }
  }

  /** In parentheses where they are needed, because needless ones are refused. */
  #term(node: ConditionNode, bindings: Bindings, ...grouped: readonly string[]): string {
    const text = this.#condition(node, bindings)
    return grouped.includes(node.type) ? `(${text})` : text
  }

  #setValue(node: SetValueNode, bindings: Bindings): string {
    if (node.type !== 'arithmetic') return this.#operand(node, bindings)
    if (node.left.type === 'arithmetic' || node.right.type === 'arithmetic')
      throw new NotPrintable('a sum of more than two values')
    return `${this.#setValue(node.left, bindings)} ${node.operator} ${this.#setValue(node.right, bindings)}`
  }

  #operand(node: OperandNode, bindings: Bindings): string {
    switch (node.type) {
      case 'path':
        return this.#path(node, bindings)
      case 'value': {
        const placeholder = `:v${this.#count++}`
        this.#values[placeholder] = bindings.values.get(node.name)!
        return placeholder
      }
      case 'function':
        return `${node.name}(${node.args.map((arg) => this.#operand(arg, bindings)).join(', ')})`
      case 'truth':
        throw new NotPrintable('a condition that is compared with a value')
    }
  }

  #path(node: PathNode, bindings: Bindings): string {
    const path: Path = resolvePath(node, bindings.names)
    return path.reduce<string>((text, step) => {
      if (typeof step === 'number') return `${text}[${step}]`
      return text === '' ? this.#name(step) : `${text}.${this.#name(step)}`
    }, '')
  }

  #name(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const placeholder = `#n${this.#names.size}`
    this.#names.set(name, placeholder)
    return placeholder
  }
}
