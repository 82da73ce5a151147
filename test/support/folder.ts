// A folder for one test, removed when the tests of its file are over.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-test-'))
  folders.push(folder)
  return folder
}
