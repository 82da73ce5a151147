// Where the setup file of vitest leaves the store for the test file. Vitest may load this package twice, once by itself and
// once by Node, so the place is one of the whole worker.
import type { TestStore } from './test-store.js'

/** Under which the plugin hands its options to the setup file. */
export const OPTIONS_KEY = 'seriatim'

interface Holder {
  [CURRENT]?: TestStore | undefined
  [PORT]?: number
}

const CURRENT: unique symbol = Symbol.for('seriatim.testStore') as never
const PORT: unique symbol = Symbol.for('seriatim.testPort') as never
const holder = globalThis as Holder

export const currentStore = (): TestStore | undefined => holder[CURRENT]

export function setCurrentStore(store: TestStore | undefined): void {
  holder[CURRENT] = store
  if (store !== undefined) holder[PORT] = Number(new URL(store.endpoint).port)
}

/**
 * The port of the store before, in this worker; 0 if there was none. Without isolation modules live on from one test file to
 * the next, and with them clients that know only that port.
 */
export const lastPort = (): number => holder[PORT] ?? 0
