// The names that the package exports, found in the text of its sources: their comments, their members, their examples.
//
// The compiler of this project has no API (docs/adr/0030). The sources are formatted, so that a declaration begins in the
// first column, its members in the third, and a comment stands right above what it describes.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')

/** By what a user imports. */
export const ENTRIES = {
  seriatim: 'src/index.ts',
  'seriatim/toolkit': 'src/toolkit/index.ts',
  'seriatim/verify': 'src/verify/index.ts',
  'seriatim/engine/cassandra': 'src/engine/cassandra/cassandra.ts',
  'seriatim/templates': 'src/testing/templates.ts',
  'seriatim/vitest': 'src/testing/vitest.ts',
  'seriatim/jest': 'src/testing/jest.ts',
} as const
export type EntryName = keyof typeof ENTRIES

export interface Export {
  readonly entry: EntryName
  readonly name: string
  /** Where it is declared, for messages. */
  readonly path: string
  /** It and its members: `Store`, `Store.call`. */
  readonly declared: readonly Declared[]
}

export interface Declared {
  readonly name: string
  /** The text of its comment; empty if it has none. */
  readonly comment: string
}

const REEXPORT = /^export (?:type )?\{([^}]*)\} from '(.+)\.js'/gm
const DECLARATION = /^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm
const MEMBER =
  /^ {2}(?!constructor|override readonly name =)(?:override )?(?:readonly )?(?:get )?([a-zA-Z]\w*)\??[(<:]/

/** Everything that can be imported, each name once. */
export function packageExports(): readonly Export[] {
  const seen = new Set<string>()
  return Object.keys(ENTRIES).flatMap((entry) =>
    exportsOf(entry as EntryName, ENTRIES[entry as EntryName]).filter(({ path, name }) => {
      const isNew = !seen.has(`${path} ${name}`)
      seen.add(`${path} ${name}`)
      return isNew
    }),
  )
}

function exportsOf(entry: EntryName, path: string): readonly Export[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const reexported = [...text.matchAll(REEXPORT)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .map((name) => exportAt(entry, name, join(dirname(path), `${from}.ts`))),
  )
  const own = [...text.matchAll(DECLARATION)].map(([, name = '']) => exportAt(entry, name, path))
  const isDefault = /^export default (\w+)$/m.exec(text)
  return [...reexported, ...own, ...(isDefault === null ? [] : [exportAt(entry, isDefault[1]!, path)])]
}

function exportAt(entry: EntryName, name: string, path: string): Export {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
  const at = lines.findIndex((line) =>
    new RegExp(`^(?:export )?(?:async )?(?:function|class|interface|type|const) ${name}\\b`).test(line),
  )
  if (at < 0) throw new Error(`${path} declares no ${name}`)
  const declared: Declared[] = [{ name, comment: commentAbove(lines, at) }]
  if (/^export (?:class|interface)/.test(lines[at]!) && !lines[at]!.endsWith('}'))
    for (let line = at + 1; lines[line] !== '}'; line++) {
      const member = MEMBER.exec(lines[line]!)?.[1]
      if (member !== undefined)
        declared.push({ name: `${name}.${member}`, comment: commentAbove(lines, line) })
    }
  return { entry, name, path, declared }
}

function commentAbove(lines: readonly string[], at: number): string {
  if (lines[at - 1]?.endsWith('*/') !== true) return ''
  let first = at - 1
  while (!lines[first]!.includes('/**')) first--
  return lines
    .slice(first, at)
    .join('\n')
    .replaceAll(/^ *\/\*\* ?| ?\*\/$/gm, '')
    .replaceAll(/^ *\* ?/gm, '')
    .trim()
}

/** The code after each `@example`, without the indentation of its first line. */
export function examplesIn(comment: string): readonly string[] {
  return comment
    .split(/^@example\n/m)
    .slice(1)
    .map((text) => {
      const lines = text.split(/^@\w+/m)[0]!.trimEnd().split('\n')
      const indent = lines[0]!.length - lines[0]!.trimStart().length
      return lines.map((line) => line.slice(indent)).join('\n')
    })
}
