// The file of a run: read to go on with it, written after each unit so that an interrupted run loses little.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { RunFile } from './records.js'

/** Undefined if there is none. */
export function readRunFile(path: string): RunFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const run = JSON.parse(text) as Partial<RunFile>
  if (run.format !== 'seriatim-bench-1') throw new Error(`${path} is not the file of a benchmark run`)
  return run as RunFile
}

/** Whole, or as it was. */
export function writeRunFile(path: string, run: RunFile): void {
  writeFileSync(`${path}.new`, JSON.stringify(run, undefined, 1))
  renameSync(`${path}.new`, path)
}
