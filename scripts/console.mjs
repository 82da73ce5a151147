// Builds the console (console/) into the files that the server has at /console/, each compressed ahead.
//
//   node scripts/console.mjs              into dist/src/server/dispatch/console/
//   node scripts/console.mjs --if-older   if a file of console/ or of what it takes from src/ is newer
//
// `scripts/bundle.mjs` copies them into lib/console/.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SOURCE = join(ROOT, 'console')
/** Where the built server looks for it. */
export const CONSOLE = join(ROOT, 'dist/src/server/dispatch/console')
const NEW = `${CONSOLE}.new`
/** In the order in which they stand in the one file that they become. */
const STYLES = ['base', 'parts', 'items', 'screens', 'charts']

/** @param {{ ifOlder?: boolean }} options */
export async function buildConsole({ ifOlder = false } = {}) {
  if (ifOlder && isUpToDate()) return
  const bundle = await rolldown({
    cwd: ROOT,
    input: { console: join(SOURCE, 'main.tsx') },
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    transform: { target: 'es2022' },
    onLog(level, log) {
      if (log.code === 'PLUGIN_TIMINGS') return
      throw new Error(`${level}: ${log.message}`)
    },
  })
  const { output } = await bundle.generate({
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()

  rmSync(NEW, { recursive: true, force: true })
  mkdirSync(NEW, { recursive: true })
  const put = (name, content) => writeFileSync(join(NEW, `${name}.gz`), gzipSync(content, { level: 9 }))
  for (const file of output) if (file.type === 'chunk') put(file.fileName, file.code)
  put(
    'console.css',
    [
      readFileSync(join(ROOT, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8'),
      ...STYLES.map((name) => readFileSync(join(SOURCE, `style/${name}.css`), 'utf8')),
    ]
      .join('\n')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\s*\n\s*/g, '\n'),
  )
  put('licences.txt', licences(output.flatMap((file) => file.moduleIds ?? [])))
  for (const name of ['index.html', 'icon.svg']) put(name, readFileSync(join(SOURCE, name)))
  rmSync(CONSOLE, { recursive: true, force: true })
  renameSync(NEW, CONSOLE)
  const bytes = readdirSync(CONSOLE).map((name) => [name, statSync(join(CONSOLE, name)).size])
  console.log(
    `${relative(process.cwd(), CONSOLE)}: ${bytes.map(([name, size]) => `${name} ${size}`).join(', ')}`,
  )
}

/** Of all packages whose code is in it. */
function licences(modules) {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
  return [...new Set(folders)]
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    })
    .join('\n----\n\n')
}

function isUpToDate() {
  if (!existsSync(CONSOLE)) return false
  const built = statSync(CONSOLE).mtimeMs
  const sources = [SOURCE, join(ROOT, 'src/verify'), join(ROOT, 'src/toolkit/locks')].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  )
  return [...sources, fileURLToPath(import.meta.url)].every((path) => statSync(path).mtimeMs <= built)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildConsole({ ifOlder: process.argv.includes('--if-older') })
