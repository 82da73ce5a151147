// Items of every type, canonical, as the store keeps them.
import * as fc from 'fast-check'
import { parseItem } from '../../src/model/parse-value.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { base64, canonical, text } from '../model/values.js'

/** Without unpaired surrogates, which have no UTF-8 form. */
const isSound = (one: string): boolean => one === Buffer.from(one).toString()
const sound = (lengthMax: number): fc.Arbitrary<string> => text(lengthMax).filter(isSound)
const name = fc
  .oneof(sound(6), fc.constantFrom('null', 'true', '$ion_1_0', '$1', 'a.b', '__proto__', 'Item'))
  .filter((one) => one !== '')
const setOf = (member: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.uniqueArray(member, { minLength: 1, maxLength: 4 })

const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    sound(12).map((S) => ({ S })),
    canonical.map((N) => ({ N })),
    base64(12).map((B) => ({ B })),
    fc.boolean().map((BOOL) => ({ BOOL })),
    fc.constant({ NULL: true } as const),
    setOf(sound(6)).map((SS) => ({ SS })),
    setOf(canonical).map((NS) => ({ NS })),
    setOf(base64(6)).map((BS) => ({ BS })),
    fc.array(tie('value'), { maxLength: 4 }).map((L) => ({ L })),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }).map((M) => ({ M })),
  ),
}))

export const item: fc.Arbitrary<Item> = fc
  .dictionary(name, value, { maxKeys: 6, noNullPrototype: true })
  .map((one) => parseItem(one))
