// The data folder: whose it is, and what is in it.
//
//   DIR/seriatim.json            format, number of nodes, id of the folder
//   DIR/owner.lock               locked by the process that owns the folder; never removed
//   DIR/node-0/index/*           LMDB
//   DIR/node-0/journal/*         segments, with one node
//   DIR/journal/*                segments, with several: they share them
//   DIR/commit-log/*             the log of commits, once a table has asked for it
//   DIR/ledger.key               the key that signs checkpoints, once a table is a ledger; of its owner alone
//
// The id of the folder stands also in each index, with the number of its node, and in each segment: a part that was swapped
// or brought from elsewhere is refused. While a folder is made, or brought to this format, it is `unfinished`: parts may
// lack, and nothing has been acknowledged that is not in those which are there.
//
//   seriatim.json, unfinished --> indexes, marked --> first segment --> seriatim.json --> nodes are opened
import { isSystemError } from '../../model/message-of.js'
import { dirname, join, resolve } from 'node:path'
import { kernelLock, NoLocks, type TryLock } from '../../runtime/kernel-lock.js'
import { holderByPid } from '../../runtime/pid-lock.js'
import { type LockResult, staysLocked, takeLock } from '../../runtime/process-lock.js'
import { realFiles } from '../../runtime/real-files.js'
import { realRuntime } from '../../runtime/real-runtime.js'
import type { Runtime } from '../../runtime/runtime.js'
import { isFile, readIfThere, writeWhole } from '../../runtime/small-files.js'
import { FolderRefused } from '../../line/errors.js'
import { heldBy, notOurs, systemRefusal, withoutFormat, withoutLocks } from './folder-refusals.js'

const FORMAT_FILE = 'seriatim.json'
const LOCK_FILE = 'owner.lock'
/** The lock file of earlier versions: it names a process. */
const OLD_LOCK_FILE = 'lock'
/** What may be in a folder that is not in use yet. */
const NOT_IN_THE_WAY = new Set([LOCK_FILE, OLD_LOCK_FILE, `${FORMAT_FILE}.new`, 'lost+found'])
const NODE = /^node-\d+$/
/** What only a data folder has. */
const PART = /^(node-\d+|journal|commit-log)$/

const FORMAT = 4
/** The same with a log of commits, of which earlier versions know nothing. */
const FORMAT_WITH_LOG = 5
/** And with ledger tables: an earlier version would leave holes in their history. */
const FORMAT_WITH_LEDGER = 7
/** Its histories had an entry for each revision. They are read as they are, and added to in the form of this version. */
const OLD_FORMAT_WITH_LEDGER = 6
/**
 * Before, nothing in a folder said where it belonged. In format 1 each of several nodes had a journal of its own: that is not
 * read any more.
 */
const OLD_FORMATS_OF_ONE_NODE: readonly number[] = [1]
const OLD_FORMATS_OF_SEVERAL_NODES: readonly number[] = [2, 3]
const ID = /^[0-9a-f]{32}$/
const ID_BYTES = 16

export interface DataFolder {
  readonly path: string
  readonly nodes: number
  nodePath(node: number): string
  indexPath(node: number): string
  readonly journalPath: string
  readonly logPath: string
  /** A log of commits was begun. */
  readonly hasLog: boolean
  /** Before a log of commits is begun: from here on earlier versions refuse the folder. */
  beginLog(): Promise<void>
  /** The key of the ledger. */
  readonly keyPath: string
  /** Before a table is a ledger. */
  beginLedger(): Promise<void>
  /** `old`: of an earlier format, or not begun. */
  readonly state: 'whole' | 'unfinished' | 'old'
  readonly id: string
  /** Before anything else is written: from here on the folder has the format of this version. */
  begin(): Promise<void>
  /** All parts are there, and durable. */
  finish(): Promise<void>
  release(): Promise<void>
}

export interface FolderOptions {
  /** As many as the folder was made for, or one, unless told otherwise. */
  readonly nodes?: number
  /** The kernel's, unless a test brings its own. */
  readonly locks?: () => TryLock
  /** Gives the id of a new folder. */
  readonly runtime?: Pick<Runtime, 'randomBytes'>
}

/**
 * Takes the folder for this process, creating it if there is none.
 * @throws FolderRefused if another process has it, or if it cannot be used as it is
 */
export async function takeFolder(path: string, options: FolderOptions = {}): Promise<DataFolder> {
  return refusing(path, async () => {
    await realFiles().makeFolder(path)
    return takenFolder(path, options)
  })
}

/** The same for a folder that must be there already; nothing is created but its lock. */
export async function takeExistingFolder(path: string): Promise<DataFolder> {
  return refusing(path, async () => {
    if ((await readIfThere(join(path, FORMAT_FILE))) === undefined) {
      await refuseOthers(path)
      throw new FolderRefused(`There is no data folder at ${path}.`)
    }
    return takenFolder(path, {})
  })
}

async function takenFolder(
  path: string,
  { nodes, locks = kernelLock, runtime = realRuntime() }: FolderOptions,
): Promise<DataFolder> {
  await refuseOthers(path)
  const lock = await lockFolder(path, locks())
  try {
    const found = await readFormat(path, nodes)
    const format = found ?? { nodes: nodes ?? 1, state: 'old' as const, hasLog: false, hasLedger: false }
    const id = format.id ?? Buffer.from(runtime.randomBytes(ID_BYTES)).toString('hex')
    return folderOf(path, { ...format, id }, lock.release)
  } catch (error) {
    await lock.release()
    throw error
  }
}

function folderOf(
  path: string,
  { nodes, id, state, hasLog, hasLedger, isOutgrown = false }: Format & { readonly id: string },
  release: DataFolder['release'],
): DataFolder {
  const files = realFiles()
  const nodePath = (node: number): string => join(path, `node-${node}`)
  let format = hasLedger ? FORMAT_WITH_LEDGER : hasLog ? FORMAT_WITH_LOG : FORMAT
  const write = async (unfinished: { readonly unfinished?: true }): Promise<void> => {
    await writeWhole(join(path, FORMAT_FILE), `${JSON.stringify({ format, nodes, id, ...unfinished })}\n`)
    await files.syncFolder(path)
  }
  const begin = async (): Promise<void> => {
    if (state === 'whole') {
      if (isOutgrown) await write({})
      return
    }
    if (state === 'old') {
      await write({ unfinished: true })
      await files.syncFolder(dirname(resolve(path)))
    }
    for (let node = 0; node < nodes; node++) await files.makeFolder(nodePath(node))
    await files.syncFolder(path)
  }
  const finish = async (): Promise<void> => {
    if (state === 'whole') return
    await write({})
    // An earlier version refuses the folder from here on, whatever this file says.
    await files.remove(join(path, OLD_LOCK_FILE)).catch(() => undefined)
  }
  return {
    path,
    nodes,
    id,
    state,
    nodePath,
    indexPath: (node) => join(nodePath(node), 'index'),
    journalPath: join(nodes === 1 ? nodePath(0) : path, 'journal'),
    logPath: join(path, 'commit-log'),
    hasLog,
    beginLog: async () => {
      format = Math.max(format, FORMAT_WITH_LOG)
      await write({})
    },
    keyPath: join(path, 'ledger.key'),
    beginLedger: async () => {
      if (format === FORMAT_WITH_LEDGER) return
      format = FORMAT_WITH_LEDGER
      await write({})
    },
    begin,
    finish,
    release,
  }
}

/** Before anything is written: a folder without a format is empty, or it is not ours. */
async function refuseOthers(path: string): Promise<void> {
  const names = await realFiles().list(path)
  // Read after the names: a folder that is being made has its format before it has any part.
  if ((await readIfThere(join(path, FORMAT_FILE))) !== undefined) return
  const part = names.find((name) => PART.test(name))
  if (part !== undefined) throw withoutFormat(path, part)
  const others = names.filter((name) => !NOT_IN_THE_WAY.has(name))
  if (others.length > 0) throw notOurs(path, others.toSorted())
}

async function lockFolder(
  path: string,
  tryLock: TryLock,
): Promise<Extract<LockResult, { release: unknown }>> {
  const lock = await takeLock(join(path, LOCK_FILE), tryLock)
  if ('heldBy' in lock) throw heldBy(path, lock.heldBy)
  try {
    const pid = await holderByPid(join(path, OLD_LOCK_FILE))
    if (pid !== undefined) throw heldBy(path, { pid })
    // LMDB has a lock of its own on this file while a process has the index open: an earlier version in another container,
    // one whose lock file was removed, or the writer of a killed owner, which may have the index of one node open.
    for (const name of await realFiles().list(path))
      if (NODE.test(name) && (await staysLocked(join(path, name, 'index', 'lock.mdb'), tryLock)))
        throw heldBy(path, {})
    return lock
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** What a system call says about the folder becomes a sentence. */
export async function refusing<T>(path: string, take: () => Promise<T>): Promise<T> {
  try {
    return await take()
  } catch (error) {
    if (error instanceof NoLocks) throw withoutLocks(path, error.message)
    throw isSystemError(error) ? await systemRefusal(path, error, isFile) : error
  }
}

interface Format {
  readonly nodes: number
  readonly state: DataFolder['state']
  readonly hasLog: boolean
  readonly hasLedger: boolean
  /** Of an earlier format that needs nothing but the number of this one. */
  readonly isOutgrown?: boolean
  readonly id?: string
}

async function readFormat(path: string, wanted: number | undefined): Promise<Format | undefined> {
  const file = join(path, FORMAT_FILE)
  const text = await readIfThere(file)
  if (text === undefined) return undefined
  const { format, nodes, id, unfinished } = parseFormat(file, text)
  const old = nodes === 1 ? OLD_FORMATS_OF_ONE_NODE : OLD_FORMATS_OF_SEVERAL_NODES
  const isCurrent = format >= FORMAT && format <= FORMAT_WITH_LEDGER
  if (!isCurrent && !old.includes(format)) {
    throw new FolderRefused(
      `The data folder ${path} has format ${format}, and this version reads format ${FORMAT_WITH_LEDGER}. ` +
        `Open it with the version of Seriatim that wrote it.`,
    )
  }
  if (wanted !== undefined && wanted !== nodes) {
    throw new FolderRefused(
      `The data folder ${path} was made for ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, not ${wanted}. ` +
        `Start with --nodes ${nodes}, or in an empty folder.`,
    )
  }
  if (!isCurrent) return { nodes, state: 'old', hasLog: false, hasLedger: false }
  const hasLog = format >= FORMAT_WITH_LOG
  const hasLedger = format >= OLD_FORMAT_WITH_LEDGER
  if (typeof id !== 'string' || !ID.test(id)) throw unreadableFormat(file)
  return {
    nodes,
    id,
    hasLog,
    hasLedger,
    isOutgrown: format === OLD_FORMAT_WITH_LEDGER,
    state: unfinished === true ? 'unfinished' : 'whole',
  }
}

interface FormatText {
  readonly format: number
  readonly nodes: number
  readonly id?: unknown
  readonly unfinished?: unknown
}

function parseFormat(file: string, text: string): FormatText {
  try {
    const found = JSON.parse(text) as FormatText
    if (Number.isInteger(found.format) && Number.isInteger(found.nodes) && found.nodes > 0) return found
  } catch {
    // Told below.
  }
  throw unreadableFormat(file)
}

const unreadableFormat = (file: string): FolderRefused =>
  new FolderRefused(`The file ${file} is not readable. Restore it from a backup of the data folder.`)
