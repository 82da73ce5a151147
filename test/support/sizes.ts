// Two sizes of the costliest tests. `npm test` runs the quick one, which touches everything; the long part of `npm run check`
// runs every file that imports this module once more, at its whole size (scripts/test.mjs --whole).

const isWhole = process.env['SERIATIM_TESTS'] === 'whole'

/** For a test that has no quick size, as its option `skip`. */
export const wholeOnly: string | false = isWhole ? false : 'only at the whole size, in npm run check'

/** A count, or what else a test takes, for `npm test` and for `npm run check`. */
export const sized = <T>(quick: T, whole: T): T => (isWhole ? whole : quick)
