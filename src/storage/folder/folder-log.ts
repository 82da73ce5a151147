// The log of commits of a data folder: opened with it, or begun when a table first asks for it.
import { decodeLogEntry } from '../../commit-log/entries.js'
import { openLogFiles } from '../../commit-log/files/log-files.js'
import type { LocalLog } from '../../commit-log/local-log.js'
import type { LogStorage } from '../../commit-log/log-storage.js'
import type { Frame } from '../../journal/frame.js'
import type { JournalReader } from '../../journal/journal.js'
import { HEADER_BYTES } from '../../line/record.js'
import { inSpace } from '../../line/spaces.js'
import type { KeyBytes } from '../../model/brand.js'
import type { Knobs } from '../../model/knobs.js'
import type { FileLayer } from '../../runtime/files.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { DataFolder } from './folder.js'

/** Where the log of commits is kept. */
export interface LogParts {
  /** Undefined: no table ever asked for it. */
  readonly storage: LogStorage | undefined
  /** The journal has nothing for it before that offset. */
  begin(upTo: number): Promise<LogStorage>
}

export const NO_LOG: LogParts = {
  storage: undefined,
  begin: () => Promise.reject(new Error('these nodes keep no log of commits')),
}

export interface FolderLogOptions {
  readonly files: FileLayer
  readonly runtime: Runtime
  readonly tuning?: Partial<Knobs> | undefined
}

export async function folderLog(folder: DataFolder, options: FolderLogOptions): Promise<LogParts> {
  const { files, runtime, tuning } = options
  const open = (): Promise<LogStorage> =>
    openLogFiles({
      files,
      runtime,
      folder: folder.logPath,
      owner: folder.id,
      state: folder.hasLog ? 'begun' : 'unknown',
      ...(tuning && { knobs: tuning }),
    })
  const begin = async (upTo: number): Promise<LogStorage> => {
    const storage = await open()
    try {
      await storage.append([], { upTo, number: storage.last })
      // Only now: a folder that is said to have a log has one.
      await folder.beginLog()
      return storage
    } catch (error) {
      await storage.close()
      throw error
    }
  }
  return { storage: folder.hasLog ? await open() : undefined, begin }
}

/** What the journal is read back for. */
export function readerFor(log: LocalLog, from: number): JournalReader {
  return {
    from,
    replay: (frame) => {
      if (frame.logged.length > 0)
        log.add(frame.logged.map((bytes) => decodeLogEntry(bytes, imagesIn(frame))))
      if (!frame.goesOn) log.settle(frame.end)
      return Promise.resolve()
    },
  }
}

function imagesIn({ changes }: Frame): Parameters<typeof decodeLogEntry>[1] {
  let values: ReadonlyMap<KeyBytes, Uint8Array | undefined> | undefined
  return (space, key) => {
    values ??= new Map(changes)
    const value = values.get(inSpace(space, key))
    if (value === undefined)
      throw new Error('a frame of the journal lacks an image that the log of commits needs')
    return value.subarray(HEADER_BYTES)
  }
}
