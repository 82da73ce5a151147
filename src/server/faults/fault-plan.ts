// A plan of faults: which operations meet which faults how often, from a seed. The same requests in the same order meet
// the same faults again.
import { FAULT_NAMES, type Fault, faultFits, parseFault } from './faults.js'

/** Which faults requests meet. docs/how-to/inject-faults.md describes them. */
export interface FaultPlan {
  /** The fault that the next request for that operation meets; undefined for none. */
  next(operation: string): Fault | undefined
}

/** The plan cannot be used; the message says where and why. */
export class FaultPlanError extends Error {
  override readonly name = 'FaultPlanError'
}

interface Rule {
  /** The name of an operation, or `*`. */
  readonly operation: string
  readonly fault: Fault
  readonly probability: number
}

const RULES_MAX = 1000
const SEED_MAX = 2 ** 32 - 1

/**
 * A plan from its JSON text.
 *
 * @example
 * const plan = parseFaultPlan('{"seed":1,"faults":[{"operation":"PutItem","fault":"throttle","probability":0.1}]}')
 * plan.next('PutItem') // now and then { kind: 'throttle' }
 */
export function parseFaultPlan(text: string): FaultPlan {
  let plan: unknown
  try {
    plan = JSON.parse(text)
  } catch {
    throw new FaultPlanError('the fault plan is not valid JSON')
  }
  if (!isRecord(plan)) throw new FaultPlanError('the fault plan must be an object with "seed" and "faults"')
  const { seed = 0, faults } = plan
  if (!Number.isInteger(seed) || (seed as number) < 0 || (seed as number) > SEED_MAX) {
    throw new FaultPlanError(`"seed" must be a whole number from 0 to ${SEED_MAX}`)
  }
  if (!Array.isArray(faults) || faults.length === 0 || faults.length > RULES_MAX) {
    throw new FaultPlanError(`"faults" must be a list of 1 to ${RULES_MAX} entries`)
  }
  return planOf(seed as number, faults.map(parseRule))
}

function parseRule(entry: unknown, at: number): Rule {
  const wrong = (what: string): never => {
    throw new FaultPlanError(`faults[${at}]${what}`)
  }
  if (!isRecord(entry)) return wrong(' is not an object')
  const { operation = '*', fault: name, probability } = entry
  if (typeof operation !== 'string') return wrong('.operation must be the name of an operation, or "*"')
  const fault = typeof name === 'string' ? parseFault(name) : undefined
  if (fault === undefined) return wrong(`.fault must be one of ${FAULT_NAMES}`)
  if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
    return wrong('.probability must be a number from 0 to 1')
  }
  if (operation !== '*' && !faultFits(fault, operation)) {
    return wrong(`: ${operation} cannot end in ${String(name)}`)
  }
  return { operation, fault, probability }
}

/** Each rule that fits draws a number, in order; the first that hits counts. */
function planOf(seed: number, rules: readonly Rule[]): FaultPlan {
  const random = randomFrom(seed)
  return {
    next(operation) {
      for (const { operation: wanted, fault, probability } of rules) {
        if (wanted !== '*' && wanted !== operation) continue
        if (faultFits(fault, operation) && random() < probability) return fault
      }
      return undefined
    },
  }
}

/** Mulberry32 (Tommy Ettinger, public domain): numbers from 0 up to 1. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
