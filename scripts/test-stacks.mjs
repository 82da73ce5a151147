// Stack traces of built files, told by the lines of their sources. Only what failed is looked up: with --enable-source-maps Node
// reads the map of every file that it loads, which is a good part of the time that many a test file takes.
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `file:///work/dist/test/a.test.js:3:7`, or the same without a scheme. */
const PLACE = /(?<place>file:\/\/\/[^\s():]+\.m?js|\/[^\s():]+\.m?js):(?<line>\d+):(?<column>\d+)/g

/** @returns {(text: string) => string} */
export function openStacks() {
  const maps = new Map()
  const mapOf = (path) => {
    if (!maps.has(path)) maps.set(path, readMap(`${path}.map`))
    return maps.get(path)
  }
  return (text) =>
    text.replaceAll(PLACE, (whole, place, line, column) => {
      const path = place.startsWith('file:') ? fileURLToPath(place) : place
      const { originalSource, originalLine, originalColumn } =
        mapOf(path)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {}
      if (originalSource === undefined) return whole
      const source = resolve(dirname(path), originalSource)
      return `${relative(process.cwd(), source)}:${originalLine + 1}:${originalColumn + 1}`
    })
}

function readMap(path) {
  return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined
}
