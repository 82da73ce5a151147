// The key of the ledger and its home: made at the first use, and refused where it does not belong.
//
// A copy of a data folder would go on as the same ledger, and sign what contradicts the original. The home of the key (of a
// file: its inode) is on the shelf: a copy has another one, and is refused until its owner says that the original is gone.
import { FolderRefused } from '../line/errors.js'
import type { KeyBytes } from '../model/brand.js'
import type { Runtime } from '../runtime/runtime.js'
import type { KeyPlace } from '../storage/contract/key-place.js'
import type { Shelf, ShelfEntry } from '../storage/contract/shelf.js'
import { openSigner, type Signer, signerText } from './signer.js'

export interface LedgerKeyOptions {
  readonly runtime: Pick<Runtime, 'randomBytes'>
  readonly shelf: Shelf
  readonly place: KeyPlace
  /** `adopt`: the original of this copy is gone. */
  readonly copies: 'refuse' | 'adopt'
  /** Called with the public key of a new ledger, which those who verify it need. */
  readonly onMade?: ((key: string) => void) | undefined
}

const HOME_KEY = 'k' as KeyBytes
const SEED_BYTES = 32
const NAME_BYTES = 8

/** @throws FolderRefused if the key is missing or damaged, or if the folder is a copy */
export async function ledgerSigner({
  runtime,
  shelf,
  place,
  copies,
  onMade,
}: LedgerKeyOptions): Promise<Signer> {
  const [known] = await shelf.kept([HOME_KEY])
  if (known === undefined && (await place.read()) === undefined) {
    const text = newKeyText(runtime)
    await place.write(text)
    onMade?.(openSigner(text).key)
  }
  const found = await place.read()
  if (found === undefined)
    throw new FolderRefused(
      `The key of the ledger is missing: there is no ${place.name}. Restore it from where it was kept.`,
    )
  const signer = signerIn(found.text, place)
  const home = homeOf(signer, found.home)
  if (known !== undefined && Buffer.compare(known, home) !== 0 && copies === 'refuse')
    throw new FolderRefused(
      `The data folder of ${place.name} is a copy, or was restored: its ledger ${signer.origin} would contradict what the ` +
        `original signs. If the original is gone for good, start once with --adopt-ledger.`,
    )
  if (known === undefined || Buffer.compare(known, home) !== 0)
    await shelf.keep([{ key: HOME_KEY, value: home }])
  return signer
}

const newKeyText = (runtime: Pick<Runtime, 'randomBytes'>): string =>
  signerText(
    `seriatim.local/${Buffer.from(runtime.randomBytes(NAME_BYTES)).toString('hex')}`,
    runtime.randomBytes(SEED_BYTES),
  )

const homeOf = ({ origin }: Signer, home: string): Buffer => Buffer.from(`${origin} ${home}`)

function signerIn(text: string, { name }: KeyPlace): Signer {
  try {
    return openSigner(text)
  } catch (error) {
    throw new FolderRefused(
      `The key of the ledger in ${name} cannot be used: ${(error as Error).message}. Restore it from where it was kept.`,
      { cause: error },
    )
  }
}

/** Of a store in memory: on the shelf. A fork, a snapshot or a dump of it gets another one (rename.ts). */
export const shelfKeyPlace = (shelf: Shelf): KeyPlace => ({
  name: 'memory',
  async read() {
    const [text] = await shelf.kept([MEMORY_KEY])
    return text && { text: Buffer.from(text).toString(), home: MEMORY_HOME }
  },
  write: (text) => shelf.keep([{ key: MEMORY_KEY, value: Buffer.from(text) }]),
})

const MEMORY_KEY = 'K' as KeyBytes
const MEMORY_HOME = 'memory'

/** Another key for a store in memory, and what it takes on the shelf. */
export function newShelfKey(runtime: Pick<Runtime, 'randomBytes'>): {
  readonly origin: string
  readonly entries: readonly ShelfEntry[]
} {
  const text = newKeyText(runtime)
  const signer = openSigner(text)
  return {
    origin: signer.origin,
    entries: [
      { key: MEMORY_KEY, value: Buffer.from(text) },
      { key: HOME_KEY, value: homeOf(signer, MEMORY_HOME) },
    ],
  }
}
