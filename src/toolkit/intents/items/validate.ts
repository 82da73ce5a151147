// Whether what a unit has seen is still so. Asked after its intents are placed: whoever wants to change what was read
// will meet them, or was met here.
//
// Somebody else's undecided intent must go first, even for a unit that writes nothing: its transaction may have looked
// at what it read before this unit's other reads were written, and so belongs before them, decided or not.
//
// Ranges first, then single items: an item with a version was the same all the time between two looks, so the moment at
// which the range was looked at again is one at which everything was as it had been seen.
import { keyAttributesOf } from '../../../model/table.js'
import { sameItem } from '../../../model/compare.js'
import type { Item } from '../../../model/value.js'
import type { ItemAddress } from '../../unit/protocol.js'
import type { RequestUsage } from '../context/caller.js'
import { type SeenItem, ItemReader } from './look.js'
import { intentLimits } from '../protocol/limits.js'
import { recheckPage, type SeenPage } from './ranges.js'
import { changed, makeRoom, type IntentWaiter } from './settle.js'
import type { IntentsContext } from '../context/context.js'

export interface Observed extends ItemAddress {
  readonly item?: Item
  readonly version?: string
  /** Never deleted once it is there: without a version it has never been written. */
  readonly isGuard?: true
}

/** Only its image, or its absence, can be compared: it may have been something else in between. */
export const isBare = ({ version, isGuard }: Observed): boolean => version === undefined && isGuard !== true

/** Throws Conflict if something changed. */
export async function validate(
  space: IntentsContext,
  seen: { readonly items: readonly Observed[]; readonly pages: readonly SeenPage[] },
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<void> {
  for (const page of seen.pages) await validatePage(space, page, me, usage)
  // Those without a version first, for the same reason as ranges.
  await validateItems(space, seen.items.filter(isBare), me, usage)
  const versioned = seen.items.filter((item) => !isBare(item))
  await validateItems(space, versioned, me, usage)
}

async function validateItems(
  space: IntentsContext,
  items: readonly Observed[],
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<void> {
  let left = items
  for (let rounds = 0; left.length > 0; rounds++) {
    if (rounds > intentLimits.roundsMax) throw changed(left[0]!)
    const looks = await new ItemReader(space, usage, me.id).items(left)
    const again: Observed[] = []
    for (const [at, look] of looks.entries()) {
      const observed = left[at]!
      if (!isSame(observed, look)) throw changed(observed, look.undecided?.id ?? look.version)
      if (look.undecided === undefined) continue
      await makeRoom(space, { ...observed, stored: look.stored!, intent: look.undecided }, me, usage)
      again.push(observed)
    }
    if (again.length < left.length) me.time.made()
    left = again
  }
}

const isSame = (seen: Observed, now: SeenItem): boolean => {
  if (seen.item === undefined || now.item === undefined) return seen.item === now.item
  // The image too: a plain writer may have changed it and left the version.
  return seen.version === now.version && sameItem(seen.item, now.item)
}

async function validatePage(
  space: IntentsContext,
  page: SeenPage,
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<void> {
  const layout = await space.layouts.of(page.range.table)
  for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
    const recheck = await recheckPage(space, layout, page, me.id, usage)
    if (recheck.verdict === 'same') return me.time.made()
    if (recheck.verdict === 'changed')
      throw changed({ table: page.range.table, key: recheck.row?.key ?? {} }, recheck.row?.version)
    const { stored } = recheck.item
    const address = { table: page.range.table, key: keyAttributesOf(layout.key, stored!.item) }
    await makeRoom(space, { ...address, stored: stored!, intent: recheck.intent }, me, usage)
  }
  throw changed({ table: page.range.table, key: {} })
}
