// The package as a user has it: packed, and installed in a temporary folder with what else a trial needs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Calls `run` with the folder, and removes it afterwards. */
export function withPacked(packages, run) {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-packed-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', folder)
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
    npmInstall(folder, join(folder, tarball), ...['@aws-sdk/client-dynamodb', ...packages].map(asLocked))
    return run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The version that the lock file has, where it has one: a trial must not break without a commit. */
function asLocked(name) {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { version } = packages[`node_modules/${name}`] ?? {}
  return version === undefined ? name : `${name}@${version}`
}

export function npmInstall(folder, ...packages) {
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages)
}

function npm(cwd, ...args) {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
}
