// Numbers by value, not by spelling; written apart from the store's own decimals, which are what is being tested.
import { type Json, isObject } from './values.js'

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/

/** One spelling for all that mean the same: significant digits and an exponent. */
export function plainNumber(text: string): string {
  const parts = NUMBER.exec(text)
  if (parts === null) return text
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${power}`
}

export function plainNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => plainNumbers(one as Json))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, one]): [string, Json] => {
    if (name === 'N' && typeof one === 'string') return [name, plainNumber(one)]
    if (name === 'NS' && Array.isArray(one))
      return [name, one.map((each) => plainNumber(String(each))).toSorted()]
    return [name, plainNumbers(one)]
  })
  return Object.fromEntries(entries)
}

/** The numbers in a message such as `AttributeValue: {N:1e1}`. */
export function plainNumbersInText(text: string | undefined): string | undefined {
  return text?.replaceAll(/\{N:([^}]*)\}/g, (_, number: string) => `{N:${plainNumber(number)}}`)
}
