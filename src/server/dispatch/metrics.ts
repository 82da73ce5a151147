// Counters and histograms as Prometheus reads them. The hot path is a few additions; text is made only when asked for.

/** Upper bounds in seconds of the latency buckets; one more bucket takes the rest. */
export const BUCKETS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** Requests of one operation, by result, with their latency from the complete body to the answer. */
export class OperationMetrics {
  readonly operation: string
  okCount = 0
  readonly countByError = new Map<string, number>()
  readonly buckets = new Float64Array(BUCKETS_SECONDS.length + 1)
  secondsSum = 0

  constructor(operation: string) {
    this.operation = operation
  }

  /** @param error the name of the exception answered; undefined for success. */
  record(durationMs: number, error: string | undefined): void {
    if (error === undefined) this.okCount++
    else this.countByError.set(error, (this.countByError.get(error) ?? 0) + 1)
    const seconds = durationMs / 1000
    this.secondsSum += seconds
    let bucket = 0
    while (bucket < BUCKETS_SECONDS.length && seconds > BUCKETS_SECONDS[bucket]!) bucket++
    this.buckets[bucket]!++
  }
}

/** One row of the history: all counters of one moment. */
export interface MetricsSample {
  /** Milliseconds since the epoch. */
  readonly Time: number
  readonly Ok: number
  readonly Errors: number
  /** Requests that another transaction or unit was in the way of. */
  readonly Conflicts: number
  /** Refusals after which clients try again. */
  readonly Retriable: number
  readonly ConditionsFailed: number
  /** Of all operations together; one more than there are bounds. */
  readonly Buckets: readonly number[]
  readonly InFlight: number
  readonly Connections: number
  readonly ReceivedBytes: number
  readonly SentBytes: number
  readonly ResidentBytes: number
  readonly HeapBytes: number
  /** By this process: the journal and the log of commits. Another process writes the index. */
  readonly WrittenBytes: number
}

const CONFLICTS = new Set([
  'TransactionCanceledException',
  'TransactionConflictException',
  'UnitConflictException',
])
const RETRIABLE = new Set([
  'ThrottlingException',
  'TransactionInProgressException',
  'TransactionConflictException',
  'UnitConflictException',
  'InternalServerError',
])
/** What the system counts writes in. */
const BLOCK_BYTES = 512

/** What a worker has counted, as plain data. */
export interface ServerCounts {
  readonly single: Readonly<Record<SingleCount, number>>
  readonly operations: readonly OperationCounts[]
}

interface OperationCounts {
  readonly operation: string
  readonly okCount: number
  readonly countByError: ReadonlyMap<string, number>
  readonly buckets: readonly number[]
  readonly secondsSum: number
}

const SINGLE = {
  inFlight: ['seriatim_requests_in_flight', 'gauge', 'Requests being answered.'],
  connections: ['seriatim_connections', 'gauge', 'Open connections.'],
  connectionsTotal: ['seriatim_connections_total', 'counter', 'Connections accepted.'],
  connectionsRefusedTotal: [
    'seriatim_connections_refused_total',
    'counter',
    'Connections closed because too many were open.',
  ],
  malformedTotal: [
    'seriatim_malformed_requests_total',
    'counter',
    'Requests that were not HTTP, or too slow.',
  ],
  requestBodyBytesTotal: ['seriatim_request_body_bytes_total', 'counter', 'Bytes of request bodies.'],
  responseBodyBytesTotal: ['seriatim_response_body_bytes_total', 'counter', 'Bytes of response bodies.'],
  unsentBytes: ['seriatim_answer_bytes_unsent', 'gauge', 'Bytes of answers that clients have not taken yet.'],
  residentBytes: ['process_resident_memory_bytes', 'gauge', 'Resident memory.'],
  heapBytes: ['nodejs_heap_size_used_bytes', 'gauge', 'Heap in use.'],
  externalBytes: ['nodejs_external_memory_bytes', 'gauge', 'Memory outside the heap.'],
} as const satisfies Record<string, readonly [name: string, type: 'counter' | 'gauge', help: string]>

type SingleCount = keyof typeof SINGLE

/** Everything one server counts. The label sets are closed: names of operations and of exceptions, never user data. */
export class Metrics {
  inFlight = 0
  connections = 0
  connectionsTotal = 0
  connectionsRefusedTotal = 0
  malformedTotal = 0
  requestBodyBytesTotal = 0
  responseBodyBytesTotal = 0
  readonly #unsentBytes: () => number
  readonly #byOperation = new Map<string, OperationMetrics>()

  constructor(unsentBytes: () => number = () => 0) {
    this.#unsentBytes = unsentBytes
  }

  operation(name: string): OperationMetrics {
    let found = this.#byOperation.get(name)
    if (found === undefined) this.#byOperation.set(name, (found = new OperationMetrics(name)))
    return found
  }

  sample(): MetricsSample {
    let [ok, errors, conflicts, retriable, conditions] = [0, 0, 0, 0, 0]
    const buckets = Array.from({ length: BUCKETS_SECONDS.length + 1 }, () => 0)
    for (const operation of this.#byOperation.values()) {
      if (!isUsed(operation) || !isAsked(operation)) continue
      ok += operation.okCount
      for (const [error, count] of operation.countByError) {
        errors += count
        if (CONFLICTS.has(error)) conflicts += count
        if (RETRIABLE.has(error)) retriable += count
        if (error === 'ConditionalCheckFailedException') conditions += count
      }
      for (let at = 0; at < buckets.length; at++) buckets[at]! += operation.buckets[at]!
    }
    const memory = process.memoryUsage()
    return {
      Time: Date.now(),
      Ok: ok,
      Errors: errors,
      Conflicts: conflicts,
      Retriable: retriable,
      ConditionsFailed: conditions,
      Buckets: buckets,
      InFlight: this.inFlight,
      Connections: this.connections,
      ReceivedBytes: this.requestBodyBytesTotal,
      SentBytes: this.responseBodyBytesTotal,
      ResidentBytes: memory.rss,
      HeapBytes: memory.heapUsed,
      WrittenBytes: process.resourceUsage().fsWrite * BLOCK_BYTES,
    }
  }

  counts(): ServerCounts {
    const { inFlight, connections, connectionsTotal, connectionsRefusedTotal, malformedTotal } = this
    const { requestBodyBytesTotal, responseBodyBytesTotal } = this
    const memory = process.memoryUsage()
    return {
      single: {
        inFlight,
        connections,
        connectionsTotal,
        connectionsRefusedTotal,
        malformedTotal,
        requestBodyBytesTotal,
        responseBodyBytesTotal,
        unsentBytes: this.#unsentBytes(),
        residentBytes: memory.rss,
        heapBytes: memory.heapUsed,
        externalBytes: memory.external,
      },
      operations: [...this.#byOperation.values()]
        .filter(isUsed)
        .map(({ operation, okCount, countByError, buckets, secondsSum }) => ({
          operation,
          okCount,
          countByError,
          buckets: [...buckets],
          secondsSum,
        })),
    }
  }

  /** The exposition text, version 0.0.4, of this worker and of the others. */
  render(others: readonly ServerCounts[] = []): string {
    const all = [this.counts(), ...others]
    const lines: string[] = []
    renderOperations(summed(all.flatMap(({ operations }) => operations)), lines)
    const line = (name: string, type: string, help: string, value: number): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`)
    }
    for (const [count, [name, type, help]] of Object.entries(SINGLE)) {
      line(
        name,
        type,
        help,
        all.reduce((sum, { single }) => sum + single[count as SingleCount], 0),
      )
    }
    line('process_uptime_seconds', 'gauge', 'Seconds since the start.', process.uptime())
    return lines.join('\n') + '\n'
  }
}

function summed(parts: readonly OperationCounts[]): readonly OperationCounts[] {
  const sums = new Map<string, OperationCounts>()
  for (const part of parts) {
    const sum = sums.get(part.operation)
    sums.set(part.operation, sum === undefined ? part : plus(sum, part))
  }
  return [...sums.values()]
}

function plus(one: OperationCounts, other: OperationCounts): OperationCounts {
  const countByError = new Map(one.countByError)
  for (const [error, count] of other.countByError)
    countByError.set(error, (countByError.get(error) ?? 0) + count)
  return {
    operation: one.operation,
    okCount: one.okCount + other.okCount,
    countByError,
    buckets: one.buckets.map((count, bucket) => count + (other.buckets[bucket] ?? 0)),
    secondsSum: one.secondsSum + other.secondsSum,
  }
}

function renderOperations(used: readonly OperationCounts[], lines: string[]): void {
  const requests = 'seriatim_requests_total'
  lines.push(`# HELP ${requests} Requests answered, by operation and result.`, `# TYPE ${requests} counter`)
  for (const { operation, okCount, countByError } of used) {
    const label = `${requests}{operation="${operation}",result=`
    if (okCount > 0) lines.push(`${label}"ok"} ${okCount}`)
    for (const [error, count] of countByError) lines.push(`${label}"${error}"} ${count}`)
  }
  const duration = 'seriatim_request_duration_seconds'
  lines.push(`# HELP ${duration} From the complete request to its answer.`, `# TYPE ${duration} histogram`)
  for (const { operation, buckets, secondsSum } of used) {
    let cumulative = 0
    for (let index = 0; index < buckets.length; index++) {
      cumulative += buckets[index]!
      const bound = BUCKETS_SECONDS[index] ?? '+Inf'
      lines.push(`${duration}_bucket{operation="${operation}",le="${bound}"} ${cumulative}`)
    }
    lines.push(`${duration}_sum{operation="${operation}"} ${secondsSum}`)
    lines.push(`${duration}_count{operation="${operation}"} ${cumulative}`)
  }
}

function isUsed(metrics: OperationMetrics): boolean {
  return metrics.okCount > 0 || metrics.countByError.size > 0
}

/** Those that name no operation are pages and probes; WaitForItem takes as long as its client likes. */
const isAsked = ({ operation }: OperationMetrics): boolean =>
  operation !== 'none' && operation !== 'WaitForItem'
