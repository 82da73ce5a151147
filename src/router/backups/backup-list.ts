// The backups that there are: one file each, which says what it is. Those that are being made have no file yet.
import { BackupReader } from '../../backups/backup-file.js'
import { BackupDamaged } from '../../backups/backup-frame.js'
import type { Timestamp } from '../../model/brand.js'
import type { WholeFiles } from '../../runtime/whole-files.js'
import { decodeTableRecord, type TableRecord } from '../tables/record/table-record.js'

/** What the file of a backup says of it. */
export interface BackupAbout {
  readonly id: string
  readonly name: string
  readonly type: 'USER' | 'SYSTEM'
  readonly createdAtMicros: number
  readonly expiresAtMicros?: number
  /** The moment of what it holds. */
  readonly at: Timestamp
  /** As it was then. */
  readonly table: TableRecord
  readonly items: number
  readonly itemsBytes: number
}

export interface BackupInfo extends BackupAbout {
  readonly status: 'CREATING' | 'AVAILABLE' | 'DELETED'
}

export const fileOf = ({ id }: Pick<BackupAbout, 'id'>): string => `backup-${id}`
const FILE = /^backup-([0-9a-f-]{1,64})$/

export const isBackupFile = (file: string): boolean => FILE.test(file)

/**
 * What the file says of itself, if it can be believed: it is read from a folder that others may write into.
 * @throws BackupDamaged
 */
export function checkedAbout(file: string, about: BackupAbout): BackupAbout {
  const id = FILE.exec(file)?.[1]
  try {
    const { name, type, createdAtMicros, table } = about
    decodeTableRecord({ name: `table/${table.name}`, value: Buffer.from(JSON.stringify(table)) })
    const isKnown = typeof name === 'string' && (type === 'USER' || type === 'SYSTEM')
    if (about.id === id && isKnown && Number.isSafeInteger(createdAtMicros)) return about
  } catch {
    // As below.
  }
  throw new BackupDamaged(`The file ${file} does not say which backup it is: it cannot be restored.`)
}

export class BackupList {
  readonly #files: WholeFiles
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, BackupInfo>()
  /** How many restores read it. */
  readonly #readers = new Map<string, number>()

  constructor(files: WholeFiles, onError: (error: unknown) => void) {
    this.#files = files
    this.#onError = onError
  }

  /** Reads what is there, and removes what was not finished. A file that cannot be read is told of, and left where it is. */
  async load(): Promise<void> {
    await this.#files.sweep()
    for (const file of (await this.#files.list()).filter(isBackupFile)) {
      try {
        const reader = await BackupReader.open<BackupAbout>(this.#files, file)
        await reader.close()
        const about = checkedAbout(file, reader.head.about)
        this.#known.set(about.id, { ...about, status: 'AVAILABLE' })
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** The oldest first. */
  all(): readonly BackupInfo[] {
    return [...this.#known.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))
  }

  find(id: string): BackupInfo | undefined {
    return this.#known.get(id)
  }

  put(info: BackupInfo): void {
    this.#known.set(info.id, info)
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /** From this turn on no restore of it begins. */
  async remove(info: BackupInfo): Promise<void> {
    this.#known.delete(info.id)
    try {
      await this.#files.remove(fileOf(info))
    } catch (error) {
      this.#known.set(info.id, info)
      throw error
    }
  }

  isRead({ id }: Pick<BackupAbout, 'id'>): boolean {
    return this.#readers.has(id)
  }

  /** From this turn on it is not removed, until the result is called. */
  beginRead({ id }: Pick<BackupAbout, 'id'>): () => void {
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1)
    return () => {
      const left = (this.#readers.get(id) ?? 1) - 1
      if (left === 0) this.#readers.delete(id)
      else this.#readers.set(id, left)
    }
  }
}

/** As DynamoDB's: the time in milliseconds, and something that no other has. The order of ids is that of their times. */
export const backupIdOf = (micros: number, random: Uint8Array): string =>
  `${String(Math.floor(micros / 1000)).padStart(14, '0')}-${Buffer.from(random).toString('hex').slice(0, 8)}`
