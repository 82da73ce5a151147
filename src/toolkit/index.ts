// The toolkit: for clients of any DynamoDB endpoint, Amazon's included.
export { transactor } from './open-transactor.js'
export type {
  AnyTables,
  CommitProtocol,
  Condition,
  GuardUse,
  IsolationLevel,
  Outcome,
  OutcomeInfo,
  PatienceOptions,
  QueryInput,
  RetryOptions,
  Rows,
  ScanInput,
  SweepReport,
  TableMap,
  TableTypes,
  TransactOptions,
  Transactor,
  TransactorOptions,
  UnitHandle,
  UnitOfWork,
  Update,
} from './unit/transactor.js'
export {
  ConditionFailed,
  Conflict,
  LockLost,
  LockTimeout,
  OutcomeUnknown,
  SnapshotTooOld,
  UnitAborted,
  UnitExpired,
  UnitNotFound,
  WriteLost,
} from './endpoint/errors.js'
export type { ConflictDetail } from './endpoint/errors.js'
export { isRetriable } from './endpoint/refusals.js'
export { marshall, marshallItem, NumberValue, unmarshall, unmarshallItem } from './values/values.js'
export type { AttributeValue, Item } from '../model/value.js'
export type { Runtime } from '../runtime/runtime.js'
export type { CallOptions, Endpoint } from './endpoint/endpoint.js'
export type { EndpointInput, EndpointOperation, EndpointOutput } from './endpoint/operations.js'
export type { LockPlace, LockReport } from './locks/administration.js'
export type { LockEvent } from './locks/events.js'
export {
  fenced,
  fencedPut,
  fencedPutUnit,
  fencedUnit,
  fencedUpdate,
  fencedUpdateUnit,
  stillHeld,
  stillHeldUnit,
  type FencedExpressions,
  type FencedPutInput,
  type FencedUnitOptions,
  type FencedUpdateInput,
} from './locks/fence.js'
export type { Lock, LockRow, LockRowKey } from './locks/lock.js'
export type { LockAttributes } from './locks/own-attributes.js'
export { locks, type AcquireOptions, type Locks, type LocksOptions } from './locks/locks.js'
export { ownAttributes, settled, unlocked, unversioned } from './intents/protocol/plain-clients.js'
