// Has verifiers that others wrote, in other languages, check a ledger of ours: its checkpoint, its tiles and its proofs.
//
//   node scripts/foreign-verifiers.mjs [go] [rust] [python]
//
// Go: golang.org/x/mod/sumdb (note, tlog), github.com/transparency-dev/merkle and formats. Rust: signed_note, tlog_tiles. Python:
// sigstore, cryptography. Their package managers fetch them; a language that is not installed is named and left out. Each program
// also gets copies of the ledger with one bit changed, which it has to refuse.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { LOG, sampleLedger, signedCheckpoint } from '../dist/test/verify/sample-ledger.js'
import { rootOf } from '../dist/src/verify/merkle.js'
import { consistencyPath, inclusionPath, stretchHash } from '../dist/src/verify/paths.js'
import { subtreesIn } from '../dist/src/verify/tiles.js'

const PROGRAMS = join(import.meta.dirname, 'foreign-verifiers')
const CACHE = resolve(import.meta.dirname, '../node_modules/.cache/foreign-verifiers')
const BLOCKS = 600
const base64 = (bytes) => Buffer.from(bytes).toString('base64')

const folder = mkdtempSync(join(tmpdir(), 'seriatim-foreign-'))
writeLedger(join(folder, 'ledger'))
const damaged = {
  checkpoint: ['checkpoint', 5],
  tile: ['tile/0/001', 40],
  'entry bundle': ['tile/entries/001', 60],
  proof: ['proofs.txt', 20],
}
for (const [name, [file, at]] of Object.entries(damaged)) {
  cpSync(join(folder, 'ledger'), join(folder, name), { recursive: true })
  const bytes = readFileSync(join(folder, name, file))
  bytes[at] ^= 1
  writeFileSync(join(folder, name, file), bytes)
}

/** How each is made ready, and the command that takes a folder and a key; undefined if the language is not there. */
const LANGUAGES = {
  go: () => {
    if (!isThere('go', ['version'])) return undefined
    const program = join(copied('go'), 'verify')
    return made('go', ['build', '-o', program, '.'], dirname(program)) && [program]
  },
  rust: () => {
    if (!isThere('cargo', ['--version'])) return undefined
    const place = copied('rust')
    return made('cargo', ['build', '--quiet', '--release'], place) && [join(place, 'target/release/verify')]
  },
  python: () => {
    if (!isThere('python3', ['--version'])) return undefined
    const place = copied('python')
    const packages = join(place, 'packages')
    const isInstalled =
      existsSync(packages) ||
      made('python3', ['-m', 'pip', 'install', '-q', '--target', packages, 'sigstore'], place)
    return isInstalled && ['env', `PYTHONPATH=${packages}`, 'python3', join(place, 'verify.py')]
  },
}

const wanted = process.argv.slice(2)
let failures = 0
for (const [language, prepare] of Object.entries(LANGUAGES)) {
  if (wanted.length > 0 && !wanted.includes(language)) continue
  const command = prepare()
  if (command === undefined) console.log(`${language}: not installed, left out`)
  if (command === false) failures++
  if (command) failures += judge(language, command)
}
rmSync(folder, { recursive: true })
process.exitCode = failures === 0 ? 0 : 1

function judge(language, [command, ...args]) {
  const run = (name) => spawnSync(command, [...args, join(folder, name), LOG.key], { encoding: 'utf8' })
  const good = run('ledger')
  console.log(`${language}: ${good.status === 0 ? good.stdout.trim() : `REFUSED: ${good.stderr.trim()}`}`)
  let wrong = good.status === 0 ? 0 : 1
  for (const name of Object.keys(damaged)) {
    const { status, stderr } = run(name)
    const [said] = stderr.trim().split('\n').slice(-1)
    console.log(`${language}: one bit of ${name} changed: ${status === 0 ? 'ACCEPTED' : `refused, ${said}`}`)
    if (status === 0) wrong++
  }
  return wrong
}

function writeLedger(place) {
  const ledger = sampleLedger(BLOCKS)
  const files = ledger.files()
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    writeFileSync(join(place, path), bytes)
  }
  const tile = (size) => (level, index) => {
    const name = `tile/${level}/${String(index).padStart(3, '0')}`
    return files.get(name) ?? [...files].find(([path]) => path.startsWith(`${name}.p/`) && size > 0)[1]
  }
  const { leaves } = ledger
  const root = (size) => rootOf(leaves.slice(0, size))
  const lines = []
  for (const size of [1, 2, 3, 7, 8, 9, 255, 256, 257, 511, 512, 513, BLOCKS]) {
    const hashes = (path) =>
      path.map((stretch) => base64(stretchHash(stretch, subtreesIn(tile(size))))).join(',') || '-'
    for (const index of new Set([0, 1, 5, 254, 255, 256, 300, size - 1].filter((one) => one < size)))
      lines.push(
        `inclusion ${index} ${size} ${base64(leaves[index])} ${base64(root(size))} ${hashes(inclusionPath(index, size))}`,
      )
    for (const old of [1, 2, 3, 8, 255, 256, 257, 511, size].filter((one) => one <= size))
      lines.push(
        `consistency ${old} ${size} ${base64(root(old))} ${base64(root(size))} ${hashes(consistencyPath(old, size))}`,
      )
  }
  writeFileSync(join(place, 'proofs.txt'), `${lines.join('\n')}\n`)
  writeFileSync(join(place, 'earlier-checkpoint'), signedCheckpoint(300, root(300)))
}

function copied(language) {
  const place = join(CACHE, language)
  cpSync(join(PROGRAMS, language), place, { recursive: true })
  return place
}

function isThere(command, args) {
  return spawnSync(command, args).status === 0
}

function made(command, args, cwd) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0)
    console.log(`${command} ${args.join(' ')}: ${stderr.trim().split('\n').slice(-3).join('; ')}`)
  return status === 0
}
