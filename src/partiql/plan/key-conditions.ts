// What a WHERE says of a key: conditions on the partition key and the sort key, alternatives of them, and the rest.
import { resolvePath } from '../../expression/parse/paths.js'
import type { ConditionNode, OperandNode } from '../../expression/parse/tree.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { validationError } from '../../model/errors.js'
import type { SortCondition } from '../../model/key-range.js'
import type { KeyAttribute, KeySchema } from '../../model/table.js'
import { typeOf, type AttributeValue } from '../../model/value.js'

/** A condition on one key attribute that a read by key can use. */
export interface KeyTest {
  readonly part: KeyAttribute
  readonly condition: SortCondition
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

export const keyMismatch = (part: KeyAttribute): Error =>
  validationError(`Key attribute's data type should match its data type in table's schema: Key ${part.name}`)

export class KeyReader {
  readonly #bound: BoundCondition
  readonly #key: KeySchema

  constructor(bound: BoundCondition, key: KeySchema) {
    this.#bound = bound
    this.#key = key
  }

  /** The test of a key attribute that this is; undefined if it is none, or one that no read by key can use. */
  testOf(node: ConditionNode): KeyTest | undefined {
    switch (node.type) {
      case 'compare': {
        if (node.operator === '<>') return undefined
        return (
          this.#test(node.operator, node.left, [node.right]) ??
          this.#test(MIRRORED[node.operator], node.right, [node.left])
        )
      }
      case 'between':
        return this.#test('BETWEEN', node.operand, [node.lower, node.upper])
      case 'function': {
        if (node.name !== 'begins_with') return undefined
        const [first, second] = node.args
        return this.#test('begins_with', first!, [second!])
      }
      case 'and':
      case 'or':
      case 'not':
      case 'in':
        return undefined
    }
  }

  /** The key attribute that an IN asks for, and the values. */
  membersOf(
    node: ConditionNode,
  ): { readonly part: KeyAttribute; readonly values: readonly AttributeValue[] } | undefined {
    if (node.type !== 'in') return undefined
    const part = this.#part(node.operand)
    const values = this.#values(node.list)
    return part === undefined || values === undefined ? undefined : { part, values }
  }

  /** Whether a key attribute is named anywhere in it. */
  namesKey(node: ConditionNode | OperandNode, part?: KeyAttribute): boolean {
    const names = (inner: ConditionNode | OperandNode): boolean => this.namesKey(inner, part)
    switch (node.type) {
      case 'and':
      case 'or':
        return node.terms.some(names)
      case 'not':
      case 'truth':
        return names(node.term)
      case 'compare':
        return names(node.left) || names(node.right)
      case 'between':
        return names(node.operand) || names(node.lower) || names(node.upper)
      case 'in':
        return names(node.operand) || node.list.some(names)
      case 'function':
        return node.args.some(names)
      case 'path': {
        const found = this.#part(node)
        return found !== undefined && (part === undefined || found === part)
      }
      case 'value':
        return false
    }
  }

  #test(
    op: SortCondition['op'],
    operand: OperandNode,
    operands: readonly OperandNode[],
  ): KeyTest | undefined {
    const part = this.#part(operand)
    const values = this.#values(operands)
    if (part === undefined || values === undefined) return undefined
    return { part, condition: { op, values } as unknown as SortCondition }
  }

  #part(operand: OperandNode): KeyAttribute | undefined {
    if (operand.type !== 'path' || operand.steps.length !== 1) return undefined
    const [name] = resolvePath(operand, this.#bound.bindings.names)
    const { partition, sort } = this.#key
    return name === partition.name ? partition : sort !== undefined && name === sort.name ? sort : undefined
  }

  #values(operands: readonly OperandNode[]): readonly AttributeValue[] | undefined {
    const values: AttributeValue[] = []
    for (const operand of operands) {
      const value = operand.type === 'value' ? this.#bound.bindings.values.get(operand.name) : undefined
      if (value === undefined) return undefined
      values.push(value)
    }
    return values
  }
}

export const isOfType = (part: KeyAttribute, values: readonly AttributeValue[]): boolean =>
  values.every((value) => typeOf(value) === part.type)

/** The terms of a conjunction, however they are grouped. */
export function conjunctsOf(node: ConditionNode): readonly ConditionNode[] {
  return node.type === 'and' ? node.terms.flatMap(conjunctsOf) : [node]
}
