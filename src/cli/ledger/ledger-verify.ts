// seriatim ledger verify: an exported ledger from the first block to the last, or one proof. Offline.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { base64 } from '../../verify/bytes.js'
import type { Trust } from '../../verify/checkpoint.js'
import { type LedgerProblem, VerificationError } from '../../verify/error.js'
import { type LedgerSource, verifyLedger } from '../../verify/folder.js'
import { verifyProof } from '../../verify/proof.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import { nodeSha256, progressOf, readTrust, TRUST_HELP, TRUST_OPTIONS } from './ledger-trust.js'

export const help = `seriatim ledger verify DIR|FILE --key KEY [--problems N] [--json]

  DIR                an exported ledger: every block from the first to the last, every tile, the chain of versions of every item
  FILE               a proof of one revision or block (.tlog-proof)
${TRUST_HELP}
  --problems N       so many problems are told, and then it ends: 100
  --json             what was verified, as JSON

Asks no server. Ends with 0 if everything is as it should be, and with 1 if not, with a line for each problem: block, entry, file.`

const OPTIONS = {
  ...TRUST_OPTIONS,
  problems: { type: 'string', default: '100' },
  json: { type: 'boolean', default: false },
} as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [path, ...more] = positionals
  if (path === undefined || more.length > 0)
    throw new UsageError('give the folder of an exported ledger, or the file of a proof')
  const trust = readTrust(values)
  const problemsMax = readInteger('problems', values.problems, 1, 1_000_000)
  try {
    const lines = statSync(path).isDirectory()
      ? await folderLines(path, trust, problemsMax, world)
      : await proofLines(path, trust)
    world.print(values.json ? JSON.stringify(lines.json, undefined, 2) : lines.text)
    return 0
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    const problems = error.problems.length === 0 ? [error.message] : error.problems.map(lineOf)
    for (const problem of problems) world.printError(`seriatim ledger verify: ${problem}`)
    world.printError(`seriatim ledger verify: ${path} is not what it should be`)
    return 1
  }
}

interface Lines {
  readonly text: string
  readonly json: object
}

async function folderLines(
  path: string,
  trust: Trust,
  problemsMax: number,
  world: CommandEnvironment,
): Promise<Lines> {
  const { checkpoint, ...found } = await verifyLedger(folderSource(path), {
    ...trust,
    sha256: nodeSha256,
    problemsMax,
    onProgress: progressOf((line) => world.printError(`seriatim ledger verify: ${line}`)),
  })
  const { origin, size, root, witnesses } = checkpoint
  const behind =
    found.filesBehind === 0 ? '' : `; ${found.filesBehind} files behind the checkpoint were not looked at`
  return {
    text:
      `${origin}: all ${size} blocks are as the checkpoint says: ${found.revisions} revisions of ${found.items} items, ` +
      `${found.redactions} redactions${behind}`,
    json: { origin, size, root: base64(root), witnesses, ...found },
  }
}

async function proofLines(path: string, trust: Trust): Promise<Lines> {
  const { checkpoint, header, entry, item } = await verifyProof(readFileSync(path, 'utf8'), trust)
  const what =
    entry?.kind === 'revision'
      ? `version ${entry.version} of ${entry.table} ${JSON.stringify(entry.key)}, ${entry.event}, ${item === undefined ? 'without its data' : JSON.stringify(item)}`
      : `an entry of the kind ${entry?.kind ?? 'block'}`
  return {
    text:
      `${checkpoint.origin}: block ${header.block} of ${checkpoint.size}, committed at ${header.time} by transaction ${header.tx}, has ` +
      (entry === undefined ? `${header.entries} entries` : what),
    json: {
      origin: checkpoint.origin,
      size: checkpoint.size,
      root: base64(checkpoint.root),
      header,
      entry,
      item,
    },
  }
}

/** Read at once: to wait for each of a million files takes longer than to read it. */
function folderSource(folder: string): LedgerSource {
  return {
    read: (path) => {
      try {
        return readFileSync(join(folder, path))
      } catch (error) {
        if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
          return undefined
        throw error
      }
    },
    list: () => filesIn(folder),
  }
}

function* filesIn(root: string, folder = root): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(root, path)
    else yield relative(root, path).split(sep).join('/')
  }
}

function lineOf({ path, block, entry, message }: LedgerProblem): string {
  const where = [
    block === undefined ? '' : `block ${block}, `,
    entry === undefined ? '' : `entry ${entry}, `,
    path,
  ]
  return `${where.join('')}: ${message}`
}
