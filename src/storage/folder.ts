// The data folder: whose it is, and what is in it.
//
//   DIR/seriatim.json            format and number of nodes
//   DIR/owner.lock               locked by the process that owns the folder; never removed
//   DIR/node-0/index/*           LMDB
//   DIR/node-0/journal/*         segments, with one node
//   DIR/journal/*                segments, with several: they share them
import { dirname, join, resolve } from 'node:path'
import { kernelLock, NoLocks, type TryLock } from '../runtime/kernel-lock.js'
import { holderByPid } from '../runtime/pid-lock.js'
import { type LockResult, staysLocked, takeLock } from '../runtime/process-lock.js'
import { realFiles } from '../runtime/real-files.js'
import { isFile, readIfThere, writeWhole } from '../runtime/small-files.js'
import { FolderRefused } from './errors.js'
import { heldBy, notOurs, systemRefusal, withoutFormat, withoutLocks } from './folder-refusals.js'

const FORMAT_FILE = 'seriatim.json'
const LOCK_FILE = 'owner.lock'
/** The lock file of earlier versions: it names a process. */
const OLD_LOCK_FILE = 'lock'
/** What may be in a folder that is not in use yet. */
const NOT_IN_THE_WAY = new Set([LOCK_FILE, OLD_LOCK_FILE, `${FORMAT_FILE}.new`, 'lost+found'])
/** What only a data folder has. */
const PART = /^(node-\d+|journal)$/

const FORMAT_OF_ONE_NODE = 1
/** In format 1 each of several nodes had a journal of its own; in format 2 each frame of the common one stood for itself. */
const FORMAT_OF_SEVERAL_NODES = 3
const OLD_FORMAT_OF_SEVERAL_NODES = 2
const formatFor = (nodes: number): number => (nodes === 1 ? FORMAT_OF_ONE_NODE : FORMAT_OF_SEVERAL_NODES)

export interface DataFolder {
  readonly nodes: number
  nodePath(node: number): string
  readonly journalPath: string
  /** Before anything is written: from here on the folder has the format of this version. */
  upgrade(): Promise<void>
  release(): Promise<void>
}

export interface FolderOptions {
  /** As many as the folder was made for, or one, unless told otherwise. */
  readonly nodes?: number
  /** The kernel's, unless a test brings its own. */
  readonly locks?: () => Promise<TryLock>
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

async function takenFolder(path: string, { nodes, locks = kernelLock }: FolderOptions): Promise<DataFolder> {
  const files = realFiles()
  await refuseOthers(path)
  const lock = await lockFolder(path, await locks())
  try {
    const count = await readOrCreateFormat(path, nodes)
    const nodePath = (node: number): string => join(path, `node-${node}`)
    for (let node = 0; node < count; node++) await files.makeFolder(nodePath(node))
    await files.syncFolder(path)
    await files.syncFolder(dirname(resolve(path)))
    const journalPath = join(count === 1 ? nodePath(0) : path, 'journal')
    const upgrade = (): Promise<void> => writeFormat(join(path, FORMAT_FILE), count)
    return { nodes: count, nodePath, journalPath, upgrade, release: lock.release }
  } catch (error) {
    await lock.release()
    throw error
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
    // or one whose lock file was removed.
    if (await staysLocked(join(path, 'node-0', 'index', 'lock.mdb'), tryLock)) throw heldBy(path, {})
    return lock
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function refusing<T>(path: string, take: () => Promise<T>): Promise<T> {
  try {
    return await take()
  } catch (error) {
    if (error instanceof NoLocks) throw withoutLocks(path, error.message)
    throw isSystemError(error) ? await systemRefusal(path, error, isFile) : error
  }
}

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'code' in error

async function readOrCreateFormat(path: string, wanted: number | undefined): Promise<number> {
  const file = join(path, FORMAT_FILE)
  const found = await readIfThere(file)
  if (found === undefined) {
    const nodes = wanted ?? 1
    await writeFormat(file, nodes)
    return nodes
  }
  const { format, nodes } = parseFormat(file, found)
  const canUpgrade = nodes > 1 && format === OLD_FORMAT_OF_SEVERAL_NODES
  if (format !== formatFor(nodes) && !canUpgrade) {
    throw new FolderRefused(
      `The data folder ${path} has format ${format}, and this version reads format ${formatFor(nodes)}. ` +
        `Open it with the version of Seriatim that wrote it.`,
    )
  }
  if (wanted !== undefined && wanted !== nodes) {
    throw new FolderRefused(
      `The data folder ${path} was made for ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, not ${wanted}. ` +
        `Start with --nodes ${nodes}, or in an empty folder.`,
    )
  }
  return nodes
}

async function writeFormat(file: string, nodes: number): Promise<void> {
  const text = `${JSON.stringify({ format: formatFor(nodes), nodes })}\n`
  if ((await readIfThere(file)) !== text) await writeWhole(file, text)
}

function parseFormat(file: string, text: string): { readonly format: number; readonly nodes: number } {
  try {
    const { format, nodes } = JSON.parse(text) as { format: unknown; nodes: unknown }
    if (Number.isInteger(format) && Number.isInteger(nodes))
      return { format: Number(format), nodes: Number(nodes) }
  } catch {
    // Told below.
  }
  throw new FolderRefused(`The file ${file} is not readable. Restore it from a backup of the data folder.`)
}
