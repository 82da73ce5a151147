// Every block of code in the documentation that is marked `<!-- run: name.mjs -->` is run as a user would run it: in a
// folder of its own, with this package installed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../../..')
const RUN = /<!-- run: ([\w.-]+) -->\s+```(?:js|ts)\n([\s\S]*?)\n```/g
/** A comment at the end of a line that prints says what is printed. */
const PRINTED = /console\.log\(.*\) \/\/ (.+)$/gm

const folder = mkdtempSync(join(tmpdir(), 'seriatim-docs-'))
mkdirSync(join(folder, 'node_modules', '@aws-sdk'), { recursive: true })
symlinkSync(ROOT, join(folder, 'node_modules', 'seriatim'))
symlinkSync(
  join(ROOT, 'node_modules', '@aws-sdk', 'client-dynamodb'),
  join(folder, 'node_modules', '@aws-sdk', 'client-dynamodb'),
)
after(() => rmSync(folder, { recursive: true, force: true }))

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .toSorted(),
]

for (const page of pages) {
  for (const [, name = '', code = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(RUN)) {
    test(`${page}: ${name} runs and prints what it says`, async () => {
      const cwd = mkdtempSync(join(folder, 'run-'))
      writeFileSync(join(cwd, name), code)
      const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', name], { cwd })
      const printed = stdout.replaceAll(/\s+/g, ' ')
      for (const [, expected = ''] of code.matchAll(PRINTED)) {
        assert.ok(
          printed.includes(expected.trim().replaceAll(/\s+/g, ' ')),
          `printed ${stdout}, not ${expected}`,
        )
      }
    })
  }
}
