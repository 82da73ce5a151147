// Wrong servers: each breaks one rule of a fleet, and worlds have to find it.
import type { Engine } from '../../src/engine/engine.js'
import { engineRules } from '../../src/storage/engine/engine-node.js'
import { judgeDoubt } from '../../src/storage/engine/sure-cas.js'
import type { FleetWorldOptions } from './world.js'

export interface FleetMutant {
  readonly name: string
  /** It takes many worlds, or long ones. */
  readonly isCostly?: true
  /** Which rule it breaks. */
  readonly why: string
  readonly options: Omit<FleetWorldOptions, 'seed' | 'transactions'> & { readonly transactions?: number }
}

const VERSION_BYTES = 12

export const fleetMutants: readonly FleetMutant[] = [
  {
    name: 'version reused',
    why: 'point 35: a change of a row has a version id of its own',
    options: {
      traits: {
        randomBytes: (count, random) =>
          count === VERSION_BYTES
            ? new Uint8Array(count).fill(random.below(2))
            : Uint8Array.from({ length: count }, () => random.below(256)),
      },
    },
  },
  {
    name: 'time-out taken for failure',
    why: 'point 35: what was not answered may have been carried out, or will be',
    options: { traits: { doubts: { judge: (change, row) => refused(judgeDoubt(change, row)) } } },
  },
  {
    name: 'time-out taken for success',
    why: 'point 35: what was not answered may never be carried out',
    options: { traits: { doubts: { judge: () => 'applied' } } },
  },
  {
    name: 'entry after the item',
    why: 'point 37: an entry of a global index is there before its item is',
    options: { traits: { engineOf: entriesLate } },
  },
  {
    name: 'lease ignored',
    why: 'point 38: a server writes only with a catalogue that it has read of late',
    options: { isLeaseIgnored: true },
  },
  {
    name: 'late step left alone',
    isCostly: true,
    why: 'point 38: a server that was frozen behind its look at its lease looks again before it answers',
    options: {
      // Of what is late, most is not sent again at all otherwise.
      traits: { isLateLeftAlone: true, actWithinMs: 3_600_000 },
      isFrozenAtIndex: true,
      clients: 30,
    },
  },
  {
    name: 'tombstone too short',
    isCostly: true,
    why: 'point 2: a tombstone is kept for longer than any delay',
    options: { traits: { keepMs: 1 }, isFrozenOften: true, clients: 30, transactions: 3000 },
  },
  {
    name: 'acts however late',
    isCostly: true,
    why: 'point 2: what was not answered is not sent again by a server that was frozen until its tombstone was gone',
    options: {
      traits: { keepMs: 6000, actWithinMs: 3_600_000 },
      isFrozenLong: true,
      clients: 30,
      transactions: 3000,
    },
  },
  {
    name: 'cancel without a fence',
    why: 'point 2: what a client was told of a token holds on all servers',
    options: { traits: { isCancelUnfenced: true }, isRepeating: true },
  },
  {
    name: 'section 4 without read marks',
    why: 'point 36: old timestamps and blind overtaking need read marks',
    options: { traits: { rules: { ...engineRules, oldTimestamps: true } } },
  },
  {
    name: 'section 4 with several prepared on one item',
    why: 'point 36: an item of an engine has room for one intent, which nothing overtakes',
    options: { traits: { rules: { ...engineRules, severalPrepared: true } } },
  },
]

const refused = (doubt: ReturnType<typeof judgeDoubt>): ReturnType<typeof judgeDoubt> =>
  doubt === 'again' || doubt === 'applied' ? 'refused' : doubt

/** Answers before the entries are there, and puts them a while later. */
function entriesLate(engine: Engine): Engine {
  return {
    name: engine.name,
    limits: engine.limits,
    scopeOf: (address) => engine.scopeOf(address),
    read: (...args) => engine.read(...args),
    cas: (...args) => engine.cas(...args),
    range: (...args) => engine.range(...args),
    createSpace: (space) => engine.createSpace(space),
    dropSpace: (space) => engine.dropSpace(space),
    close: () => engine.close(),
    write: async (rows) => {
      if (rows.every(({ head }) => head === undefined)) return engine.write(rows)
      const later = async (): Promise<void> => {
        const [first] = rows
        for (let looks = 0; looks < 3; looks++)
          await engine.read([first!.address], 'consistent').catch(() => undefined)
        await engine.write(rows)
      }
      later().catch(() => undefined)
      return { outcome: 'applied' }
    },
  }
}
