// Where things are on an engine: one node has everything, and one step spans what the engine says.
import type { LedgerSlot } from '../model/brand.js'
import type { LocatedItem, Placement } from './placement.js'

/** What the node of an engine knows of its scopes. */
export interface EngineScopes {
  scopeOfItem(item: LocatedItem): string
  scopeOfSlot(slot: LedgerSlot): string
}

export function enginePlacement(scopes: EngineScopes): Placement {
  return {
    nodeOf: () => 0,
    ledgerNodeOf: () => 0,
    isOneStep: ([first, ...others], slot) => {
      if (first === undefined) return false
      const scope = scopes.scopeOfItem(first)
      if (slot !== undefined && scopes.scopeOfSlot(slot) !== scope) return false
      return others.every((item) => scopes.scopeOfItem(item) === scope)
    },
  }
}
