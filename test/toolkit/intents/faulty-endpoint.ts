// An endpoint that goes wrong at one request, on purpose.
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'

export const FAULTS = [
  'fails',
  'loses the answer',
  'repeats',
  'delays',
  'delays and loses',
  'is cut off',
] as const
export type EndpointFault = (typeof FAULTS)[number]

export interface FaultyEndpoint extends Endpoint {
  /** Requests so far. */
  readonly sent: number
  /** Lets what was delayed arrive. */
  arrive(): Promise<void>
}

/**
 * `k` counts from 1. A request that fails never leaves; one whose answer is lost is carried out; one that is repeated is
 * carried out again at once, and once more when `arrive` is called; one that is delayed is carried out only then, and
 * its sender has given it up by that time. Who is cut off at k sends nothing any more.
 */
export function faultyEndpoint(endpoint: Endpoint, fault: EndpointFault, k: number): FaultyEndpoint {
  let sent = 0
  const delayed: (() => Promise<unknown>)[] = []
  const lost = (): Error => new Error('socket hang up')
  return {
    get sent() {
      return sent
    },
    async arrive() {
      for (const send of delayed.splice(0)) await send().catch(() => undefined)
    },
    async call(operation, input, options) {
      sent++
      const send = () => endpoint.call(operation, input, options)
      if (fault === 'is cut off' && sent >= k) throw lost()
      if (sent !== k) return send()
      switch (fault) {
        case 'fails':
        case 'is cut off':
          throw lost()
        case 'loses the answer':
          await send().catch(() => undefined)
          throw lost()
        case 'repeats':
          delayed.push(send)
          await send().catch(() => undefined)
          return send()
        case 'delays': {
          // Sent again by the caller, and the first one arrives long after.
          delayed.push(send)
          throw lost()
        }
        case 'delays and loses':
          delayed.push(send)
          await send().catch(() => undefined)
          throw lost()
      }
    },
  }
}
