// The reference of the API is made from the comments in the sources: each name has one, and each example compiles and runs.
// That the pages are what scripts/api-reference.mjs would write is checked by that script, in npm run check.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { contextProgram, internalPrograms, programOf } from './api-examples.js'
import { ENTRIES, examplesIn, packageExports } from './exports.js'
import { assertPrinted, Installation } from './programs.js'

const ROOT = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const names = packageExports()
const declared = names
  .flatMap(({ path, declared: all }) => all.map((each) => ({ path, ...each })))
  .filter(({ comment }) => !comment.includes('@internal'))
const examples = declared.flatMap(({ name, comment }) =>
  examplesIn(comment).map((code, at) => ({ name: at === 0 ? name : `${name} ${at + 1}`, code })),
)

test('API: the reference has a page for every entry point of the package', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: object
  }
  const entries = Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => `seriatim${path.slice(1)}`)
  assert.deepEqual(Object.keys(ENTRIES).toSorted(), entries.toSorted())
})

test('API: every name that the package exports, and every member of it, has a comment', () => {
  assert.ok(names.length > 80 && declared.length > 250)
  const bare = declared.filter(({ comment }) => comment.split(/^@/m)[0]!.trim() === '')
  assert.deepEqual(
    bare.map(({ path, name }) => `${path}: ${name}`),
    [],
  )
})

test('API: the names that a program begins with have an example', () => {
  const shown = new Set(examples.map(({ name }) => name.split('.')[0]))
  const functions = names.filter(({ name, entry }) => /^[a-z]/.test(name) && entry !== 'seriatim/jest')
  const lacking = functions.map(({ name }) => name).filter((name) => !shown.has(name))
  assert.deepEqual(lacking, [])
  for (const name of [
    'Store',
    'Transactor',
    'UnitOfWork',
    'UnitHandle',
    'Locks',
    'Conflict',
    'ConditionFailed',
  ])
    assert.ok(shown.has(name), name)
})

test('API: the pages have every name and every example as the sources have them', () => {
  const folder = join(ROOT, 'docs/reference/api')
  const pages = readdirSync(folder)
    .map((page) => readFileSync(join(folder, page), 'utf8'))
    .join('\n')
  const inOneLine = (text: string): string => text.replaceAll(/[\s,()]+/g, '')
  const shown = inOneLine(pages)
  const missing = [
    ...declared.filter(({ name }) => name !== 'environment' && !pages.includes(name.split('.').at(-1)!)),
    ...examples.filter(({ code }) => !shown.includes(inOneLine(code))),
  ].map(({ name }) => name)
  assert.deepEqual(missing, [], 'run: node scripts/api-reference.mjs')
})

describe('API: examples', () => {
  const installation = new Installation()
  const folder = join(installation.folder, 'examples')
  const fileOf = (name: string): string => name.replaceAll(/\W+/g, '-')
  let printed: ReadonlyMap<string, string>
  const compiled = async (files: readonly string[]): Promise<void> => {
    const flags = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', '--target', 'es2022']
    const libraries = ['--lib', 'es2023,esnext.disposable', '--module', 'nodenext', '--types', 'node']
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    await run(tsc, [...flags, ...libraries, ...files], { cwd: folder }).catch((error: unknown) => {
      throw new Error((error as { readonly stdout: string }).stdout)
    })
  }

  before(async () => {
    mkdirSync(folder)
    mkdirSync(join(installation.folder, 'node_modules/@types'))
    symlinkSync(join(ROOT, 'node_modules/@types/node'), join(installation.folder, 'node_modules/@types/node'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'context.ts'), contextProgram(ROOT))
    for (const { name, code } of examples) writeFileSync(join(folder, `${fileOf(name)}.ts`), programOf(code))
    const files = ['context', ...examples.map(({ name }) => fileOf(name))].map((name) => `${name}.ts`)
    await compiled(files)
    const driver = `for (const name of ${JSON.stringify(files.slice(1))}) {
      console.log('\\u0001' + name)
      await import('./' + name.replace('.ts', '.js')).catch((error) => console.log('\\u0002', error))
    }
    process.exit()`
    writeFileSync(join(folder, 'driver.js'), driver)
    const { stdout } = await run(process.execPath, ['--no-warnings', 'driver.js'], { cwd: folder })
    printed = new Map(
      stdout
        .split('\u0001')
        .slice(1)
        .map((text) => [text.slice(0, text.indexOf('.ts\n')), text.slice(text.indexOf('\n') + 1)] as const),
    )
  })
  after(() => installation[Symbol.dispose]())

  test('the examples of modules that no user imports compile', async () => {
    const programs = internalPrograms(ROOT)
    assert.ok(programs.length >= 10)
    const files = programs.map(({ name, program }) => {
      writeFileSync(join(folder, `internal-${name}.ts`), program)
      return `internal-${name}.ts`
    })
    await compiled([...files, '--noEmit'])
  })

  test('they compile against the types of the package', () => assert.equal(printed.size, examples.length))

  for (const { name, code } of examples)
    test(`the example of ${name} runs and prints what it says`, () => {
      const output = printed.get(fileOf(name))
      assert.ok(output !== undefined && !output.includes('\u0002'), output)
      assertPrinted({ page: '', name, code }, output)
    })
})
