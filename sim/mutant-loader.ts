// Module hooks: changes the text of one module while it is loaded. Runs in the thread of the hooks.
import { existsSync } from 'node:fs'
import type { LoadHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutants.js'

let url = ''
let mutant: Mutant | undefined

export function initialize(data: { readonly url: string; readonly mutant: Mutant }): void {
  if (!existsSync(fileURLToPath(data.url))) throw new Error(`there is no module ${data.url} to change`)
  url = data.url
  mutant = data.mutant
}

export const load: LoadHook = async (wanted, context, nextLoad) => {
  const loaded = await nextLoad(wanted, context)
  if (wanted !== url || mutant === undefined) return loaded
  const { source: given } = loaded
  const source = typeof given === 'string' ? given : Buffer.from(given as Uint8Array).toString()
  const { find, replace } = mutant
  if (source.split(find).length !== 2)
    throw new Error(`the text to change is not there exactly once in ${url}: ${find}`)
  return { ...loaded, source: source.replace(find, () => replace) }
}
