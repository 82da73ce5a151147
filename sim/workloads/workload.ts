// What the clients of a world do, and what must be true of it afterwards beside what is true of every history.
import type { Anomaly } from '../check/anomaly.js'
import type { SimClient } from '../client.js'
import type { Image } from '../history.js'
import type { WriteDraft } from '../recorder.js'

export interface Judged {
  readonly anomalies: readonly Anomaly[]
  /** Not in the order of real time, which nobody promised. */
  readonly realtime?: readonly Anomaly[]
}

export interface Workload {
  /** Before anything goes wrong. */
  setUp?(client: SimClient): Promise<void>
  /** One request of one client, or a few; returns when it is answered or given up. */
  act(client: SimClient): Promise<void>
  /** `statusOf`: what became of a write in the end. */
  judge(final: ReadonlyMap<string, Image>, statusOf: ReadonlyMap<string, WriteDraft>): Judged
}

export const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)
