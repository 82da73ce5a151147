// Generators of values that the tests of this folder share.
import * as fc from 'fast-check'
import type { DecimalText } from '../../src/model/brand.js'
import { parseNumber } from '../../src/model/number.js'

/** A number as a sign, up to 38 digits, and a power of ten: any DynamoDB can hold, and zero. */
export const decimal: fc.Arbitrary<{ text: string; value: bigint }> = fc
  .record({
    negative: fc.boolean(),
    digits: fc.oneof(
      fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
      fc.bigInt({ min: 0n, max: 1000n }),
      fc.constantFrom(1n, 9n, 10n, 99n, 10n ** 37n, 10n ** 38n - 1n),
    ),
    place: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 120, max: 140 })),
  })
  .map(({ negative, digits, place }) => {
    // `place` is the power of ten of the first digit, counted from -130.
    const power = place - 130 - (String(digits).length - 1)
    const value = (negative ? -digits : digits) * 10n ** BigInt(power + SCALE)
    return { text: `${negative ? '-' : ''}${digits}E${power}`, value }
  })

/** Powers of ten by which the exact values above are scaled: 130 places and 37 more digits. */
export const SCALE = 167

export const canonical: fc.Arbitrary<DecimalText> = decimal.map(({ text }) => parseNumber(text))

/** Strings that mix ASCII, the end of the basic plane and what lies beyond, where UTF-16 and UTF-8 order differ. */
export const text = (lengthMax = 20): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom('a', 'b', '\0', '\x7f', '\x80', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff'),
        fc.constantFrom('\u{10000}', '\u{1f600}', '\u{10ffff}'),
        fc.string({ unit: 'binary', maxLength: 1 }),
      ),
      { maxLength: lengthMax },
    )
    .map((parts) => parts.join(''))

export const bytes = (lengthMax = 40): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.oneof(fc.constantFrom(0, 1, 8, 9, 0xfe, 0xff), fc.integer({ min: 0, max: 255 })), {
      maxLength: lengthMax,
    })
    .map((list) => Buffer.from(list))

export const base64 = (lengthMax = 40): fc.Arbitrary<string> =>
  bytes(lengthMax).map((buffer) => buffer.toString('base64'))

export const sign = (order: number): number => Math.sign(order)
