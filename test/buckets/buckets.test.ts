import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { platform } from 'node:process'
import { test } from 'node:test'
import { BACKUPS_BUCKET, type Bucket, BucketError, isBucketName } from '../../src/buckets/buckets.js'
import { openFolderBuckets } from '../../src/buckets/folder-buckets.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { testFolder } from '../support/folder.js'

const runtime = realRuntime()
const randomBytes = (count: number): Uint8Array => runtime.randomBytes(count)

interface Place {
  readonly root: string
  readonly folder: string
  /** Beside the root. */
  readonly outside: string
  readonly bucket: Bucket
}

async function place(): Promise<Place> {
  const home = realpathSync(testFolder())
  const root = join(home, 'buckets')
  const folder = join(root, 'shop')
  mkdirSync(folder, { recursive: true })
  const outside = join(home, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret.json'), 'secret')
  const buckets = await openFolderBuckets({ root, randomBytes })
  return { root, folder, outside, bucket: await buckets.bucket('shop') }
}

async function put(bucket: Bucket, key: string, text: string): Promise<void> {
  await using writer = await bucket.write(key)
  await writer.write(Buffer.from(text))
  await writer.publish()
}

async function get(bucket: Bucket, key: string, chunkBytes?: number): Promise<string> {
  await using reader = await bucket.read(key)
  let text = ''
  for await (const chunk of reader.chunks(chunkBytes)) text += chunk.toString()
  return text
}

const refused = (code: string) => (error: unknown) => error instanceof BucketError && error.code === code

test('buckets: what is written is read back, in pieces, and listed by the beginning of its key', async () => {
  const { bucket } = await place()
  await put(bucket, 'a/b/part-2.json', 'two')
  await put(bucket, 'a/b/part-10.json', 'ten')
  await put(bucket, 'a/other', 'x')
  await put(bucket, 'a/b/part-2.json', 'two again')
  assert.equal(await get(bucket, 'a/b/part-2.json', 2), 'two again')
  assert.deepEqual(await bucket.list('a/b/part-', 10), [
    { key: 'a/b/part-10.json', bytes: 3 },
    { key: 'a/b/part-2.json', bytes: 9 },
  ])
  assert.deepEqual((await bucket.list('', 10)).length, 3)
  assert.deepEqual(await bucket.list('nowhere/at/all/', 10), [])
  await bucket.remove('a/other')
  await bucket.remove('a/other')
  await assert.rejects(bucket.read('a/other'), refused('NoSuchKey'))
  await assert.rejects(bucket.list('', 1), refused('TooManyObjects'))
})

test('buckets: an object is not there before it is published, and one that was given up leaves nothing', async () => {
  const { bucket, folder } = await place()
  const writer = await bucket.write('d/object')
  await writer.write(Buffer.from('half'))
  assert.deepEqual(await bucket.list('', 10), [])
  await assert.rejects(bucket.read('d/object'), refused('NoSuchKey'))
  await writer.close()
  assert.deepEqual(readdirSync(join(folder, 'd')), [])
  const again = await bucket.write('d/object')
  await again.write(Buffer.from('whole'))
  await again.publish()
  assert.deepEqual(readdirSync(join(folder, 'd')), ['object'])
})

test('buckets: a name that is no bucket, and a link that stands for one, do not exist', async () => {
  const { root, outside } = await place()
  symlinkSync(outside, join(root, 'linked'))
  writeFileSync(join(root, 'file'), '')
  const buckets = await openFolderBuckets({ root, randomBytes })
  for (const name of ['..', '.', '', 'a/b', 'shop/..', 'linked', 'file', 'absent', '/etc', 'a..b'])
    await assert.rejects(buckets.bucket(name), refused('NoSuchBucket'), name)
  assert.ok(isBucketName('my-bucket.2026'))
})

test('buckets: the folder in which backups are kept is no bucket of clients', async () => {
  const { root } = await place()
  mkdirSync(join(root, BACKUPS_BUCKET))
  const buckets = await openFolderBuckets({ root, randomBytes })
  for (const name of [BACKUPS_BUCKET, BACKUPS_BUCKET.toUpperCase()])
    await assert.rejects(buckets.bucket(name), refused('NoSuchBucket'), name)
})

test('buckets: a root that is no folder is refused when it is opened', async () => {
  const { folder } = await place()
  writeFileSync(join(folder, 'file'), '')
  await assert.rejects(openFolderBuckets({ root: join(folder, 'absent'), randomBytes }), /cannot be used/)
  await assert.rejects(openFolderBuckets({ root: join(folder, 'file'), randomBytes }), /is not a folder/)
})

test('buckets: keys that could lead elsewhere are refused', async () => {
  const { bucket, outside } = await place()
  const keys = [
    '../outside/secret.json',
    'a/../../x',
    '/etc/passwd',
    'a//b',
    './a',
    'a/.',
    'a\\b',
    'a\0b',
    '',
  ]
  for (const key of [...keys, 'x'.repeat(1025), '.seriatim-1', 'a/'.repeat(40) + 'b']) {
    await assert.rejects(bucket.read(key), refused('InvalidKey'), key)
    await assert.rejects(bucket.write(key), refused('InvalidKey'), key)
    await assert.rejects(bucket.remove(key), refused('InvalidKey'), key)
  }
  for (const prefix of ['../', '..', 'a/../', '/'])
    await assert.rejects(bucket.list(prefix, 10), refused('InvalidKey'), prefix)
  assert.equal(readFileSync(join(outside, 'secret.json'), 'utf8'), 'secret')
})

test(
  'buckets: links are followed neither as objects nor as folders',
  { skip: platform === 'win32' },
  async () => {
    const { bucket, folder, outside } = await place()
    symlinkSync(join(outside, 'secret.json'), join(folder, 'object'))
    symlinkSync(outside, join(folder, 'inside'))
    mkdirSync(join(folder, 'sub'))
    symlinkSync('..', join(folder, 'sub', 'up'))
    for (const key of ['object', 'inside/secret.json', 'sub/up/object']) {
      await assert.rejects(bucket.read(key), refused('AccessDenied'), key)
      await assert.rejects(bucket.write(key), refused('AccessDenied'), key)
      await assert.rejects(bucket.remove(key), refused('AccessDenied'), key)
    }
    await assert.rejects(bucket.list('', 10), refused('AccessDenied'))
    await assert.rejects(bucket.list('inside/', 10), refused('AccessDenied'))
    assert.equal(readFileSync(join(outside, 'secret.json'), 'utf8'), 'secret')
    assert.deepEqual(readdirSync(outside), ['secret.json'])
  },
)

test(
  'buckets: a folder that becomes a link while an object is opened is noticed',
  { skip: platform !== 'linux' },
  async () => {
    const { bucket, folder, outside } = await place()
    await put(bucket, 'sub/secret.json', 'ours')
    // The look at the folder is over before the link is there: `read` begins at once.
    const reading = bucket.read('sub/secret.json')
    renameSync(join(folder, 'sub'), join(folder, 'gone'))
    symlinkSync(outside, join(folder, 'sub'))
    const text = await reading.then(
      async (reader) => {
        await using opened = reader
        const chunks: Buffer[] = []
        for await (const chunk of opened.chunks()) chunks.push(chunk)
        return Buffer.concat(chunks).toString()
      },
      (error: unknown) => (error as BucketError).code,
    )
    assert.ok(text === 'ours' || text === 'AccessDenied' || text === 'NoSuchKey', text)
  },
)

test(
  'buckets: a pipe is no object, and nobody waits for its writer',
  { skip: platform === 'win32' },
  async () => {
    const { bucket, folder } = await place()
    execFileSync('mkfifo', [join(folder, 'pipe')])
    await assert.rejects(bucket.read('pipe'), refused('AccessDenied'))
    await assert.rejects(bucket.write('pipe'), refused('AccessDenied'))
    await assert.rejects(bucket.list('', 10), refused('AccessDenied'))
  },
)

test('buckets: what a killed writer left is no object', async () => {
  const { bucket, folder } = await place()
  writeFileSync(join(folder, '.seriatim-00ff'), 'half')
  assert.deepEqual(await bucket.list('', 10), [])
  assert.ok(existsSync(join(folder, '.seriatim-00ff')))
})
