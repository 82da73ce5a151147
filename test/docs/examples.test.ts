// Every block of code in the documentation that is marked `<!-- run: name.mjs -->` is run as a user would run it.
import { after, test } from 'node:test'
import { sized } from '../support/sizes.js'
import { assertPrinted, Installation, pages, programsOf } from './programs.js'

const installation = new Installation()
after(() => installation[Symbol.dispose]())

const programs = pages.flatMap((page) => programsOf(page))
let running: Promise<readonly (string | Error)[]> | undefined

for (const [at, program] of programs.entries()) {
  test(`${program.page}: ${program.name} runs and prints what it says`, async () => {
    running ??= installation.runAll(programs, { processes: sized('one', 'one each') })
    assertPrinted(program, (await running)[at]!)
  })
}
