// Verifiers with a mistake in them: the tests of this folder refuse each. A verifier that accepts too much looks like one that works.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { wholeOnly } from '../support/sizes.js'

const DIST = resolve(import.meta.dirname, '../..')
const ROOT = resolve(DIST, '..')
const run = promisify(execFile)

interface Mutant {
  readonly name: string
  /** In src/verify. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** Which tests are run: all of this file. */
  readonly tests: 'merkle' | 'note' | 'proof' | 'folder'
  /** In `npm test`, too. */
  readonly isQuick?: true
}

const MUTANTS: readonly Mutant[] = [
  {
    name: 'takes a sibling for the wrong side',
    file: 'merkle',
    from: 'hash = nodeHash(sibling, hash);\n            // The last',
    to: 'hash = nodeHash(hash, sibling);\n            // The last',
    tests: 'proof',
    isQuick: true,
  },
  {
    name: 'skips the middle of each bundle',
    file: 'folder',
    from: 'const parsed = this.#checkHeader(path, block, header);',
    to: 'const parsed = at > 0 && at < headers.length - 1 ? undefined : this.#checkHeader(path, block, header);',
    tests: 'folder',
    isQuick: true,
  },
  {
    name: 'hashes data without its salt',
    file: 'block',
    from: 'base64(hash(data))',
    to: 'base64(hash(imageOf(data)))',
    tests: 'proof',
    isQuick: true,
  },
  {
    name: 'is content with a path that ends early',
    file: 'merkle',
    from: 'return last === 0 && isEqual(hash, root);',
    to: 'return isEqual(hash, root);',
    tests: 'merkle',
  },
  {
    name: 'does not look at the root of the earlier tree',
    file: 'merkle',
    from: 'return last === 0 && isEqual(oldHash, oldRoot) && isEqual(hash, root);',
    to: 'return last === 0 && isEqual(hash, root);',
    tests: 'merkle',
  },
  {
    name: 'hashes leaves as nodes',
    file: 'merkle',
    from: 'const LEAF = 0x00;',
    to: 'const LEAF = 0x01;',
    tests: 'merkle',
  },
  {
    name: 'accepts every signature',
    file: 'note',
    from: 'if (!isGood)',
    to: 'if (false)',
    tests: 'note',
  },
  {
    name: 'counts a witness without its signature',
    file: 'checkpoint',
    from: 'if (timeS !== false)',
    to: 'if (true)',
    tests: 'note',
  },
  {
    name: 'does not compare the root of the headers with the checkpoint',
    file: 'folder',
    from: 'if (!isEqual(this.#root(), root))',
    to: 'if (false)',
    tests: 'folder',
  },
  {
    name: 'does not look at tiles',
    file: 'folder',
    from: 'if (isEqual(hash, kept[at]))',
    to: 'if (true)',
    tests: 'folder',
  },
  {
    name: 'does not compare the entries with the header',
    file: 'chains',
    from: 'base64(rootOf(hashes)) !== header.root',
    to: 'false',
    tests: 'folder',
  },
  {
    name: 'does not follow the chain of versions',
    file: 'chains',
    from: 'if (previous !== last)',
    to: 'if (false)',
    tests: 'folder',
  },
  {
    name: 'accepts gaps in the versions',
    file: 'chains',
    from: 'if (version !== expected)',
    to: 'if (version < expected)',
    tests: 'folder',
  },
  {
    name: 'accepts missing data that no block has redacted',
    file: 'chains',
    from: 'for (const place of this.#missing.keys()) {',
    to: 'for (const place of []) {',
    tests: 'folder',
  },
  {
    name: 'reads past what it does not know in a proof',
    file: 'proof',
    from: '!== proof)',
    to: '=== 0)',
    tests: 'proof',
  },
]

describe('verify: a verifier', () => {
  const inCopy = async (act: (folder: string) => Promise<void>): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'seriatim-mutant-'))
    try {
      for (const part of ['src/verify', 'test/verify', 'test/support'])
        cpSync(join(DIST, part), join(folder, 'dist', part), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      await act(folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const passes = (folder: string, tests: string): Promise<boolean> => {
    // The runner that this test runs in must not be told of failures that are wanted; and the quick size catches them.
    const { NODE_TEST_CONTEXT: _, SERIATIM_TESTS: _size, ...env } = process.env
    return run(process.execPath, [join(folder, `dist/test/verify/${tests}.test.js`)], { env }).then(
      () => true,
      () => false,
    )
  }

  test('as it is passes, copied', () => inCopy(async (folder) => assert.ok(await passes(folder, 'proof'))))

  for (const { name, file, from, to, tests, isQuick } of MUTANTS)
    test(`that ${name} is caught`, { skip: isQuick ? false : wholeOnly }, () =>
      inCopy(async (folder) => {
        const path = join(folder, `dist/src/verify/${file}.js`)
        const text = readFileSync(path, 'utf8')
        assert.equal(text.split(from).length, 2, `${file}.js has "${from}" once`)
        writeFileSync(path, text.replace(from, to))
        assert.ok(!(await passes(folder, tests)), 'no test has failed')
      }),
    )
})
