// Units that outlive the process that began them: what they read and wrote is kept beside their header, and another
// process goes on. Locks that they hold stay; otherwise a detached unit holds nothing, and its reads are validated when
// it is committed.
import { parseItem } from '../../model/parse-value.js'
import { Conflict, UnitNotFound } from '../endpoint/errors.js'
import type { AttemptStart, DetachedUnits, CommitWork } from '../unit/protocol.js'
import type { IsolationLevel, TransactOptions } from '../unit/transactor.js'
import type { IntentsAttempt, Resumed } from './attempt.js'
import { readHeader } from './context/headers.js'
import { findRecords } from './context/record-table.js'
import type { SeenPage } from './items/ranges.js'
import type { IntentsContext } from './context/context.js'
import { readSpills, spillsOf, writeSpill } from './context/spill.js'
import type { Observed } from './items/validate.js'

interface Kept {
  readonly work: CommitWork
  readonly pages: readonly SeenPage[]
  readonly guards?: readonly Observed[]
  readonly isolation: IsolationLevel
  readonly timeoutMs: number
}

/** Plans of different turns do not overwrite each other: the header says which one counts. */
const PLAN_RECORDS_MAX = 100
const planStart = (turn: number): number => turn * PLAN_RECORDS_MAX

export function detachedUnits(
  space: IntentsContext,
  parts: {
    readonly attemptOf: (start: AttemptStart) => IntentsAttempt | undefined
    readonly resumed: (id: string, resumed: Resumed) => void
  },
): DetachedUnits {
  const usage = { requests: 0, capacity: 0 }
  return {
    async detach(start, work) {
      const attempt = parts.attemptOf(start)
      if (attempt === undefined) throw new TypeError('this attempt was begun by another transactor')
      const { isolation, timeoutMs } = start
      const guards = await attempt.guards.all()
      const kept: Kept = { work, pages: attempt.pages, guards, isolation, timeoutMs }
      const turn = (attempt.locks.header?.turn ?? 0) + 1
      const spills = spillsOf(attempt.party.id, 'plan', planStart(turn), JSON.stringify(kept))
      if (spills.length > PLAN_RECORDS_MAX) throw new RangeError('this unit is too large to be detached')
      for (const spill of spills) await writeSpill(space, spill, usage)
      await attempt.locks.save({ plan: spills.length, planFirst: planStart(turn) })
      attempt.detach()
    },
    async resume(id) {
      await findRecords(space)
      const header = await readHeader(space, id, usage)
      if (header === undefined || header.plan === 0)
        throw new UnitNotFound(
          `There is no detached unit of work ${id}: it was ended, or never detached.`,
          id,
        )
      if (header.state !== 'pending') throw new Conflict(`transaction ${id} is ${header.state} already`)
      const where = { id, kind: 'plan', first: header.planFirst, count: header.plan } as const
      const text = await readSpills(space, where, usage)
      if (text === undefined)
        throw new Conflict(`another coordinator has gone on with transaction ${id}`, { competitor: id })
      const { work, pages, guards = [], isolation, timeoutMs } = JSON.parse(text) as Kept
      parts.resumed(id, { header, pages, guards })
      const options: TransactOptions = { isolation, timeoutMs }
      return { work: parsedWork(work), options }
    },
  }
}

/** JSON loses nothing of an item but an attribute named `__proto__`, which parseItem keeps. */
function parsedWork(work: CommitWork): CommitWork {
  const addressed = <T extends { readonly key: unknown }>(one: T) => ({ ...one, key: parseItem(one.key) })
  return {
    ...work,
    reads: work.reads.map((read) => ({
      ...addressed(read),
      ...(read.item !== undefined && { item: parseItem(read.item) }),
    })),
    actions: work.actions.map((action) => ({
      ...addressed(action),
      ...(action.item !== undefined && { item: parseItem(action.item) }),
    })),
    locks: work.locks.map(addressed),
  }
}
