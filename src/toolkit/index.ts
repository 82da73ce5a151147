export { transactor } from './open-transactor.js'
export type {
  AnyTables,
  CommitProtocol,
  Condition,
  IsolationLevel,
  Outcome,
  OutcomeInfo,
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
} from './transactor.js'
export {
  ConditionFailed,
  Conflict,
  LockLost,
  LockTimeout,
  OutcomeUnknown,
  SnapshotTooOld,
  UnitAborted,
  UnitExpired,
} from './errors.js'
export type { ConflictDetail } from './errors.js'
export { marshall, marshallItem, NumberValue, unmarshall, unmarshallItem } from './values.js'
export { ownAttributes, settled, unlocked, unversioned } from './intents/plain.js'
