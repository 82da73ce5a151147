import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dropFromPageCache } from '../../bench/targets/page-cache.js'

const TMPFS_MAGIC = 0x01021994
const hasFincore = spawnSync('fincore', ['--version']).status === 0
const skip =
  statfsSync(tmpdir()).type === TMPFS_MAGIC
    ? 'a file of tmpfs is nowhere but in memory'
    : hasFincore
      ? false
      : 'fincore of util-linux is not installed'

test(
  'a file that is dropped from the page cache keeps its bytes, and none of its pages are resident',
  { skip },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-test-'))
    try {
      mkdirSync(join(folder, 'inner'))
      const file = join(folder, 'inner', 'file')
      const bytes = Buffer.alloc(1024 * 1024, 7)
      writeFileSync(file, bytes)
      await dropFromPageCache(folder)
      const pages = execFileSync('fincore', ['--noheadings', '--output', 'PAGES', file], { encoding: 'utf8' })
      assert.equal(Number(pages), 0)
      assert.deepEqual(readFileSync(file), bytes)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
