// What `open({ engine, fleet })` takes. Apart from the code that uses it, so that the declarations of the package do not reach that.

/** An engine that keeps the data of many servers: what `cassandra()` of `seriatim/engine/cassandra` gives. */
export interface StoreEngine {
  /** What it is and where, for messages. */
  readonly name: string
  /** Ends its connections. The store that was opened on it does that when it is closed. */
  close(): Promise<void>
}

/** How servers on one engine follow each other. All of them need the same. */
export interface FleetOptions {
  /** How long a server may use its tables after it has read what they are, in milliseconds; 10,000 by default. */
  readonly leaseMs?: number
  /** How long after that a step that was on its way may still arrive; 20,000 by default. */
  readonly lateMs?: number
  /** How often a server looks whether another has changed a table; 2,000 by default. */
  readonly refreshMs?: number
  /** Told of every call of the engine: for metrics. */
  readonly counted?: (what: 'cas' | 'refused' | 'unknown' | 'unresolved') => void
}
