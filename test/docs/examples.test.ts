// Every block of code in the documentation that is marked `<!-- run: name.mjs -->` is run as a user would run it.
import { after, test } from 'node:test'
import { assertPrinted, Installation, pages, programsOf } from './programs.js'

const installation = new Installation()
after(() => installation[Symbol.dispose]())

for (const program of pages.flatMap((page) => programsOf(page))) {
  test(`${program.page}: ${program.name} runs and prints what it says`, async () => {
    assertPrinted(program, await installation.run(program))
  })
}
