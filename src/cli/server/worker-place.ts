// Which of the workers of a server a process is: the first one starts the others, and tells them so in their environment.
import type { WorkerPlace } from '../command/environment.js'
import { serverLimits, type ServerLimits } from '../../server/http/limits.js'

/** The number of the pipe among the descriptors of a worker. */
export const PIPE = 3
export const READY = 'ready'
const VARIABLE = 'SERIATIM_WORKER'

export const workerVariable = ({ number, workers }: WorkerPlace): Record<string, string> => ({
  [VARIABLE]: `${number}/${workers}`,
})

export function workerPlace(environment: NodeJS.ProcessEnv): { readonly worker?: WorkerPlace } {
  const [number, workers] = (environment[VARIABLE] ?? '').split('/').map(Number)
  return number !== undefined && workers !== undefined && number > 1 ? { worker: { number, workers } } : {}
}

/** Beside one other the first worker serves connections, too; beside more it has enough to do with the nodes, and is full first. */
const ALL_SERVE_MAX = 2

/** How many of them serve connections. */
export const servingWorkers = (workers: number): number => (workers > ALL_SERVE_MAX ? workers - 1 : workers)

/** Of unread answers several workers keep less than one: each has besides what it has not collected yet. */
const ANSWERS_PART = 5 / 6

/** Its part of what the whole server may take. */
export function limitsOfWorker(workers: number): Partial<ServerLimits> {
  const part = (name: keyof ServerLimits): number => Math.ceil(serverLimits[name] / servingWorkers(workers))
  return {
    connectionsMax: part('connectionsMax'),
    requestsInFlightMax: part('requestsInFlightMax'),
    bodyBytesInFlightMax: Math.max(part('bodyBytesInFlightMax'), serverLimits.requestBytesMax),
    inflatedBytesMax: Math.max(part('inflatedBytesMax'), serverLimits.requestBytesMax),
    answerBytesUnsentMax: Math.max(
      Math.ceil(ANSWERS_PART * part('answerBytesUnsentMax')),
      serverLimits.answerBytesMax,
    ),
  }
}
