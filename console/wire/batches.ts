// The same done to many keys: some at once, until all are done, a person stops it, or too much fails.
import type { Item } from '../values/attribute.js'
import { call, type Json, NoAnswer } from './client.js'

const BATCH = 25
const AT_ONCE = 8
const TRIES_MAX = 20
const PAUSE_MS = 50
/** After so many there is one reason for all, such as a key that may not write. */
const FAILURES_MAX = 100

export interface Failure {
  readonly key: Item
  readonly error: unknown
}

export interface BulkResult {
  readonly done: number
  readonly failed: readonly Failure[]
  /** Nothing was asked of the server for these. */
  readonly left: readonly Item[]
}

export interface BulkOptions {
  readonly onProgress: (done: number) => void
  /** Ends it after the requests that are under way: what became of those is known. */
  readonly signal: AbortSignal
}

type Work = (keys: readonly Item[], isFirst: boolean) => Promise<unknown>

async function inParts(
  keys: readonly Item[],
  size: number,
  width: number,
  work: Work,
  { onProgress, signal }: BulkOptions,
): Promise<BulkResult> {
  let done = 0
  let at = 0
  const failed: Failure[] = []
  const one = async (part: readonly Item[], isFirst: boolean): Promise<void> => {
    try {
      await work(part, isFirst)
      done += part.length
    } catch (error) {
      failed.push(...part.map((key) => ({ key, error })))
    }
  }
  const goesOn = (): boolean =>
    !signal.aborted && failed.length < FAILURES_MAX && !failed.some(({ error }) => error instanceof NoAnswer)
  while (at < keys.length && goesOn()) {
    const round: Promise<void>[] = []
    for (let each = 0; each < width && at < keys.length; each++, at += size)
      round.push(one(keys.slice(at, at + size), at === 0))
    await Promise.all(round)
    onProgress(done + failed.length)
  }
  return { done, failed, left: keys.slice(at) }
}

export const editMany = (table: string, keys: readonly Item[], edit: Json, options: BulkOptions) =>
  inParts(
    keys,
    1,
    AT_ONCE,
    ([key], isFirst) => call('UpdateItem', { TableName: table, Key: key, ...edit }, { isQuiet: !isFirst }),
    options,
  )

export const deleteMany = (table: string, keys: readonly Item[], options: BulkOptions) =>
  inParts(
    keys,
    BATCH,
    1,
    (part, isFirst) =>
      writeBatch(
        table,
        part.map((Key) => ({ DeleteRequest: { Key } })),
        { isQuiet: !isFirst },
      ),
    options,
  )

/** Writes in batches. No two requests may be for the same key. */
export async function batchWrite(
  table: string,
  requests: readonly Json[],
  { onProgress, signal }: BulkOptions,
): Promise<void> {
  for (let at = 0; at < requests.length; at += BATCH) {
    await writeBatch(table, requests.slice(at, at + BATCH), { isQuiet: at > 0, signal })
    onProgress(Math.min(requests.length, at + BATCH))
  }
}

/** What the server hands back is sent again. */
async function writeBatch(
  table: string,
  requests: readonly Json[],
  { isQuiet, signal }: { readonly isQuiet: boolean; readonly signal?: AbortSignal },
): Promise<void> {
  let left = requests
  for (let tries = 0; left.length > 0; tries++) {
    if (tries >= TRIES_MAX)
      throw new Error(
        `${left.length} writes were handed back ${TRIES_MAX} times: another transaction holds their items`,
      )
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
    const { UnprocessedItems } = await call<{
      readonly UnprocessedItems?: Readonly<Record<string, readonly Json[]>>
    }>(
      'BatchWriteItem',
      { RequestItems: { [table]: left } },
      { isQuiet: isQuiet || tries > 0, ...(signal && { signal }) },
    )
    left = UnprocessedItems?.[table] ?? []
  }
}
