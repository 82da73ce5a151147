/**
 * A template or a file of seeds cannot be used. The message begins with the place in the file.
 *
 * @example
 *   const error: unknown = await readTables('nowhere.yaml').catch((caught: unknown) => caught)
 *   if (error instanceof TemplateError) console.log(error.message) // nowhere.yaml: there is no such file
 */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** Where in a document something stands, for messages. */
export type Place = readonly (string | number)[]

export function wrong(place: Place, sentence: string): TemplateError {
  return new TemplateError(place.length === 0 ? sentence : `${place.join('.')}: ${sentence}`)
}

/** An object that is neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectAt(place: Place, value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw wrong(place, `must be an object, not ${shown(value)}`)
  return value
}

export function listAt(place: Place, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(place, `must be a list, not ${shown(value)}`)
  return value
}

export function textAt(place: Place, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw wrong(place, `must be a text, not ${shown(value)}`)
}

const SHOWN_MAX = 80

export const shown = (value: unknown): string =>
  value === undefined ? 'absent' : (JSON.stringify(value) ?? typeof value).slice(0, SHOWN_MAX)
