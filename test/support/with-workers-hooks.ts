// Module hooks: where a store is put together, it gets its workers (with-workers.ts). Runs in the thread of the hooks.
import type { LoadHook } from 'node:module'

const MODULE = '/dist/src/store/local-store.js'
const CHANGES: readonly (readonly [string, string])[] = [
  [
    'export async function openLocalStore(options, units, hub) {',
    'export async function openLocalStore(options, units, given) {\n' +
      '    const hub = given ?? (options.engine === undefined ? await globalThis.seriatimTestWorkers.hub() : undefined);',
  ],
  [
    'return new LocalStore(parts, await openContent(parts, share), share);',
    'return new LocalStore(parts, await globalThis.seriatimTestWorkers.around(parts, await openContent(parts, share)), share);',
  ],
  ['{ ...this.#router, handle: (request) => hub.asked(request) }', 'this.#router'],
]

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context)
  if (!url.endsWith(MODULE)) return loaded
  const { source: given } = loaded
  let source = typeof given === 'string' ? given : Buffer.from(given as Uint8Array).toString()
  for (const [find, replace] of CHANGES) {
    if (source.split(find).length !== 2) throw new Error(`not there exactly once in ${url}: ${find}`)
    source = source.replace(find, () => replace)
  }
  return { ...loaded, source }
}
