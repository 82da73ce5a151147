// LMDB's package, as CommonJS: one file, where its ES modules are a dozen and take half as long again to load (docs/adr/0029).
import { createRequire } from 'node:module'

export const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb')
