// docs/reference/errors.md has every error that a user can meet, and no other.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { NO_REASON, CONFLICT } from '../../src/coordinator/reasons.js'
import * as seriatim from '../../src/index.js'
import { AuthFileError } from '../../src/server/access/auth.js'
import * as templates from '../../src/testing/templates.js'
import * as toolkit from '../../src/toolkit/index.js'
import * as verify from '../../src/verify/index.js'

const ROOT = resolve(import.meta.dirname, '../../..')
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The first column of the tables under that heading. */
function listedUnder(heading: string): readonly string[] {
  const [, section = ''] = textOf('docs/reference/errors.md').split(`# ${heading}\n`)
  return [...section.split(/^#/m)[0]!.matchAll(/^\| `?(\w+)`? +\|/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'name' && name !== 'code')
}

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].toSorted()

test('docs/reference/errors.md: every error name of the wire is there, and no other', () => {
  const [, names = ''] = /const PREFIX_BY_NAME = \{([^}]+)\}/.exec(textOf('src/model/errors.ts')) ?? []
  const sent = [...names.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!)
  assert.ok(sent.length > 20)
  assert.deepEqual(sorted(listedUnder('Errors of requests')), sorted(sent))
})

test('docs/reference/errors.md: every answer of the HTTP layer is there, and no other', () => {
  const sources = readdirSync(join(ROOT, 'src/server'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => textOf(join('src/server', path)))
  const answered = sources.flatMap((text) =>
    [...text.matchAll(/\bedge\(\s*(\d{3}),\s*'(\w+)'/g)].map(([, status, name]) => `${name} ${status}`),
  )
  const own = answered.filter((name) => !name.includes('Exception'))
  assert.ok(own.length > 5)
  const page = textOf('docs/reference/errors.md')
  const listed = listedUnder('Errors of the HTTP server').map(
    (name) => `${name} ${new RegExp(`\`${name}\` *\\| (\\d+)`).exec(page)?.[1]}`,
  )
  assert.deepEqual(sorted(listed), sorted(own))
})

test('docs/reference/errors.md: every error class that the package exports is there, and no other', () => {
  const exported = [seriatim, toolkit, templates, verify]
    .flatMap((module) => Object.entries(module as Readonly<Record<string, unknown>>))
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
    .map(([name]) => name)
  assert.ok(exported.length >= 13)
  const listed = [
    'Errors of units of work',
    'Errors of locks',
    'Errors of readers of changes',
    'Errors of verifiers of a ledger',
    'Errors of a store and its files',
  ].flatMap(listedUnder)
  assert.deepEqual(sorted(listed), sorted([...exported, AuthFileError.name]))
})

test('docs/reference/errors.md: every reason of a cancelled transaction is there', () => {
  const listed = listedUnder('Reasons of a cancelled transaction')
  const codes = [...textOf('src/coordinator/reasons.ts').matchAll(/Code: '(\w+)'/g)].map(([, code]) => code!)
  assert.ok(codes.includes(NO_REASON.Code) && codes.includes(CONFLICT.Code))
  assert.deepEqual(sorted(listed), sorted(codes))
})

test('docs/reference/errors.md: the exit codes are those of the command line', () => {
  const second = [...textOf('src/cli/server/start.ts').matchAll(/\b(130|143)\b/g)].map(([code]) => code)
  assert.deepEqual(sorted(listedUnder('Exit codes of the command line')), sorted(['0', '1', '2', ...second]))
})
