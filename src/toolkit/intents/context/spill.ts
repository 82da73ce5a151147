// What does not fit where it belongs goes into records of its own, as JSON text: participants of a large transaction,
// the redo of an item that is nearly full, the plan of a detached unit. They are written in the same wave as the header.
import { itemBytes, attribute } from '../../../model/value.js'
import { parseItem } from '../../../model/parse-value.js'
import type { ItemAddress } from '../../unit/protocol.js'
import { toSdkItem } from '../../values/values.js'
import type { RequestUsage } from './caller.js'
import { intentLimits } from '../protocol/limits.js'
import { type Header, type Intent, partName, recordKey, type Redo } from '../protocol/records.js'
import { readOne, type IntentsContext } from './context.js'

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
export async function writeSpill(
  { caller, records }: IntentsContext,
  spill: Spill,
  usage: RequestUsage,
): Promise<void> {
  const Item = toSdkItem({ ...recordKey(spill.id, spill.part), text: { S: spill.text } })
  const reply = await caller.send('PutItem', { TableName: records, Item }, usage)
  if (!reply.ok) throw reply.error
}

export async function readSpills(
  space: IntentsContext,
  where: { readonly id: string; readonly kind: Kind; readonly first: number; readonly count: number },
  usage: RequestUsage,
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

type Participants = Pick<Header, 'items' | 'parts'>

export const NO_PARTICIPANTS: Participants = { items: [], parts: 0 }

/** More participants: in the header as long as it holds them all, otherwise in records behind those that it has. */
export function divided(
  id: string,
  known: Participants,
  added: readonly ItemAddress[],
): Participants & { readonly spills: readonly Spill[] } {
  const items = [...known.items, ...added]
  const bytes = items.reduce((sum, { table, key }) => sum + table.length + itemBytes(key), 0)
  if (known.parts === 0 && bytes <= intentLimits.headerBytesMax) return { items, parts: 0, spills: [] }
  if (added.length === 0) return { ...known, spills: [] }
  const spills = spillsOf(id, 'items', known.parts + 1, `${JSON.stringify(added)}\n`)
  return { items: known.items, parts: known.parts + spills.length, spills }
}

export async function participantsOf(
  space: IntentsContext,
  header: Participants & Pick<Header, 'id'>,
  usage: RequestUsage,
): Promise<readonly ItemAddress[]> {
  const participants = [...header.items]
  let text = ''
  for (let position = 1; position <= header.parts; position++) {
    const one = await readSpills(space, { id: header.id, kind: 'items', first: position, count: 1 }, usage)
    // Nothing was placed before it was written down: who died before the record was there has nothing behind it.
    if (one === undefined) break
    text += one
    const end = text.lastIndexOf('\n')
    if (end < 0) continue
    for (const line of text.slice(0, end).split('\n'))
      for (const { table, key } of JSON.parse(line) as { table: string; key: unknown }[])
        participants.push({ table, key: parseItem(key) })
    text = text.slice(end + 1)
  }
  return participants
}

/** The redo of an intent, from its records if it has any. */
export async function redoOfIntent(
  space: IntentsContext,
  { id, redo }: Intent,
  usage: RequestUsage,
): Promise<Redo> {
  if (redo.act !== 'spilled') return redo
  const text = await readSpills(space, { id, kind: 'redo', first: redo.first, count: redo.count }, usage)
  if (text === undefined) throw new Error(`the records with a redo of transaction ${id} are missing`)
  const { set, remove } = JSON.parse(text) as { set: unknown; remove: string[] }
  return { act: 'write', set: parseItem(set), remove }
}
