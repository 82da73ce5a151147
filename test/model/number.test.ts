import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { numberFromKeyBytes, numberKeyBytes } from '../../src/model/key-bytes.js'
import {
  addNumbers,
  compareNumbers,
  decimalOf,
  numberBytes,
  parseNumber,
  subtractNumbers,
  textOf,
} from '../../src/model/number.js'
import { canonical, decimal, SCALE, sign } from './values.js'

const OVERFLOW = 'Number overflow. Attempting to store a number with magnitude larger than supported range'
const UNDERFLOW = 'Number underflow. Attempting to store a number with magnitude smaller than supported range'
const TOO_PRECISE = 'Attempting to store more than 38 significant digits in a Number'

const refusal = (message: string) => ({ name: 'ValidationException', message })

/** The exact value, scaled like those of the generator, by another way than the code under test. */
function valueOf(text: string): bigint {
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole! + fraction.padEnd(SCALE, '0'))
}

describe('numbers', () => {
  for (const [written, stored] of [
    ['1.0', '1'],
    ['1e3', '1000'],
    ['-0', '0'],
    ['+0', '0'],
    ['0e125', '0'],
    ['0e-130', '0'],
    ['0.0e126', '0'],
    ['0.000e-99999999999999', '0'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['5.', '5'],
    ['+1.5E+3', '1500'],
    ['1E-7', '0.0000001'],
    ['00042', '42'],
    ['-3.1400', '-3.14'],
    ['1e0002', '100'],
    ['0.001e3', '1'],
    ['1e125', `1${'0'.repeat(125)}`],
    ['1E-130', `0.${'0'.repeat(129)}1`],
    ['15E-131', `0.${'0'.repeat(129)}15`],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
    ['1234567890123456789012345678901234567800', '1234567890123456789012345678901234567800'],
    ['9.9999999999999999999999999999999999999E+125', '9'.repeat(38) + '0'.repeat(88)],
    [`${'0'.repeat(300)}7${'0'.repeat(100)}e-100`, '7'],
  ] as const) {
    test(`${written.slice(0, 50)} is stored as ${stored.slice(0, 50)}`, () => {
      assert.equal(parseNumber(written), stored)
      assert.equal(parseNumber(stored), stored)
    })
  }

  const junk =
    'abc 0x10 0b1 NaN Infinity -Infinity 1_000 1n 1d 1,5 １ ٣ . - + -. --1 +-1 1.2.3 1.. e5 .e5 1e 1e+ 1e- 1e1.5 1e5e5 1-2 null {}'
  for (const written of junk.split(' ').concat(' 1', '1 ', '1\n', '1\0', ' ')) {
    test(`${JSON.stringify(written)} is no number`, () => {
      const message = `The parameter cannot be converted to a numeric value: ${written}`
      assert.throws(() => parseNumber(written), refusal(message))
    })
  }

  test('the empty string is no number, and DynamoDB does not quote it', () => {
    assert.throws(() => parseNumber(''), refusal('The parameter cannot be converted to a numeric value: '))
  })

  for (const written of ['1e126', '-1e126', '10e125', '1e99999999999', `1${'0'.repeat(126)}`]) {
    test(`${written.slice(0, 30)} is too large`, () => {
      assert.throws(() => parseNumber(written), refusal(OVERFLOW))
    })
  }

  for (const written of ['1e-131', '-9.9e-131', '0.1e-130', '1e-99999999999', `0.${'0'.repeat(130)}1`]) {
    test(`${written.slice(0, 30)} is too small`, () => {
      assert.throws(() => parseNumber(written), refusal(UNDERFLOW))
    })
  }

  for (const written of [
    '123456789012345678901234567890123456789',
    `1.${'0'.repeat(37)}1`,
    `0.1${'1'.repeat(38)}`,
  ]) {
    test(`${written} is too precise`, () => {
      assert.throws(() => parseNumber(written), refusal(TOO_PRECISE))
    })
  }

  test('every number keeps its exact value and has one text', () => {
    fc.assert(
      fc.property(decimal, ({ text, value }) => {
        const stored = parseNumber(text)
        assert.equal(valueOf(stored), value)
        assert.equal(parseNumber(stored), stored)
        assert.equal(textOf(decimalOf(stored)), stored)
        assert.match(stored, /^(?:0|-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?)$/)
        assert.notEqual(stored, '-0')
      }),
      { numRuns: 2000 },
    )
  })

  test('numbers compare as their exact values do', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const order = compareNumbers(parseNumber(a.text), parseNumber(b.text))
        assert.equal(sign(order), a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
      }),
      { numRuns: 2000 },
    )
  })

  test('sums and differences are exact, or refused', () => {
    fc.assert(
      fc.property(decimal, decimal, fc.boolean(), (a, b, plus) => {
        const exact = plus ? a.value + b.value : a.value - b.value
        const operation = plus ? addNumbers : subtractNumbers
        const digits = String(exact < 0n ? -exact : exact)
        const run = () => operation(parseNumber(a.text), parseNumber(b.text))
        const tooLong = digits.replace(/0+$/, '').length > 38
        if (tooLong || digits.length > SCALE + 126) assert.throws(run, refusal(OVERFLOW))
        else if (exact !== 0n && digits.length < SCALE - 129) assert.throws(run, refusal(UNDERFLOW))
        else {
          assert.equal(valueOf(run()), exact)
          assert.equal(parseNumber(run()), run())
        }
      }),
      { numRuns: 3000 },
    )
  })

  test('a sum that would need a 39th digit is refused, not rounded', () => {
    assert.throws(() => addNumbers('1', parseNumber('1e-38')), refusal(OVERFLOW))
    assert.throws(() => subtractNumbers(parseNumber('1e50'), '1'), refusal(OVERFLOW))
    assert.equal(addNumbers('9'.repeat(38), '1'), `1${'0'.repeat(38)}`)
  })

  test('a difference of nothing is zero', () => {
    assert.equal(subtractNumbers(parseNumber('1e-130'), parseNumber('1e-130')), '0')
    assert.equal(subtractNumbers('0', '0'), '0')
    assert.equal(addNumbers('-5', '5'), '0')
  })

  // Measured on the service by others, to the byte.
  const sizes: readonly (readonly [size: number, numbers: string])[] = [
    [1, '0 -0'],
    [2, '1 12 0042 100 0.0000001 1E125 1E-100 0.15 15'],
    [3, '123 1234 1010 1.5 1.200 -42 -1E125 -0.15 -100'],
    [4, '12345 123456 1.234 100.5 -1.5'],
    [5, '1234567 3.14159 -12345'],
    [11, '1234567890123456789'],
    [20, '12345678901234567890123456789012345678'],
  ]
  for (const [size, written] of sizes.flatMap(([size, list]) =>
    list.split(' ').map((one) => [size, one] as const),
  )) {
    test(`${written} takes ${size} bytes`, () => {
      assert.equal(numberBytes(parseNumber(written)), size)
    })
  }
})

describe('number keys', () => {
  test('have the order of the numbers', () => {
    fc.assert(
      fc.property(canonical, canonical, (a, b) => {
        const x = numberKeyBytes(a)
        const y = numberKeyBytes(b)
        assert.equal(x < y ? -1 : x > y ? 1 : 0, sign(compareNumbers(a, b)))
      }),
      { numRuns: 3000 },
    )
  })

  test('can be read back, are bytes, at most 21 of them, and end where they end', () => {
    fc.assert(
      fc.property(canonical, fc.string(), (number, rest) => {
        const key = numberKeyBytes(number)
        assert.deepEqual(numberFromKeyBytes(key + rest), { text: number, end: key.length })
        assert.ok(key.length <= 21)
        assert.match(key, /^[\0-\xff]+$/)
      }),
    )
  })

  test('none is a prefix of another', () => {
    fc.assert(
      fc.property(canonical, canonical, (a, b) => {
        fc.pre(a !== b)
        assert.ok(!numberKeyBytes(a).startsWith(numberKeyBytes(b)))
      }),
    )
    assert.ok(!numberKeyBytes('125').startsWith(numberKeyBytes('12')))
    assert.ok(!numberKeyBytes('-125').startsWith(numberKeyBytes('-12')))
  })

  test('a small integer takes three bytes', () => {
    assert.equal(numberKeyBytes('7').length, 3)
    assert.equal(numberKeyBytes('-99').length, 3)
    assert.equal(numberKeyBytes('0').length, 1)
  })
})
