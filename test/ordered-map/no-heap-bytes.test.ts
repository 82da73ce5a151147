// What stands in the file of an index beside its entries.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { open } from 'lmdb'
import { ENVIRONMENT } from '../../src/ordered-map/lmdb/file/lmdb-options.js'
import { testFolder } from '../support/folder.js'

const SECRET = Buffer.from('-a secret of another client-')
const PAGE_BYTES = 4096

/** Freed memory of the size of pages that is full of it, from which the next pages come. */
function leaveInHeap(): void {
  let left: Buffer[] | undefined = Array.from({ length: 4_000 }, () =>
    Buffer.allocUnsafeSlow(PAGE_BYTES).fill(SECRET),
  )
  assert.equal(left.length, 4_000)
  left = undefined
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

test('the file of an index holds no bytes of the heap in the free part of its pages', async () => {
  const path = testFolder()
  leaveInHeap()
  const root = open({ ...ENVIRONMENT, path })
  const entries = root.openDB('entries', { ...ENVIRONMENT })
  root.transactionSync(() => {
    for (let n = 0; n < 1_000; n++) entries.putSync(`k${n}`, Buffer.alloc(3_000, 'x'))
  })
  await root.close()
  assert.equal(readFileSync(join(path, 'data.mdb')).indexOf(SECRET), -1)
})
