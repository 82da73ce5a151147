// Processes that race for a folder.
//   node dist/test/storage/folder/races.js [RACES]      1,000 unless told otherwise; ends with 1 if a race had not one owner
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Contender, namespaceRefusal } from './contenders.js'

/** What the version before this one left when it was killed. */
export const leaveStaleLock = (path: string): void => writeFileSync(join(path, 'lock'), '999999999 gone 1')

/** How many owners each race had. Every other folder is empty, the others have a lock that was left behind. */
export async function race(races: number, contenders: readonly Contender[]): Promise<readonly number[]> {
  const owners: number[] = []
  for (let n = 0; n < races; n++) {
    const path = mkdtempSync(join(tmpdir(), 'seriatim-race-'))
    try {
      if (n % 2 === 0) leaveStaleLock(path)
      const outcomes = await Promise.all(contenders.map((one) => one.ask({ kind: 'open', path })))
      owners.push(outcomes.filter(({ kind }) => kind === 'owner').length)
      await Promise.all(contenders.map((one) => one.ask({ kind: 'close' })))
    } finally {
      rmSync(path, { recursive: true, force: true })
    }
  }
  return owners
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const races = Number(argv[2] ?? 1000)
  const refusal = namespaceRefusal()
  if (refusal !== undefined) console.log(refusal)
  const places = refusal === undefined ? (['here', 'own namespace'] as const) : (['here'] as const)
  for (const place of places) {
    const contenders = await Promise.all([0, 1, 2].map(() => Contender.start(place)))
    const owners = await race(races, contenders)
    for (const one of contenders) one.end()
    const wrong = owners.filter((count) => count !== 1).length
    console.log(
      `${races} races of 3 processes (${place}): ${races - wrong} with one owner, ${wrong} with none or several`,
    )
    if (wrong > 0) process.exitCode = 1
  }
}
