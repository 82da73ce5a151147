// Where a copy stands, in a file of its folder that no listing of the folder as a bucket shows: the command repeated goes on there.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNFINISHED } from '../../buckets/buckets.js'

export class ResumeFile<State> {
  readonly #path: string

  constructor(folder: string, name: string) {
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, `${UNFINISHED}${name}.json`)
  }

  read(): State | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as State
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new Error(`${this.#path} cannot be read; remove it to begin anew: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  write(state: State): void {
    const next = `${this.#path}.next`
    writeFileSync(next, JSON.stringify(state))
    renameSync(next, this.#path)
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }
}
