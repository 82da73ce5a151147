// Attribute values of wrong JSON types. DynamoDB refuses them before it looks at anything else of a request: what is refused for another
// reason is looked at for them, too. What is not refused is not: parse-value.ts finds them.
import { arrayOf, isTagged, noMap, noValue, parseBlob, parseBoolean, stringOf } from './parse-value.js'

/** How many values `refuseMistyped` looks at: what is refused shall cost no more than what is done. */
export interface Sight {
  values: number
}

/** Refuses an attribute value that has, at any depth, a member of a wrong JSON type, whatever else may be wrong with it. */
export function refuseMistyped(json: unknown, sight: Sight): void {
  if (sight.values-- <= 0 || json === null || json === undefined) return
  if (!isTagged(json)) throw noValue(json)
  for (const tag in json) {
    const content = (json as Readonly<Record<string, unknown>>)[tag]
    if (content !== null && content !== undefined) refuseMistypedContent(tag, content, sight)
  }
}

function refuseMistypedContent(tag: string, content: unknown, sight: Sight): void {
  switch (tag) {
    case 'S':
    case 'N':
      stringOf(content)
      return
    case 'B':
      parseBlob(content)
      return
    case 'BOOL':
    case 'NULL':
      parseBoolean(content)
      return
    case 'SS':
    case 'NS':
    case 'BS':
      for (const member of arrayOf(content)) {
        if (sight.values-- <= 0) return
        if (member !== null) refuseMistypedContent(tag.charAt(0), member, sight)
      }
      return
    case 'L':
      for (const element of arrayOf(content)) refuseMistyped(element, sight)
      return
    case 'M':
      refuseMistypedMap(content, sight)
      return
    default:
      return
  }
}

/** The same of a map of values, such as an item. */
export function refuseMistypedMap(json: unknown, sight: Sight): void {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw noMap(json)
  for (const name of Object.keys(json)) {
    if (sight.values <= 0) return
    refuseMistyped((json as Readonly<Record<string, unknown>>)[name], sight)
  }
}
