// What the service counts of an UpdateExpression against the size of an item, beside the item that comes of it.
//
//   the update itself                 3
//   SET target = operand             19 + target + operand
//   ADD target :value                19 + target + value
//   REMOVE target, DELETE target      1 + target
//
//   a target     its first name, and 4 and the step for each later step
//   an operand   a value by its size, at every use; a path 1, and 14 and the step for each step; + 34, - 37,
//                if_not_exists 39 and list_append 37, each with both operands
//
// Measured by public suites in October 2026, in the region that docs/reference/known-differences.md names.
import { valueBytes } from '../../model/value.js'
import type { PathNode, PathStep, SetValueNode, UpdateAction } from '../parse/tree.js'
import type { Bindings, BoundUpdate } from '../parse/types.js'

const UPDATE = 3
const WRITTEN = 19
const TAKEN_AWAY = 1
const LATER_TARGET_STEP = 4
const OPERAND_PATH = 1
const OPERAND_STEP = 14
const FUNCTIONS: Readonly<Record<string, number>> = { '+': 34, '-': 37, if_not_exists: 39, list_append: 37 }

export function updateCharge({ tree, bindings }: BoundUpdate): number {
  let charge = UPDATE
  for (const action of tree.actions) charge += actionCharge(action, bindings)
  return charge
}

function actionCharge(action: UpdateAction, bindings: Bindings): number {
  const target = targetCharge(action.path, bindings)
  if (action.type === 'set') return WRITTEN + target + operandCharge(action.value, bindings)
  if (action.type === 'add') return WRITTEN + target + operandCharge(action.value, bindings)
  return TAKEN_AWAY + target
}

function targetCharge({ steps }: PathNode, bindings: Bindings): number {
  let charge = -LATER_TARGET_STEP
  for (const step of steps) charge += LATER_TARGET_STEP + stepBytes(step, bindings)
  return charge
}

function operandCharge(operand: SetValueNode, bindings: Bindings): number {
  switch (operand.type) {
    case 'value': {
      const value = bindings.values.get(operand.name)
      return value === undefined ? 0 : valueBytes(value)
    }
    case 'path': {
      let charge = OPERAND_PATH
      for (const step of operand.steps) charge += OPERAND_STEP + stepBytes(step, bindings)
      return charge
    }
    case 'arithmetic':
      return (
        FUNCTIONS[operand.operator]! +
        operandCharge(operand.left, bindings) +
        operandCharge(operand.right, bindings)
      )
    case 'function': {
      let charge = FUNCTIONS[operand.name] ?? 0
      for (const argument of operand.args) charge += operandCharge(argument, bindings)
      return charge
    }
    case 'truth':
      return 0
  }
}

function stepBytes(step: PathStep, bindings: Bindings): number {
  if (typeof step === 'number') return String(step).length
  return Buffer.byteLength(step.startsWith('#') ? (bindings.names.get(step) ?? step) : step)
}
