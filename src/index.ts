export { open } from './store/store.js'
export type { ForkOptions, OpenOptions, Store, StorePlace, StoreSnapshot } from './store/store.js'
export type {
  LightCallback,
  LightClient,
  LightClientOptions,
  LightCommand,
  LightSendOptions,
  LikeClass,
} from './store/light-client.js'
export type { DocumentOptions } from './store/light-documents.js'
export type { FleetOptions, StoreEngine } from './store/fleet-options.js'
export type { StoreInput, StoreOperation, StoreOutput } from './store/store-operations.js'
export type { HistoryOptions, LedgerDigest, StoreLedger } from './store/store-ledger.js'
export type { LedgerRevision } from './toolkit/values/revision.js'
export { ChangesTrimmed, NoStream } from './changes/errors.js'
export type {
  AnyItem,
  TableChange,
  ChangeIterable,
  ChangesOptions,
  TransactionChanges,
} from './changes/change.js'
export type { Trigger, TriggerOptions } from './changes/trigger/trigger-contract.js'
export type { FilterCriteria } from './changes/trigger/filter-pattern.js'
export type {
  FailureDocument,
  HandlerContext,
  StreamBatchResponse,
  StreamEvent,
  StreamEventRecord,
  StreamEventTypes,
  StreamEventValue,
  StreamHandler,
} from './changes/trigger/stream-event.js'
export { DumpRefused, FolderRefused } from './line/errors.js'
export { DynamoError } from './model/errors.js'
export type { DynamoErrorName } from './model/errors.js'
export { manualClock } from './runtime/manual-clock.js'
export type { ManualClock } from './runtime/manual-clock.js'
export type { Clock } from './runtime/runtime.js'
export type { ListenOptions, RunningServer } from './server/http-server.js'
export type { RequestInfo } from './server/dispatch/dispatch.js'
export type { ServerLimits } from './server/http/limits.js'
export type { TlsOptions } from './server/connection/tls-listener.js'
export type { Fault } from './server/faults/faults.js'
export type { FaultPlan } from './server/faults/fault-plan.js'
export { loadAuthFile } from './server/access/auth.js'
export type { Auth } from './server/access/auth.js'
export { ledgerAt } from './mirror/ledger-at.js'
export type { LedgerWatch, RemoteLedger, RemoteLedgerOptions } from './mirror/ledger-at.js'
export { LedgerRewritten } from './mirror/ledger-rewritten.js'
export type { ExportedLedger, ExportOptions } from './mirror/export-options.js'
