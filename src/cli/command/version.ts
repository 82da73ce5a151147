// The version of this package, as its package.json says: found by the package's own name, wherever this file lies in it.
import { createRequire } from 'node:module'

export function version(): string {
  const { version } = createRequire(import.meta.url)('seriatim/package.json') as { readonly version: string }
  return version
}
