// docs/design.md names tests and mutants as proof, and tests and comments name its points: each leads to something that exists.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/design.md'), 'utf8')

/** By number; the text under the heading. */
const points = new Map(
  page
    .split(/^### Point /m)
    .slice(1)
    .map((text) => [Number.parseInt(text, 10), text] as const),
)

const sources = ['src', 'test', 'sim', 'bench', 'scripts']
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|mjs|txt|md)$/.test(path))
      .map((path) => ({ path: join(folder, path), text: readFileSync(join(ROOT, folder, path), 'utf8') })),
  )

/** Where a line ends does not matter, in a page or in a source. */
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('’', "'")

test('docs/design.md: the points are numbered from 1 to 39', () => {
  assert.deepEqual(
    [...points.keys()],
    Array.from({ length: 39 }, (_, at) => at + 1),
  )
})

test('docs/design.md: every test and every mutant that proves a point exists', () => {
  const tests = inOneLine(sources.map(({ path, text }) => (path.startsWith('test') ? text : '')).join(' '))
  const mutants = sources.filter(({ path }) => path.endsWith('mutants.ts')).map(({ text }) => text)
  const missing = [...points].flatMap(([number, text]) => {
    const [, proof] = text.split('\nProof: ')
    if (proof === undefined) return [`point ${number} has no proof`]
    const titles = [...inOneLine(proof).matchAll(/"([^"]+)"/g)].map(([, title]) => title!)
    const names = [...proof.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    assert.ok(titles.length > 0, `point ${number} names no test`)
    return [
      ...titles.filter((title) => !tests.includes(title)),
      ...names.filter((name) => !mutants.some((text) => isMutant(text, name))),
    ].map((what) => `point ${number}: ${what}`)
  })
  assert.deepEqual(missing, [])
})

/** A member of a table of mutants, or one of a list. */
const isMutant = (text: string, name: string): boolean =>
  text.includes(`'${name}': `) || text.includes(`name: '${name}',`)

test('docs/design.md: every point that a test or a comment cites is there', () => {
  const cited = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\bpoints? (\d+)(?: and (\d+))?/gi)].flatMap(([, one, other]) =>
      [one, other]
        .filter((number) => number !== undefined)
        .map((number) => ({ path, number: Number(number) })),
    ),
  )
  assert.ok(cited.length > 40)
  assert.deepEqual(
    cited.filter(({ number }) => !points.has(number)),
    [],
  )
})
