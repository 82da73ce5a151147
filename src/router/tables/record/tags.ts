// Tags of tables: the rules for keys, values and their number.
import { validationError } from '../../../model/errors.js'
import { limits } from '../../../model/limits.js'
import type { Tag } from './table-record.js'

const KEY_CHARACTERS_MAX = 128
const VALUE_CHARACTERS_MAX = 256
const SHOWN_CHARACTERS_MAX = 256

/** Letters, numbers and blanks of any script, and a few signs. */
const CHARACTERS = /^[\p{L}\p{M}\p{Z}\p{N}_.:/=+\-@]*$/u

/** The tags of a request, checked. */
export function checkTags(tags: readonly Partial<Tag>[]): readonly Tag[] {
  const seen = new Set<string>()
  const checked = tags.map(({ Key: key, Value: value }) => {
    checkTagKey(key)
    if (key.toLowerCase().startsWith('aws:')) {
      throw validationError(`Tag Key cannot be prefixed with aws:, Key: ${key}`)
    }
    if (value === undefined || value.length > VALUE_CHARACTERS_MAX || !CHARACTERS.test(value)) {
      throw validationError(`The Tag Value provided is invalid, Value: ${shown(value)}`)
    }
    if (seen.has(key)) {
      throw validationError(`Duplicate Tag Keys provided as input: Duplicate Tag Key found ${key}`)
    }
    seen.add(key)
    return { Key: key, Value: value }
  })
  checkTagCount(checked.length)
  return checked
}

export function checkTagKey(key: string | undefined): asserts key is string {
  if (key === undefined || key === '' || key.length > KEY_CHARACTERS_MAX || !CHARACTERS.test(key)) {
    throw validationError(`The Tag Key provided is invalid, Key: ${shown(key)}`)
  }
}

export function checkTagCount(count: number): void {
  if (count > limits.tagsMax) {
    throw validationError('Number of Tags exceed the current limit for the provided ResourceArn')
  }
}

/** The tags after adding some: a key that is there already gets the new value. */
export function mergeTags(tags: readonly Tag[], added: readonly Tag[]): readonly Tag[] {
  const byKey = new Map([...tags, ...added].map((tag) => [tag.Key, tag]))
  checkTagCount(byKey.size)
  return [...byKey.values()]
}

const shown = (text: string | undefined): string => (text ?? 'null').slice(0, SHOWN_CHARACTERS_MAX)
