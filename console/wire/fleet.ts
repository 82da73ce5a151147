// What the server is: servers of a fleet have no units of work, no streams and no ledger.
import { call, epoch } from './client.js'
import { unitId } from './items.js'

/** Asked once, until the server has come back or another key is in use. */
let known: { readonly epoch: number; readonly isOfFleet: boolean } | undefined

/** Whether it is one of a fleet: it does not know an operation that every other server has. */
export async function isOfFleet(signal: AbortSignal): Promise<boolean> {
  const asked = epoch.get()
  if (known?.epoch !== asked) known = { epoch: asked, isOfFleet: await ask(signal) }
  return known.isOfFleet
}

async function ask(signal: AbortSignal): Promise<boolean> {
  try {
    await call('UnitOutcome', { ClientRequestToken: unitId() }, { signal, isQuiet: true })
    return false
  } catch (error) {
    if (signal.aborted || (error as Error).name === 'NoAnswer') throw error
    return (error as Error).name === 'UnknownOperationException'
  }
}
