// Figures and times for people.
import { attributeOf, type Item, shortText } from '../values/attribute.js'
const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`
}

export const countText = (count: number): string => count.toLocaleString('en')

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`

export function msText(ms: number): string {
  if (ms < 1) return `${(ms * 1000).toFixed(0)} µs`
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}

export const timeText = (ms: number): string =>
  new Date(ms).toLocaleTimeString('en-GB', { hour12: false }) +
  `.${String(Math.floor(ms) % 1000).padStart(3, '0')}`

export const dateText = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')

export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

const CHARACTERS_MAX = 42
const ROWS_LOOKED_AT = 20

/** Of a column, in pixels, by the first rows: columns must not move while a person reads. */
export function columnWidth(name: string, items: readonly (Item | undefined)[]): number {
  let characters = name.length + 8
  for (const item of items.slice(0, ROWS_LOOKED_AT)) {
    const value = attributeOf(item, name)
    if (value !== undefined)
      characters = Math.max(characters, Math.min(CHARACTERS_MAX, shortText(value, CHARACTERS_MAX + 2).length))
  }
  return Math.min(330, 24 + characters * 7.4)
}
