// From image to image: what a write changes, and an image with that change made.
import { sameValue } from '../../../model/compare.js'
import {
  attribute,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
} from '../../../model/value.js'
import type { Redo } from './records.js'

type Write = Extract<Redo, { act: 'write' }>

/** The top-level attributes by which two images of one item differ. Keys are the same in both. */
export function redoOf(before: Item, after: Item): Write {
  const set: MutableItem = {}
  for (const name of Object.keys(after)) {
    const old = attribute(before, name)
    const value = attribute(after, name)!
    if (old === undefined || !sameValue(old, value)) setAttribute(set, name, value)
  }
  const remove = Object.keys(before).filter((name) => attribute(after, name) === undefined)
  return { act: 'write', set, remove }
}

/** Cannot fail, whatever the image. */
export function applyRedo(before: Item, redo: Redo): Item {
  if (redo.act !== 'write') return before
  const { remove } = redo
  const after: MutableItem = {}
  for (const name of Object.keys(before))
    if (!remove.includes(name)) setAttribute(after, name, attribute(before, name)!)
  for (const name of Object.keys(redo.set)) setAttribute(after, name, attribute(redo.set, name)!)
  return after
}

/** Names an item within a transaction: the same for the same item, whatever the order of its key's attributes. */
export function addressText(table: string, key: Item): string {
  const parts = Object.keys(key)
    .toSorted()
    .map((name) => [name, attribute(key, name)])
  return JSON.stringify([table, parts])
}

/** Levels of lists and maps in the deepest attribute. */
export function depthOf(item: Item): number {
  let deepest = 0
  for (const name of Object.keys(item)) deepest = Math.max(deepest, levels(attribute(item, name)!))
  return deepest
}

function levels(value: AttributeValue): number {
  if ('M' in value) return 1 + depthOf(value.M)
  if ('L' in value) return 1 + value.L.reduce((deepest, element) => Math.max(deepest, levels(element)), 0)
  return 0
}
