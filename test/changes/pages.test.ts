// Whatever the pages, the tables and the places where a reader begins again: each change once, in order, and whole transactions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeIterable, TableChange } from '../../src/changes/change.js'
import { changesByRecord, changesByTransaction } from '../../src/changes/changes.js'
import { seededRandom } from '../suites/seeded-random.js'
import { followedLog, type WrittenChange } from './followed-log.js'

const SEEDS = 100
const COMMITS = 60
const TABLES = ['A', 'B', 'C'] as const

/** The next so many; the reader is ended at random and begins again after what it had. */
async function readAgainAndAgain<T extends { readonly sequenceNumber: string }>(
  count: number,
  random: (below: number) => number,
  from: (position: string) => ChangeIterable<T>,
): Promise<readonly T[]> {
  const read: T[] = []
  let reader = from('start')
  while (read.length < count) {
    const { value } = await reader.next()
    assert.ok(value !== undefined)
    read.push(value)
    if (random(5) === 0) {
      await reader.return()
      reader = from(value.sequenceNumber)
    }
  }
  await reader.return()
  return read
}

test(`changes: over ${SEEDS} random logs and pages, each change once and in order, from every place`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed)
    const page = { recordsMax: 1 + random(5), bytesMax: 1 + random(1000) }
    const { source, enable, commit } = followedLog({ page })
    for (const table of TABLES) enable(table)
    const commits: (readonly WrittenChange[])[] = []
    const write = async (): Promise<void> => {
      const changes = Array.from({ length: 1 + (random(3) === 0 ? random(6) : 0) }, (_, at) => ({
        table: TABLES[random(3)]!,
        new: { id: { S: `${commits.length}-${at}` }, filler: { S: 'x'.repeat(random(300)) } },
      }))
      commits.push(changes)
      await commit(changes, changes.length > 1 ? `tx-${commits.length}` : undefined)
    }
    for (let at = 0; at < COMMITS / 2; at++) await write()
    const idsOf = (tables: readonly string[]): readonly string[] =>
      commits
        .map((changes) => changes.filter(({ table }) => tables.includes(table)))
        .filter((changes) => changes.length > 0)
        .map((changes) =>
          changes
            .map((change) => change.new?.['id'])
            .map((id) => id && 'S' in id && id.S)
            .join(' '),
        )
    const shown = (changes: readonly TableChange[]): string => changes.map(({ keys }) => keys['id']).join(' ')
    // The second half is committed while both read.
    const ofA = readAgainAndAgain(1, random, (from) => changesByRecord(source, 'A', { from }))
    for (let at = 0; at < COMMITS / 2; at++) await write()
    await ofA
    const singles = idsOf(['A']).join(' ').split(' ')
    const records = await readAgainAndAgain(singles.length, random, (from) =>
      changesByRecord(source, 'A', { from }),
    )
    assert.deepEqual(
      records.map((change) => shown([change])),
      singles,
      `seed ${seed}`,
    )
    const wholes = idsOf(['A', 'C'])
    const transactions = await readAgainAndAgain(wholes.length, random, (from) =>
      changesByTransaction(source, ['A', 'C'], { from }),
    )
    assert.deepEqual(
      transactions.map(({ changes }) => shown(changes)),
      wholes,
      `seed ${seed}`,
    )
  }
})
