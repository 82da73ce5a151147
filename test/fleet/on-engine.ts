// Loaded before anything else (node --import): stores that tests open in memory stand on an engine instead, so that what a store
// promises is tried on a fleet's server, too. SERIATIM_ON_ENGINE says on which (engine-stores.ts). scripts/engine-suites.mjs uses it.
import { register } from 'node:module'

register(new URL('./on-engine-loader.js', import.meta.url))
