// seriatim restore: the tables of a data folder as they were at one moment, in a folder of their own.
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { RestoreMoment } from '../../router/backups/table-backups.js'
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim restore --path DIR --to DIR2 (--at TIME | --before ID | --after ID) [--table NAME ...]

  --path DIR     the data folder: ./data unless told otherwise; no server may be using it
  --to DIR2      a new data folder with the restored tables; it must not exist yet, or be empty
  --at TIME      a time such as 2030-01-01T10:30:00Z, to the microsecond; or latest
  --before ID    just before that transaction
  --after ID     just after it
  --table NAME   only this table; may be repeated

Every table needs point-in-time recovery, enabled before that moment. DIR is not changed by it. If the command is ended, DIR2 is not
there; run it again.`

const OPTIONS = {
  path: { type: 'string', default: './data' },
  to: { type: 'string' },
  at: { type: 'string' },
  before: { type: 'string' },
  after: { type: 'string' },
  table: { type: 'string', multiple: true },
} as const

/** Says that a folder is a restore that was not finished, and may be removed. */
const MARK = 'unfinished-restore'

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const { path, to, table } = values
  if (path === '' || to === undefined || to === '') throw new UsageError('give --path DIR and --to DIR2')
  const moment = momentOf(values)
  if ((await readFile(join(path, 'seriatim.json')).catch(() => undefined)) === undefined)
    throw new Error(`There is no data folder at ${path}.`)
  await refuseUsed(to)
  const partial = `${resolve(to)}.partial`
  await prepare(partial)
  const { restoreFolder } = await import('../../store/restore-folder.js')
  const restored = await restoreFolder({
    path,
    to: join(partial, 'data'),
    moment,
    ...(table !== undefined && { tables: table }),
  })
  await rmdir(to).catch(() => undefined)
  await rename(join(partial, 'data'), to)
  await rm(partial, { recursive: true })
  const { tables, atMicros } = restored
  world.print(`restored ${tables.join(', ')} to ${to} as of ${textOf(atMicros)}`)
  return 0
}

function momentOf({ at, before, after }: { at?: string; before?: string; after?: string }): RestoreMoment {
  const given = [at, before, after].filter((value) => value !== undefined)
  if (given.length !== 1) throw new UsageError('give one of --at TIME, --before ID and --after ID')
  if (before !== undefined) return { kind: 'before', transaction: before }
  if (after !== undefined) return { kind: 'after', transaction: after }
  if (at === 'latest') return { kind: 'latest' }
  const ms = Date.parse(at ?? '')
  if (Number.isNaN(ms)) throw new UsageError(`--at must be a time such as 2030-01-01T10:30:00Z, not '${at}'`)
  // Further digits are of microseconds.
  const micros = Number(/\.\d{3}(\d{1,3})/.exec(at ?? '')?.[1]?.padEnd(3, '0') ?? 0)
  return { kind: 'time', micros: ms * 1000 + micros }
}

async function refuseUsed(to: string): Promise<void> {
  const names = await readdir(to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length > 0) throw new Error(`${to} is not empty. Nothing was written into it.`)
}

/** An earlier restore that was ended goes; a folder of others is left alone. */
async function prepare(partial: string): Promise<void> {
  const names = await readdir(partial).catch(() => [])
  if (names.length > 0 && (await readFile(join(partial, MARK), 'utf8').catch(() => undefined)) === undefined)
    throw new Error(`${partial} is in the way: it is not an unfinished restore.`)
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true })
  await writeFile(join(partial, MARK), '')
}

const textOf = (micros: number): string =>
  new Date(Math.floor(micros / 1000)).toISOString().replace('Z', `${String(micros % 1000).padStart(3, '0')}Z`)
