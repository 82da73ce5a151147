// Module hooks: in front of what opens a store, or nodes in memory, stands what opens them on an engine. Runs in the thread of the
// hooks.
import type { LoadHook } from 'node:module'

const ON_ENGINE = new URL('./engine-stores.js', import.meta.url).href
const OPENINGS = new Map(
  (
    [
      // What `open` and the command line have in common.
      [
        'store/local-store.js',
        'export async function openLocalStore(options, units, hub) {',
        'export async function openLocalStore(given, units, hub) {\n    const options = onEngine(given)',
      ],
      [
        'storage/folder/open-local-node.js',
        'return (await openNodesWithLog(options)).nodes',
        'return nodesOnEngine(options) ?? (await openNodesWithLog(options)).nodes',
      ],
    ] as const
  ).map(([file, find, replace]) => [new URL(`../../src/${file}`, import.meta.url).href, { find, replace }]),
)

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context)
  const opening = OPENINGS.get(url)
  if (opening === undefined) return loaded
  const { source: given } = loaded
  const source = typeof given === 'string' ? given : Buffer.from(given as Uint8Array).toString()
  const { find, replace } = opening
  if (source.split(find).length !== 2)
    throw new Error(`the text to change is not there exactly once in ${url}: ${find}`)
  const from = `import { onEngine, nodesOnEngine } from ${JSON.stringify(ON_ENGINE)}\n`
  return { ...loaded, source: from + source.replace(find, () => replace) }
}
