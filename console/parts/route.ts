// Which screen: the part of the address behind #, so that every screen has a link and the server one page.
import { observable } from '../wire/observable.js'

const read = (): readonly string[] =>
  location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decoded)

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const route = observable<readonly string[]>(read())
addEventListener('hashchange', () => route.set(read()))

export const href = (...parts: readonly string[]): string =>
  `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`

export function go(...parts: readonly string[]): void {
  location.hash = href(...parts)
}
