// What scenes share: a store of their own, a place to say what happens, and checks.
import { isDeepStrictEqual } from 'node:util'
import type { Store } from '../../store/store.js'

export interface Scene {
  readonly title: string
  play(stage: Stage): Promise<void>
}

export type Plain = Record<string, unknown>

export class Stage {
  readonly store: Store
  readonly #print: (line: string) => void
  #failed = 0

  constructor(store: Store, print: (line: string) => void) {
    this.store = store
    this.#print = print
  }

  /** Checks that did not hold. */
  get failed(): number {
    return this.#failed
  }

  say(line: string): void {
    this.#print(`   ${line}`)
  }

  /** Says that it is so, or what it is instead. */
  check(claim: string, actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) {
      this.say(`✓ ${claim}`)
      return
    }
    this.#failed++
    this.say(`✗ ${claim}: it is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`)
  }

  async table(TableName: string, index?: string): Promise<void> {
    const attributes = index === undefined ? ['id'] : ['id', index]
    await this.store.call('CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      ...(index !== undefined && {
        GlobalSecondaryIndexes: [
          {
            IndexName: `by-${index}`,
            KeySchema: [{ AttributeName: index, KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    })
  }

  /** Puts items, all in one unit. */
  put(table: string, ...items: readonly Plain[]): Promise<void> {
    return this.store.transactor().transact((tx) => items.forEach((item) => tx.put(table, item)))
  }

  get(table: string, id: string): Promise<Plain | undefined> {
    return this.store.transactor().transact((tx) => tx.get(table, { id }))
  }

  all(table: string): Promise<Plain[]> {
    return this.store.transactor().transact((tx) => tx.scan(table))
  }
}

/** Both are at the same point, once: neither goes on before the other has come there. */
export function meeting(of: number): () => Promise<void> {
  let missing = of
  let open = (): void => undefined
  const met = new Promise<void>((resolve) => (open = resolve))
  return () => {
    if (--missing === 0) open()
    return met
  }
}
