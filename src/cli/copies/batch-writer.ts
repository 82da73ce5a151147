// Puts and deletes, 25 at a time and several such batches at once; what an endpoint leaves is sent again, and what it refuses is
// found and counted.
import type { AttributeValue, DynamoDB, KeySchemaElement, WriteRequest } from '@aws-sdk/client-dynamodb'
import { DynamoError } from '../../model/errors.js'
import { parseItem } from '../../model/parse-value.js'
import { attribute, type Item } from '../../model/value.js'
import { fromWire } from '../../store/wire-values.js'
import { isThrottled } from '../../toolkit/endpoint/refusals.js'
import type { SourceRecord } from '../../transfer/transfer.js'

const BATCH_MAX = 25
/** DynamoDB takes 16 MB in one request. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024
const AT_ONCE_MAX = 8
const TRIES_MAX = 12
const PAUSE_MS = 50
const PAUSE_MS_MAX = 5000
const REASONS_MAX = 10

export class BatchWriter {
  readonly #client: DynamoDB
  readonly #table: string
  readonly #keyNames: readonly string[]
  readonly #batch = new Map<string, WriteRequest>()
  #bytes = 0
  readonly #atOnce = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined
  refused = 0
  /** The first of them. */
  readonly reasons: string[] = []

  constructor(
    client: DynamoDB,
    { table, keySchema }: { readonly table: string; readonly keySchema: readonly KeySchemaElement[] },
  ) {
    this.#client = client
    this.#table = table
    this.#keyNames = keySchema.map(({ AttributeName }) => AttributeName!)
  }

  /** Resolves when there is room for more. */
  async add(record: SourceRecord, from: string): Promise<void> {
    if (record.kind === 'error') return this.#refuse(`${from}: ${record.message}`)
    let item: Item
    try {
      item = parseItem(record.kind === 'put' ? record.item : record.key)
    } catch (error) {
      if (error instanceof DynamoError) return this.#refuse(`${from}: ${error.message}`)
      throw error
    }
    const id = JSON.stringify(this.#keyNames.map((name) => attribute(item, name)))
    const wire = fromWire(item) as Record<string, AttributeValue>
    this.#batch.set(
      id,
      record.kind === 'put' ? { PutRequest: { Item: wire } } : { DeleteRequest: { Key: wire } },
    )
    this.#bytes += JSON.stringify(item).length
    if (this.#batch.size >= BATCH_MAX || this.#bytes >= BATCH_BYTES_MAX) await this.#send()
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    await this.#send()
    await Promise.all(this.#atOnce)
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #send(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    const writes = [...this.#batch.values()]
    this.#batch.clear()
    this.#bytes = 0
    if (writes.length === 0) return
    const sent = this.#write(writes)
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => this.#atOnce.delete(sent))
    this.#atOnce.add(sent)
    while (this.#atOnce.size >= AT_ONCE_MAX) await Promise.race(this.#atOnce)
  }

  async #write(writes: WriteRequest[]): Promise<void> {
    let left = writes
    for (let tries = 0; left.length > 0; tries++) {
      if (tries >= TRIES_MAX) throw new Error(`${this.#table} left items unwritten ${TRIES_MAX} times`)
      if (tries > 0) await pause(tries)
      try {
        const { UnprocessedItems } = await this.#client.batchWriteItem({
          RequestItems: { [this.#table]: left },
        })
        left = UnprocessedItems?.[this.#table] ?? []
      } catch (error) {
        const { name, message } = error as Error
        if (isThrottled(error)) continue
        if (name !== 'ValidationException') throw error
        if (left.length === 1) return this.#refuse(message)
        // One of them is refused: which, is found by asking for each.
        for (const write of left) await this.#write([write])
        return
      }
    }
  }

  #refuse(reason: string): void {
    this.refused++
    if (this.reasons.length < REASONS_MAX) this.reasons.push(reason)
  }
}

const pause = (tries: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(PAUSE_MS * 2 ** tries, PAUSE_MS_MAX)))
