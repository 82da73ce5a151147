// Reads templates and seeds from files: JSON, or YAML by its name.
import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { tablesIn, type TemplateOptions } from './tables-in.js'
import type { TemplateTable } from './table-properties.js'
import { TemplateError, wrong } from './template-error.js'
import { type ParseYaml, yamlParser } from './yaml-document.js'

const YAML_NAMES: ReadonlySet<string> = new Set(['.yml', '.yaml', '.template'])

/** Options of `readTables`. */
export interface ReadOptions extends Omit<TemplateOptions, 'readDocument'> {
  /** The folder that relative paths start from; the working directory of the process by default. */
  readonly root?: string | undefined
}

/**
 * Reads the tables of a file, as inputs of CreateTable. The file is a template of CloudFormation or SAM (YAML or JSON), a
 * serverless.yml, or JSON with inputs of CreateTable. YAML needs the package `yaml`. Rejects with a `TemplateError`.
 *
 * @example
 *   const tables = await readTables('template.yaml', { parameters: { Stage: 'test' } })
 *   for (const { create } of tables) await store.call('CreateTable', create)
 *   console.log(tables.map(({ create }) => create.TableName)) // [ 'orders-test' ]
 */
export async function readTables(path: string, options: ReadOptions = {}): Promise<readonly TemplateTable[]> {
  const { root = '.', ...rest } = options
  const full = resolve(root, path)
  const parseYaml = isYaml(full) ? await yamlParser() : undefined
  const folder = dirname(full)
  return within(path, () =>
    tablesIn(parsed(full, parseYaml), {
      environment: process.env,
      ...rest,
      readDocument: (included, place) => {
        if (!isYaml(included) && extname(included) !== '.json')
          throw wrong(place, `${included} is neither YAML nor JSON; give its tables in a file that is`)
        return within(included, () => parsed(resolve(folder, included), parseYaml))
      },
    }),
  )
}

/** What a file holds, by the same rules. */
export async function readDocument(path: string, root = '.'): Promise<unknown> {
  const full = resolve(root, path)
  const parseYaml = isYaml(full) ? await yamlParser() : undefined
  return within(path, () => parsed(full, parseYaml))
}

const isYaml = (path: string): boolean => YAML_NAMES.has(extname(path))

function parsed(path: string, parseYaml: ParseYaml | undefined): unknown {
  const text = readFileSync(path, 'utf8')
  if (parseYaml !== undefined && isYaml(path)) return parseYaml(text)
  return JSON.parse(text) as unknown
}

/** Says which file it was. */
function within<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const sentence = code === 'ENOENT' ? 'there is no such file' : message
    throw new TemplateError(`${path}: ${sentence}`, { cause: error })
  }
}
