// A coordinator on the nodes of a test, as the store opens one.
import {
  type CoordinatedNode,
  type Coordinator,
  type CoordinatorTuning,
  openCoordinator,
} from '../../src/coordinator/coordinator.js'
import { type Placement, wholeNodes } from '../../src/coordinator/placement.js'
import type { LedgerSlot } from '../../src/model/brand.js'
import { allRules, type TransactionRules } from '../../src/rules/item/section-4.js'
import type { Runtime } from '../../src/runtime/runtime.js'

export const slotNode =
  (nodes: number) =>
  (slot: LedgerSlot): number =>
    Number.parseInt(slot.slice(0, 8), 16) % nodes

export function testCoordinator(
  runtime: Runtime,
  nodes: readonly CoordinatedNode[],
  nodeOf: (hash: number) => number,
  options: {
    readonly rules?: TransactionRules
    readonly tuning?: CoordinatorTuning
    readonly sharedJournal?: boolean
    readonly placement?: Placement
  } = {},
): Coordinator {
  return openCoordinator({
    runtime,
    nodes,
    placement: options.placement ?? wholeNodes(nodeOf, slotNode(nodes.length)),
    rules: options.rules ?? allRules,
    sharedJournal: options.sharedJournal ?? false,
    ...(options.tuning && { tuning: options.tuning }),
  })
}
