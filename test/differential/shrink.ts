// Makes a finding small: fewer requests before it, fewer members in it.
import type { Difference } from './known-differences.js'
import type { Request } from './requests.js'
import { type Peers, freshTables, tried } from './trial.js'
import { type Json, isObject } from './values.js'

export interface Finding {
  readonly before: readonly Request[]
  readonly difference: Difference
}

const TRIES_MAX = 120

/** Keeps to differences with the same signature, so that it does not wander off to another one. */
export async function shrunk(
  peers: Peers,
  finding: Finding,
  signatureOf: (difference: Difference) => string,
): Promise<Finding> {
  const wanted = signatureOf(finding.difference)
  let tries = 0
  const replay = async (before: readonly Request[], request: Request): Promise<Finding | undefined> => {
    if (tries++ >= TRIES_MAX) return undefined
    await freshTables(peers)
    for (const one of before) await tried(peers, one)
    const difference = await tried(peers, request)
    return difference !== undefined && signatureOf(difference) === wanted ? { before, difference } : undefined
  }
  const { request } = finding.difference
  const found = (await replay([], request)) ?? (await replay(finding.before, request))
  if (found === undefined) return finding
  return smallerRequest(await fewerBefore(found, replay), replay)
}

type Replay = (before: readonly Request[], request: Request) => Promise<Finding | undefined>

async function fewerBefore(found: Finding, replay: Replay): Promise<Finding> {
  let best = found
  for (let step = Math.ceil(best.before.length / 2); step >= 1; step = step === 1 ? 0 : Math.ceil(step / 2)) {
    for (let at = best.before.length - step; at >= 0; at -= step) {
      const before = best.before.toSpliced(at, step)
      best = (await replay(before, best.difference.request)) ?? best
    }
  }
  return best
}

async function smallerRequest(found: Finding, replay: Replay): Promise<Finding> {
  let best = found
  for (let progress = true; progress;) {
    progress = false
    for (const candidate of smaller(parsed(best.difference.request.body))) {
      const body = JSON.stringify(candidate)
      const next = await replay(best.before, { ...best.difference.request, body })
      if (next === undefined) continue
      best = next
      progress = true
      break
    }
  }
  return best
}

/** The value with one member or element less, at any depth. */
function* smaller(value: Json | undefined): Generator<Json> {
  if (Array.isArray(value)) {
    const elements = value as readonly Json[]
    for (const [at, one] of elements.entries()) {
      yield elements.toSpliced(at, 1)
      for (const less of smaller(one)) yield elements.with(at, less)
    }
  } else if (isObject(value)) {
    for (const [name, one] of Object.entries(value)) {
      const { [name]: _, ...rest } = value
      yield rest
      for (const less of smaller(one)) yield { ...value, [name]: less }
    }
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
