// What does not fit where it belongs goes into records of its own, as JSON text: participants of a large transaction,
// the redo of an item that is nearly full, the plan of a detached unit. They are written in the same wave as the header.
import { itemBytes } from '../../model/item-size.js'
import { parseItem } from '../../model/parse-value.js'
import { attribute } from '../../model/value.js'
import type { ItemAddress } from '../protocol.js'
import { toSdkItem } from '../values.js'
import type { Usage } from './caller.js'
import { intentLimits } from './limits.js'
import { type Intent, partName, recordKey, type Redo } from './records.js'
import { readOne, type Space } from './space.js'

type Kind = Parameters<typeof partName>[0]

/** One record: where, and its text. */
export interface Spill {
  readonly id: string
  readonly part: string
  readonly text: string
}

/** Text in records of bounded size. No character is cut in two. */
export function spillsOf(id: string, kind: Kind, first: number, text: string): Spill[] {
  const spills: Spill[] = []
  // No UTF-16 unit takes more than three bytes.
  const unitsMax = Math.floor(intentLimits.recordBytesMax / 3)
  for (let at = 0; at < text.length || spills.length === 0;) {
    let end = Math.min(at + unitsMax, text.length)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--
    spills.push({ id, part: partName(kind, first + spills.length), text: text.slice(at, end) })
    at = end
  }
  return spills
}

/** Written once and never changed, so that it does not matter how often. */
export async function writeSpill({ caller, records }: Space, spill: Spill, usage: Usage): Promise<void> {
  const Item = toSdkItem({ ...recordKey(spill.id, spill.part), text: { S: spill.text } })
  const reply = await caller.send('PutItem', { TableName: records, Item }, usage)
  if (!reply.ok) throw reply.error
}

export async function readSpills(
  space: Space,
  where: { readonly id: string; readonly kind: Kind; readonly first: number; readonly count: number },
  usage: Usage,
): Promise<string | undefined> {
  const texts = await Promise.all(
    Array.from({ length: where.count }, async (_, at) => {
      const key = recordKey(where.id, partName(where.kind, where.first + at))
      const item = await readOne(space.caller, { table: space.records, key }, usage)
      const text = item === undefined ? undefined : attribute(item, 'text')
      return text !== undefined && 'S' in text ? text.S : undefined
    }),
  )
  return texts.includes(undefined) ? undefined : texts.join('')
}

/** Participants: as many as a header holds, or all of them in records. */
export function divided(
  id: string,
  items: readonly ItemAddress[],
): { readonly inline: readonly ItemAddress[]; readonly spills: readonly Spill[] } {
  let bytes = 0
  for (const { table, key } of items) {
    bytes += table.length + itemBytes(key)
    if (bytes > intentLimits.headerBytesMax)
      return { inline: [], spills: spillsOf(id, 'items', 1, JSON.stringify(items)) }
  }
  return { inline: items, spills: [] }
}

export async function participantsOf(
  space: Space,
  header: { readonly id: string; readonly items: readonly ItemAddress[]; readonly parts: number },
  usage: Usage,
): Promise<readonly ItemAddress[]> {
  if (header.parts === 0) return header.items
  const text = await readSpills(space, { id: header.id, kind: 'items', first: 1, count: header.parts }, usage)
  if (text === undefined) return header.items
  const addresses = JSON.parse(text) as { table: string; key: unknown }[]
  return [...header.items, ...addresses.map(({ table, key }) => ({ table, key: parseItem(key) }))]
}

/** The redo of an intent, from its records if it has any. */
export async function redoOfIntent(space: Space, { id, redo }: Intent, usage: Usage): Promise<Redo> {
  if (redo.act !== 'spilled') return redo
  const text = await readSpills(space, { id, kind: 'redo', first: redo.first, count: redo.count }, usage)
  if (text === undefined) throw new Error(`the records with a redo of transaction ${id} are missing`)
  const { set, remove } = JSON.parse(text) as { set: unknown; remove: string[] }
  return { act: 'write', set: parseItem(set), remove }
}
