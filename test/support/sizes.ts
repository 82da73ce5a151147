// Two sizes of the costliest tests. `npm test` runs the quick one, which touches everything; `npm run check`
// runs the whole one (scripts/test.mjs --whole).

const isWhole = process.env['SERIATIM_TESTS'] === 'whole'

/** For a test that has no quick size, as its option `skip`. */
export const wholeOnly: string | false = isWhole ? false : 'only at the whole size, in npm run check'

/** A count, or what else a test takes, for `npm test` and for `npm run check`. */
export const sized = <T>(quick: T, whole: T): T => (isWhole ? whole : quick)
