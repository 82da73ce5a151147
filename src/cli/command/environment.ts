// What a command touches outside itself, so that a test can hand in its own.
import type { Credentials } from './ask-endpoint.js'
import type { TransactionList } from '../../router/transactions/transaction-list.js'
import type { CassandraOptions } from '../../engine/cassandra/options.js'
import type { ListenOptions, RunningServer } from '../../server/http-server.js'
import type { WorkerHub } from '../../store/worker-hub.js'

/** The part of an opened store that the command line needs. */
export interface ServedStore {
  listen(options: ListenOptions): Promise<RunningServer>
  close(): Promise<void>
}

/** Which of the workers of a server a process is. */
export interface WorkerPlace {
  /** From 2 on. */
  readonly number: number
  readonly workers: number
}

/** Where the store is, and of how many nodes it is made. */
export type StoreLocation = (
  | { readonly path: string; readonly memory?: never; readonly engine?: never }
  | { readonly memory: true; readonly path?: never; readonly engine?: never }
  | { readonly engine: CassandraOptions; readonly path?: never; readonly memory?: never }
) & {
  readonly nodes?: number
  readonly rules?: 'all' | 'none'
  readonly shardMinutes?: number
  readonly memoryMb?: number
  readonly creatingMs?: number
  readonly statementScans?: 'allowed' | 'refused'
  readonly buckets?: string
}

/** What was found in a folder of data. */
export interface FolderReport {
  /** Sentences, one for each thing that is wrong; empty if the folder is sound. */
  readonly problems: readonly string[]
  /** What was wrong before a repair, and what it did. */
  readonly repaired?: readonly string[]
  /** A sentence that says what was looked at. */
  readonly summary: string
}

export interface VerifyDataOptions {
  /** Mend what can be mended, then look again. */
  readonly repair?: boolean
  /** With `repair`: leave out what cannot be mended. */
  readonly dropDamaged?: boolean
  /** The folder of buckets that the server is started with: backups are kept there. */
  readonly buckets?: string
  readonly onProgress?: (sentence: string) => void
}

export interface CommandEnvironment {
  print(line: string): void
  printError(line: string): void
  /** Calls back at every SIGINT and SIGTERM; the result ends that. */
  onSignal(callback: (signal: NodeJS.Signals) => void): () => void
  /** Calls back at every SIGHUP; the result ends that. */
  onHangup(callback: () => void): () => void
  exitNow(code: number): void
  openStore(options: StoreLocation, hub?: WorkerHub): Promise<ServedStore>
  /** Set in a process that was started as a worker beside the first. */
  readonly worker?: WorkerPlace
  verifyFolder(path: string, options?: VerifyDataOptions): Promise<FolderReport>
  listTransactions(place: TransactionPlace, limit: number): Promise<TransactionList>
}

/** A folder that no server is using, or a running server. */
export type TransactionPlace = { readonly path: string } | { readonly endpoint: string }

/** As the AWS command line and SDKs find them in the environment. */
export function credentials(): Credentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined
}
