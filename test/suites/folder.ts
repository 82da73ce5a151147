// A folder for one test, removed afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-test-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
