// The data folder: whose it is, and what is in it.
//
//   DIR/seriatim.json            format and number of nodes
//   DIR/lock                     the process that owns the folder
//   DIR/node-0/index/*           LMDB
//   DIR/node-0/journal/*         segments, with one node
//   DIR/journal/*                segments, with several: they share them
import { dirname, join, resolve } from 'node:path'
import { takeLock } from '../runtime/process-lock.js'
import { realFiles } from '../runtime/real-files.js'
import { readIfThere, writeWhole } from '../runtime/small-files.js'
import { FolderRefused } from './errors.js'

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

/**
 * Takes the folder for this process, creating it if there is none.
 * @throws FolderRefused if another process has it, or it was written by a later version or for another number of nodes
 */
export async function takeFolder(path: string, nodes?: number): Promise<DataFolder> {
  const files = realFiles()
  await files.makeFolder(path)
  const lock = await takeLock(join(path, 'lock'))
  if ('heldBy' in lock) throw new FolderRefused(heldMessage(path, lock.heldBy))
  try {
    const count = await readOrCreateFormat(path, nodes)
    const nodePath = (node: number): string => join(path, `node-${node}`)
    for (let node = 0; node < count; node++) await files.makeFolder(nodePath(node))
    await files.syncFolder(path)
    await files.syncFolder(dirname(resolve(path)))
    const journalPath = join(count === 1 ? nodePath(0) : path, 'journal')
    const upgrade = (): Promise<void> => writeFormat(join(path, 'seriatim.json'), count)
    return { nodes: count, nodePath, journalPath, upgrade, release: lock.release }
  } catch (error) {
    await lock.release()
    throw error
  }
}

function heldMessage(path: string, pid: number | undefined): string {
  return pid === undefined
    ? `The data folder ${path} is being taken by several processes at once. Start one of them.`
    : `The data folder ${path} is in use by process ${pid}. Stop that process, or use another folder.`
}

async function readOrCreateFormat(path: string, wanted: number | undefined): Promise<number> {
  const file = join(path, 'seriatim.json')
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
