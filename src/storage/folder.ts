// The data folder: whose it is, and what is in it.
//
//   DIR/seriatim.json            format and number of nodes
//   DIR/lock                     the process that owns the folder
//   DIR/node-0/journal/*         segments
//   DIR/node-0/index/*           LMDB
import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { FolderRefused } from './errors.js'

export const FOLDER_FORMAT = 1
const TAKEOVERS_MAX = 3

export interface DataFolder {
  readonly nodes: number
  nodePath(node: number): string
  release(): Promise<void>
}

/**
 * Takes the folder for this process, creating it if there is none.
 * @throws FolderRefused if another process has it, or it was written by a later version or for another number of nodes
 */
export async function takeFolder(path: string, nodes?: number): Promise<DataFolder> {
  await mkdir(path, { recursive: true })
  const release = await takeLock(path)
  try {
    const count = await readOrCreateFormat(path, nodes)
    return { nodes: count, nodePath: (node) => join(path, `node-${node}`), release }
  } catch (error) {
    await release()
    throw error
  }
}

async function readOrCreateFormat(path: string, wanted: number | undefined): Promise<number> {
  const file = join(path, 'seriatim.json')
  const found = await readIfThere(file)
  if (found === undefined) {
    const nodes = wanted ?? 1
    await writeDurably(file, `${JSON.stringify({ format: FOLDER_FORMAT, nodes })}\n`)
    return nodes
  }
  const { format, nodes } = parseFormat(file, found)
  if (format !== FOLDER_FORMAT) {
    throw new FolderRefused(
      `The data folder ${path} has format ${format}, and this version reads format ${FOLDER_FORMAT}. ` +
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

/** A name that exists is a file that is whole. */
async function writeDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

async function takeLock(path: string): Promise<() => Promise<void>> {
  const file = join(path, 'lock')
  const owner = await identityOf(process.pid)
  for (let attempt = 0; attempt < TAKEOVERS_MAX; attempt++) {
    try {
      const handle = await open(file, 'wx')
      await handle.writeFile(owner)
      await handle.close()
      return () => unlink(file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = (await readIfThere(file)) ?? ''
    const pid = Number.parseInt(holder, 10)
    if (Number.isInteger(pid) && isAlive(pid) && (await identityOf(pid)) === holder) {
      throw new FolderRefused(
        `The data folder ${path} is in use by process ${pid}. Stop that process, or use another folder.`,
      )
    }
    // Its owner is gone without having released it.
    await unlink(file).catch(() => undefined)
  }
  throw new FolderRefused(`The data folder ${path} is being taken by several processes at once.`)
}

/** A process id alone comes back after a restart of the machine or the container; with its start time it does not. */
async function identityOf(pid: number): Promise<string> {
  const stat = await readIfThere(`/proc/${pid}/stat`)
  const boot = await readIfThere('/proc/sys/kernel/random/boot_id')
  // The name of the program, in brackets, may hold blanks; the start time is the 20th field behind it.
  const started = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${pid} ${boot?.trim() ?? ''} ${started ?? ''}`.trim()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
