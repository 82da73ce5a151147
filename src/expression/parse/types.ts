// What the rest of the store sees of an expression. All of it is plain data: it can be kept, sent to another thread
// and evaluated there, and the same tree is evaluated on every engine.
//
//   text --parse (cached by text)--> tree with #names and :values --bind (per request)--> bound tree --evaluate--> answer
//
// May import: model.
import type { AttributeValue, Item } from '../../model/value.js'
import type { ConditionNode, ProjectionNode, UpdateNode } from './tree.js'

export interface Bindings {
  /** `#n` to attribute name. */
  readonly names: ReadonlyMap<string, string>
  /** `:v` to value. */
  readonly values: ReadonlyMap<string, AttributeValue>
}

export interface BoundCondition {
  readonly tree: ConditionNode
  readonly bindings: Bindings
}
export interface BoundUpdate {
  readonly tree: UpdateNode
  readonly bindings: Bindings
}
export interface BoundProjection {
  readonly tree: ProjectionNode
  readonly bindings: Bindings
}

/** An update applied to an item: the new image, undefined if there is no item still; or why it cannot be applied to this one. */
export type UpdateResult = { readonly item: Item | undefined } | { readonly refusal: string }
