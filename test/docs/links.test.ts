// Every relative link of a page leads to a file that is there, and to a heading that is in it.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../../..')
const LINK = /\]\(([^)\s]+)\)/g

const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
]

test('every link between pages leads to a file and a heading that exist', () => {
  const broken = pages.flatMap((page) => brokenLinksOf(page).map((link) => `${page}: ${link}`))
  assert.deepEqual(broken, [])
})

test('docs/README.md lists every page but the decision records', () => {
  const index = readFileSync(join(ROOT, 'docs/README.md'), 'utf8')
  const linked = new Set([...index.matchAll(LINK)].map(([, link]) => join('docs', link!)))
  const listed = pages.filter((page) => page.startsWith('docs') && !page.startsWith(join('docs', 'adr')))
  const missing = listed.filter((page) => page !== join('docs', 'README.md') && !linked.has(page))
  assert.deepEqual(missing, [])
})

test('every decision record has a number of its own', () => {
  const numbers = readdirSync(join(ROOT, 'docs/adr')).map(
    (name) => /^\d{4}(?=-.+\.md$)/.exec(name)?.[0] ?? name,
  )
  assert.deepEqual(
    numbers.filter((number, at) => !/^\d{4}$/.test(number) || numbers.indexOf(number) !== at),
    [],
  )
})

function brokenLinksOf(page: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, page), 'utf8'))
  const links = [...text.matchAll(LINK)].map(([, link]) => link!)
  return links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
  if (!existsSync(target)) return false
  if (heading === undefined || statSync(target).isDirectory()) return true
  return headingsOf(readFileSync(target, 'utf8')).has(heading)
}

/** As GitHub makes them. */
const headingsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '')
