import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesLeft, neededBytes, diskFullMessage } from '../../src/ordered-map/lmdb/file/disk-room.js'

const MB = 1024 * 1024

test('room: a commit needs a page for each leaf that it touches, twice what it adds, and a reserve', () => {
  assert.equal(neededBytes({ changes: 0, bytes: 0, fileBytes: 0 }), MB)
  assert.equal(neededBytes({ changes: 10, bytes: 5000, fileBytes: 100 * MB }), 10 * 4096 + 10_000 + MB)
  // No more leaves than there are pages.
  assert.equal(neededBytes({ changes: 10_000, bytes: 0, fileBytes: 8 * 4096 }), 8 * 4096 + MB)
})

test('room: a file system that does not say how large it is has no end', () => {
  assert.equal(bytesLeft({ bavail: 3, bsize: 4096, blocks: 10 }), 3 * 4096)
  assert.equal(bytesLeft({ bavail: 0, bsize: 4096, blocks: 0 }), Infinity)
})

test('room: a refusal names the folder, what is left and what is needed', () => {
  assert.equal(
    diskFullMessage('/data/index', 300_000, 1_200_000),
    'ENOSPC: the disk has 0.3 MB left at /data/index, and a commit may need 1.2 MB',
  )
})
