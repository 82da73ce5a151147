// Load this before node:test. Node 20's test runner follows every promise of a process with an asynchronous hook, to know to which
// test an error belongs that nobody has caught. All that is asynchronous takes longer by that: a store answers up to twice as fast
// without. Here the runner is told of its own tests alone, which is what it needs to know in which suite a test stands.
// An error that nobody has caught then fails the process, and no test by its name.
import hooks from 'node:async_hooks'

/** Where it was tried. */
const IS_KNOWN = process.versions.node.startsWith('20.')

/** Calls `load`, which is to load node:test. */
export async function withoutHooks(load) {
  if (!IS_KNOWN) return load()
  const { createHook, AsyncResource } = hooks
  const told = []
  hooks.createHook = (callbacks) => ({
    enable: () => void told.push(callbacks),
    disable: () => undefined,
  })
  hooks.AsyncResource = class extends AsyncResource {
    constructor(type, options) {
      super(type, options)
      for (const { init } of told) init?.(this.asyncId(), type, this.triggerAsyncId(), this)
    }
  }
  try {
    return await load()
  } finally {
    Object.assign(hooks, { createHook, AsyncResource })
  }
}
