// Programs that stand in the documentation, run as a user would run them: in a folder of their own, with this package
// installed. Several may share a process, one after another, and so the time of its imports.
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

/** What stands between the output of two programs of one process, and before the error of one. */
const BEGINS = '--- the next program ---'
const FAILED = '--- failed ---'

export interface Program {
  readonly page: string
  readonly name: string
  readonly code: string
}

export interface RunAllOptions {
  readonly processes: 'one' | 'one each'
  readonly environment?: Readonly<Record<string, string>>
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
    for (const scope of ['@aws-sdk', '@modelcontextprotocol'])
      mkdirSync(join(modules, scope), { recursive: true })
    symlinkSync(ROOT, join(modules, 'seriatim'))
    for (const name of [
      '@aws-sdk/client-dynamodb',
      '@aws-sdk/client-dynamodb-streams',
      '@modelcontextprotocol/sdk',
      'ion-js',
    ])
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

  /** What each of them printed, in its place; of one that fails, an error with its stack. */
  async runAll(
    programs: readonly Program[],
    { processes, environment = {} }: RunAllOptions,
  ): Promise<readonly (string | Error)[]> {
    if (processes === 'one each') {
      const printed: (string | Error)[] = []
      for (const program of programs)
        printed.push(await this.run(program, [], environment).catch((error: unknown) => error as Error))
      return printed
    }
    const files = programs.map((program) => {
      const file = join(mkdtempSync(join(this.folder, 'run-')), program.name)
      writeFileSync(file, program.code)
      return file
    })
    const code = `
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
for (const file of process.argv.slice(2)) {
  process.chdir(dirname(file))
  console.log('${BEGINS}')
  try {
    await import(pathToFileURL(file))
  } catch (error) {
    console.log('${FAILED}' + (error.stack ?? error))
  }
}
console.log('${BEGINS}')
process.exit()
`
    const printed = await this.run({ page: '', name: 'one-after-another.mjs', code }, files, environment)
    const parts = printed.split(`${BEGINS}\n`)
    assert.equal(parts.length, programs.length + 2, `ended early: ${printed}`)
    return programs.map((_, at) => {
      const [stdout = '', failure] = (parts[at + 1] ?? '').split(FAILED)
      return failure === undefined ? stdout : new Error(failure)
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function assertPrinted({ code }: Program, stdout: string | Error): void {
  if (stdout instanceof Error) throw stdout
  const printed = stdout.replaceAll(/\s+/g, ' ')
  for (const [, expected = ''] of code.matchAll(PRINTED))
    assert.ok(printed.includes(expected.trim().replaceAll(/\s+/g, ' ')), `printed ${stdout}, not ${expected}`)
}
