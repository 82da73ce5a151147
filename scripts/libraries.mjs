// Tries libraries that are given `store.client()`: node scripts/libraries.mjs
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, withPacked } from './packed.mjs'

const TRIAL = 'library-trial.mjs'
const LIBRARIES = ['@aws-sdk/lib-dynamodb', 'dynamoose', 'electrodb', 'dynamodb-toolbox']

process.exitCode = withPacked(LIBRARIES, (folder) => {
  copyFileSync(join(ROOT, 'scripts', TRIAL), join(folder, TRIAL))
  return spawnSync(process.execPath, ['--no-warnings', TRIAL], { cwd: folder, stdio: 'inherit' }).status ?? 1
})
