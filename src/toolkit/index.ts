// The toolkit: for clients of any DynamoDB endpoint, Amazon's included.
export { LockLost, LockTimeout } from './errors.js'
export type { Endpoint } from './endpoint.js'
export type { LockPlace, LockReport } from './locks/administration.js'
export type { LockEvent } from './locks/events.js'
export { fenced, fencedUnit, stillHeld, stillHeldUnit, type FencedExpressions } from './locks/fence.js'
export type { Lock, LockRow } from './locks/lock.js'
export { locks, type AcquireOptions, type Locks, type LocksOptions } from './locks/locks.js'
