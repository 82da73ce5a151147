// seriatim demo: scenes about transactions, run for real on a store in memory, each checked.
import { open } from '../../store/store.js'
import { readArguments, readInteger } from '../command/arguments.js'
import { aliceScene } from './alice.js'
import { bookshopScene } from './bookshop.js'
import { customerScenes } from './customers.js'
import { lostUpdateScene } from './lost-updates.js'
import { Stage, type Scene } from './stage.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim demo [--nodes 1]

  --nodes N      storage nodes of the store: with several, transactions run in two phases

Tells what transactions are for, in scenes with two clients at once, on a store in memory. Everything that is told
happens, and is checked. Ends with 0 if all checks hold, with 1 if one does not.`

const OPTIONS = { nodes: { type: 'string', default: '1' } } as const

const SCENES: readonly Scene[] = [bookshopScene, aliceScene, ...customerScenes, lostUpdateScene]

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const nodes = readInteger('nodes', readArguments(args, OPTIONS).values.nodes, 1, 64)
  let failed = 0
  for (const [at, scene] of SCENES.entries()) {
    await using store = await open({ memory: true, nodes })
    const stage = new Stage(store, (line) => world.print(line))
    world.print(`${at > 0 ? '\n' : ''}${at + 1}. ${scene.title}\n`)
    await scene.play(stage)
    failed += stage.failed
  }
  world.print(failed === 0 ? '\nAll of it was checked, and is so.' : `\n${failed} checks do not hold.`)
  return failed === 0 ? 0 : 1
}
