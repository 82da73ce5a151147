// The package as a user gets it: packed, installed into an empty project, imported, started and compiled against.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name)

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

describe('package', () => {
  let folder: string
  let project: string
  let tarball: string
  let packed: Packed

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seriatim-package-'))
    project = join(folder, 'project')
    // The build is there already, and a test must not replace it under the others.
    const { stdout } = await run(
      'npm',
      ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
      {
        cwd: ROOT,
      },
    )
    packed = (JSON.parse(stdout) as Packed[])[0]!
    tarball = join(folder, packed.filename)
    await mkdir(project)
    await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=peer']
    await run('npm', ['install', ...quiet, tarball], { cwd: project })
    for (const name of ['@aws-sdk/client-dynamodb', '@types/node']) {
      await mkdir(join(project, 'node_modules', name, '..'), { recursive: true })
      await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
    }
  })

  after(() => rm(folder, { recursive: true, force: true }))

  test('it holds the build of src and the documentation, and no tests', () => {
    const paths = packed.files.map(({ path }) => path)
    assert.ok(paths.includes('dist/src/index.js') && paths.includes('dist/src/index.d.ts'))
    assert.ok(paths.includes('LICENSE') && paths.includes('README.md'))
    const foreign = paths.filter(
      (path) => !/^(dist\/src|docs)\/|^(LICENSE|[A-Z]+\.md|package\.json)$/.test(path),
    )
    assert.deepEqual(foreign, [])
  })

  test('an ESM script opens a store, with the SDK and without', async () => {
    const script = `
      import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
      import { open } from 'seriatim'
      const store = await open({ memory: true })
      await store.call('CreateTable', {
        TableName: 'Books', BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      const { Table } = await store.client().send(new DescribeTableCommand({ TableName: 'Books' }))
      console.log(Table.TableName)
      await store.close()`
    await writeFile(join(project, 'script.js'), script)
    const { stdout } = await run(process.execPath, ['script.js'], { cwd: project })
    assert.equal(stdout, 'Books\n')
  })

  test('store.client() says what to install where the SDK is not there', async () => {
    const bare = join(folder, 'bare')
    const withoutSdk = (path: string): boolean => !path.endsWith('@aws-sdk')
    await cp(join(project, 'node_modules'), join(bare, 'node_modules'), {
      recursive: true,
      filter: withoutSdk,
    })
    const script = `import { open } from 'seriatim'
      const store = await open({ memory: true })
      try { store.client() } catch (error) { console.log(error.message) }
      await store.close()`
    await writeFile(join(bare, 'script.mjs'), script)
    const { stdout } = await run(process.execPath, ['script.mjs'], { cwd: bare })
    assert.equal(stdout, 'store.client() needs the AWS SDK: npm install @aws-sdk/client-dynamodb\n')
  })

  test('its command says its version', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    const { stdout } = await run(join(project, 'node_modules/.bin/seriatim'), ['--version'])
    assert.equal(stdout, `${version}\n`)
  })

  test('a strict TypeScript file compiles against it, and a wrong one does not', async () => {
    const right = `
      import { manualClock, open, type Store } from 'seriatim'
      const store: Store = await open({ memory: true, clock: manualClock(0) })
      const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
      const title: string | undefined = Item?.['title']?.S
      console.log(title, (await store.listen({ port: 0 })).url)`
    await writeFile(join(project, 'right.ts'), right)
    await writeFile(
      join(project, 'wrong.ts'),
      `import { open } from 'seriatim'\nawait open({ memory: true, path: 'x' })\n`,
    )
    const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
    await run(bin('tsc'), [...flags, '--skipLibCheck', 'right.ts'], { cwd: project })
    await assert.rejects(
      run(bin('tsc'), [...flags, '--skipLibCheck', 'wrong.ts'], { cwd: project }),
      /wrong\.ts/,
    )
  })

  test('publint finds nothing to say', async () => {
    await run(bin('publint'), ['run', tarball, '--strict'], { cwd: ROOT })
  })

  test('attw resolves the types of every entry point', async () => {
    await run(bin('attw'), [tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'], {
      cwd: ROOT,
    })
  })
})
