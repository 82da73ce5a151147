// The package as a user gets it: packed, installed into an empty project, imported, started and compiled against.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { wholeOnly } from '../support/sizes.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name)

/** Of which 1.56 MB are code, 0.28 MB its maps, 0.2 MB the console, compressed ahead, and 0.15 MB declarations. */
const UNPACKED_BYTES_MAX = 2_330_000
const FILES_MAX = 90

const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
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
    for (const name of [
      '@aws-sdk/client-dynamodb',
      '@aws-sdk/client-dynamodb-streams',
      '@smithy/types',
      '@types/node',
    ]) {
      await mkdir(join(project, 'node_modules', name, '..'), { recursive: true })
      await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
    }
  })

  after(() => rm(folder, { recursive: true, force: true }))

  test('it holds the bundle, its declarations and no others, and is small', () => {
    const paths = packed.files.map(({ path }) => path)
    assert.ok(paths.includes('lib/index.js') && paths.includes('lib/index.d.ts'))
    assert.ok(paths.includes('LICENSE') && paths.includes('README.md'))
    const foreign = paths.filter((path) => !/^lib\/|^(LICENSE|[A-Z]+\.md|package\.json)$/.test(path))
    assert.deepEqual(foreign, [])
    assert.ok(packed.unpackedSize <= UNPACKED_BYTES_MAX, `${packed.unpackedSize} bytes`)
    assert.ok(paths.length <= FILES_MAX, `${paths.length} files`)
  })

  test('a class has one identity, whichever entry it came by, and a stack trace names our files', async () => {
    const script = `
      import assert from 'node:assert/strict'
      import { open } from 'seriatim'
      import { UnitAborted } from 'seriatim/toolkit'
      const store = await open({ memory: true })
      const error = await store.transactor().transact((tx) => tx.abort('no')).catch((error) => error)
      await store.close()
      assert.ok(error instanceof UnitAborted)
      console.log(error.stack)`
    await writeFile(join(project, 'identity.js'), script)
    const { stdout } = await run(process.execPath, ['--enable-source-maps', 'identity.js'], { cwd: project })
    assert.match(stdout, /seriatim[\\/]src[\\/]toolkit[\\/][\w\\/-]+\.ts:\d+/)
  })

  test('a store on disk is written by a process of its own, and read again', async () => {
    const script = `
      import { open } from 'seriatim'
      process.on('warning', (warning) => { console.log(warning.message) })
      const key = { id: { S: 'b1' } }
      const first = await open({ path: './data' })
      await first.call('CreateTable', {
        TableName: 'Books', BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      await first.call('PutItem', { TableName: 'Books', Item: { ...key, title: { S: 'Emma' } } })
      await first.close()
      const second = await open({ path: './data' })
      console.log((await second.call('GetItem', { TableName: 'Books', Key: key })).Item.title.S)
      await second.close()`
    await writeFile(join(project, 'disk.js'), script)
    const { stdout } = await run(process.execPath, ['disk.js'], { cwd: project })
    assert.equal(stdout, 'Emma\n', 'and without a warning that the process could not be started')
  })

  test('its command measures itself, with the processes that it starts', async () => {
    const short = '--rounds 1 --seconds 0.05 --items 100 --clients 2 --operation GetItem'.split(' ')
    const { stdout } = await run(join(project, 'node_modules/.bin/seriatim'), ['bench', ...short])
    assert.match(stdout, /GetItem +2 clients +Seriatim, disk, durable/)
  })

  test('its command serves agents, without another package', async () => {
    const command = run(join(project, 'node_modules/.bin/seriatim'), [
      'mcp',
      '--endpoint',
      'http://127.0.0.1:1',
    ])
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const { stdin, stdout } = command.child
    stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    stdout!.once('data', () => stdin!.end())
    assert.match((await command).stdout, /"serverInfo":\{"name":"seriatim"/)
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

  test('store.client() and store.streamsClient() say what to install where the SDK is not there', async () => {
    const bare = join(folder, 'bare')
    const withoutSdk = (path: string): boolean => !path.endsWith('@aws-sdk')
    await cp(join(project, 'node_modules'), join(bare, 'node_modules'), {
      recursive: true,
      filter: withoutSdk,
    })
    const script = `import { open } from 'seriatim'
      const store = await open({ memory: true })
      for (const method of ['client', 'streamsClient'])
        try { store[method]() } catch (error) { console.log(error.message) }
      await store.close()`
    await writeFile(join(bare, 'script.mjs'), script)
    const { stdout } = await run(process.execPath, ['script.mjs'], { cwd: bare })
    assert.equal(
      stdout,
      'store.client() needs the AWS SDK: npm install @aws-sdk/client-dynamodb\n' +
        'store.streamsClient() needs the AWS SDK: npm install @aws-sdk/client-dynamodb-streams\n',
    )
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
    await run(bin('tsc'), [...STRICT, '--skipLibCheck', 'right.ts'], { cwd: project })
    await assert.rejects(
      run(bin('tsc'), [...STRICT, '--skipLibCheck', 'wrong.ts'], { cwd: project }),
      /wrong\.ts/,
    )
  })

  test(
    'the declarations of every entry point compile, and are checked themselves',
    { skip: wholeOnly },
    async () => {
      const entries = Object.keys(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).exports)
      const imports = entries
        .filter((entry) => entry !== './package.json')
        .map(
          (entry, at) => `import * as entry${at} from 'seriatim${entry.slice(1)}'\nconsole.log(entry${at})\n`,
        )
      await writeFile(join(project, 'whole.ts'), imports.join(''))
      await run(bin('tsc'), [...STRICT, '--lib', 'es2023,esnext.disposable', 'whole.ts'], { cwd: project })
    },
  )

  test('publint finds nothing to say', { skip: wholeOnly }, async () => {
    await run(bin('publint'), ['run', tarball, '--strict'], { cwd: ROOT })
  })

  test('attw resolves the types of every entry point', { skip: wholeOnly }, async () => {
    await run(bin('attw'), [tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'], {
      cwd: ROOT,
    })
  })
})
