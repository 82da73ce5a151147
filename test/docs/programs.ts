// Programs that stand in the documentation, run as a user would run them: in a folder of their own, with this package
// installed.
//
//   <!-- run: name.mjs -->      a whole program: runs without arguments and prints what its comments say
//   <!-- script: name.mjs -->   a script with arguments
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../../..')
const BLOCK = /<!-- (run|script): ([\w.-]+) -->\s+```(?:js|ts)\n([\s\S]*?)\n```/g
/** A comment at the end of a line that prints says what is printed. */
const PRINTED = /console\.log\(.*\) \/\/ (.+)$/gm

export interface Program {
  readonly page: string
  readonly name: string
  readonly code: string
}

/** The README and every page of docs/. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .toSorted(),
]

export function programsOf(page: string, kind: 'run' | 'script' = 'run'): Program[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(BLOCK)]
    .filter(([, marked]) => marked === kind)
    .map(([, , name = '', code = '']) => ({ page, name, code }))
}

export function scriptOf(page: string, name: string): Program {
  const script = programsOf(page, 'script').find((program) => program.name === name)
  assert.ok(script, `${page} has no script ${name}`)
  return script
}

/** A folder in which this package and those that the documentation asks for are installed. */
export class Installation implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'seriatim-docs-'))

  constructor() {
    const modules = join(this.folder, 'node_modules')
    mkdirSync(join(modules, '@aws-sdk'), { recursive: true })
    symlinkSync(ROOT, join(modules, 'seriatim'))
    for (const name of ['@aws-sdk/client-dynamodb', 'ion-js'])
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }

  /** What the program printed; rejects with `stderr` if it fails. */
  async run(
    program: Program,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const cwd = mkdtempSync(join(this.folder, 'run-'))
    writeFileSync(join(cwd, program.name), program.code)
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program.name, ...args], {
      cwd,
      env: { ...process.env, ...environment },
    })
    return stdout
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function assertPrinted({ code }: Program, stdout: string): void {
  const printed = stdout.replaceAll(/\s+/g, ' ')
  for (const [, expected = ''] of code.matchAll(PRINTED))
    assert.ok(printed.includes(expected.trim().replaceAll(/\s+/g, ' ')), `printed ${stdout}, not ${expected}`)
}
