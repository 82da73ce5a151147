// npm run sim -- workers: runs simulated stores with several workers and judges them.
import { register } from 'node:module'
import { readArguments, readInteger, UsageError } from '../../src/cli/command/arguments.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'
import { STORE_MUTANTS } from '../workers/mutants.js'

export const help = `npm run sim -- workers [--seed S] [--worlds N] [--requests N] [--mutant NAME]

  --seed S       of the first world; each further one has the next (1)
  --worlds N     how many (100)
  --requests N   about as many in each world (400)
  --mutant NAME  a store that is wrong on purpose, to see it found; 'list' names them

Runs the catalogue, the routers and the channels of a store with several workers in virtual time. Tables come and go while clients
ask any worker, with keys that may do all or only read. Ends with 1 if an answer was wrong, and says how to see it again.`

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  worlds: { type: 'string', default: '100' },
  requests: { type: 'string', default: '400' },
  mutant: { type: 'string' },
} as const

const ANOMALIES_SHOWN = 5

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const { mutant } = values
  const [seed, worlds, requests] = [
    readInteger('seed', values.seed, 0, 999_999_999),
    readInteger('worlds', values.worlds, 1, 10_000_000),
    readInteger('requests', values.requests, 50, 1_000_000),
  ]
  if (mutant === 'list') {
    for (const name of Object.keys(STORE_MUTANTS)) world.print(name)
    return 0
  }
  if (mutant !== undefined) loadMutant(mutant)
  // Loaded from here on, so that a mutant is what is loaded.
  const { runStoreWorld } = await import('../workers/store-world.js')
  let [asked, wrong] = [0, 0]
  for (let at = 0; at < worlds && wrong === 0; at++) {
    const { anomalies, requests: done } = await runStoreWorld({ seed: seed + at, requests })
    asked += done
    if (anomalies.length === 0) continue
    wrong++
    world.printError(`sim: the world of seed ${seed + at} is wrong:`)
    for (const { kind, explanation } of anomalies.slice(0, ANOMALIES_SHOWN))
      world.printError(`  ${kind}: ${explanation}`)
    const with_ = mutant === undefined ? '' : ` --mutant ${mutant}`
    world.printError(
      `  again: npm run sim -- workers --seed ${seed + at} --worlds 1 --requests ${requests}${with_}`,
    )
  }
  world.print(`${asked} requests in up to ${worlds} worlds; ${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

function loadMutant(name: string): void {
  const mutant = STORE_MUTANTS[name]
  if (mutant === undefined) throw new UsageError(`there is no mutant '${name}'; --mutant list names them`)
  const url = new URL(`../../src/${mutant.module}`, import.meta.url).href
  register(new URL('../mutant-loader.js', import.meta.url), { data: { url, mutant } })
}
