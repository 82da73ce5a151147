// The package as a user has it: packed, and installed in a temporary folder with what else a trial needs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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
    npmInstall(folder, join(folder, tarball), '@aws-sdk/client-dynamodb', ...packages)
    return run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function npmInstall(folder, ...packages) {
  npm(folder, 'install', '--no-audit', '--no-fund', ...packages)
}

function npm(cwd, ...args) {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
}
