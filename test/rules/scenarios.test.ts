// Runs the scenarios of the rules: each heading of scenarios/*.txt is a test. Their language: scenario-language.ts.
// A heading begins with what it proves: `§3.3` is a section of the paper, `point 8` a point of docs/design.md.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newRun, parseScenarios } from './scenario-language.js'

// Beside the sources: the compiler does not copy text.
const folder = new URL('../../../test/rules/scenarios/', import.meta.url)

for (const file of readdirSync(folder).toSorted()) {
  const scenarios = parseScenarios(readFileSync(new URL(file, folder), 'utf8'))
  assert.notEqual(scenarios.length, 0, `${file} has no scenario`)
  for (const { title, commands } of scenarios) {
    test(title, () => {
      assert.notEqual(commands.length, 0, `${file}: a heading without commands`)
      const run = newRun()
      for (const { line, text, expected } of commands) {
        const where = `scenarios/${file}:${line}: ${text}`
        const actual = run(text)
        if (spaceless(actual) !== spaceless(expected)) {
          assert.fail(
            `${where}\n  expected: ${expected ?? 'no answer'}\n  actual:   ${actual ?? 'no answer'}`,
          )
        }
      }
    })
  }
}

test('scenarios: what the language does not know fails, and so does an answer that nobody expects', () => {
  assert.throws(() => newRun()('prepair t1 at 100 put {}'), /not a command/)
  assert.throws(() => newRun()('prepare t1 at 100 tickle'), /not an action/)
  assert.throws(() => newRun()('rules all but some'), /not a rule/)
  assert.throws(() => parseScenarios('show'), /before the first heading/)
})

/** Blanks are for the reader. */
const spaceless = (text: string | undefined): string | undefined => text?.replaceAll(/\s+/g, '')
