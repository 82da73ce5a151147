// Uses the package as it is packed: ES modules, CommonJS, strict TypeScript; then vitest and jest, and Node, Bun and Deno.
//
//   node scripts/trials.mjs [--short]     --short: the first three only
//
// CommonJS requires the package with `require` from Node 22.12 on, and loads it with `import()` before.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, withPacked } from './packed.mjs'

const USE = `
async function use({ open }) {
  const store = await open({ memory: true })
  const names = (await store.call('ListTables', {})).TableNames
  await store.close()
  if (names.length !== 0) throw new Error('tables')
}`

const [major, minor] = process.versions.node.split('.').map(Number)
const requiresModules = major > 22 || (major === 22 && minor >= 12)
const FILES = {
  'module.mjs': `import * as seriatim from 'seriatim'${USE}\nawait use(seriatim)`,
  'common.cjs': requiresModules
    ? `const seriatim = require('seriatim')${USE}\nuse(seriatim)`
    : `${USE}\nimport('seriatim').then(use)`,
  'strict.mts': `import { open, type Store } from 'seriatim'
    import { transactor } from 'seriatim/toolkit'
    const store: Store = await open({ memory: true })
    const balance: number = await transactor(store.client()).transact(async () => 1)
    console.log(balance)`,
}

withPacked(['typescript', '@types/node'], (folder) => {
  for (const [name, text] of Object.entries(FILES)) {
    writeFileSync(join(folder, name), text)
    const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
    const args = name.endsWith('.mts')
      ? [join('node_modules/typescript/bin/tsc'), ...flags, '--skipLibCheck', name]
      : [name]
    execFileSync(process.execPath, args, { cwd: folder, stdio: 'inherit' })
    console.log(`ok  ${name}`)
  }
})
if (!process.argv.includes('--short')) {
  for (const script of ['presets.mjs', 'runtimes.mjs']) {
    const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts', script)], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
