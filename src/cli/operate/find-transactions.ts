// Where `seriatim transactions` finds them: a running server, or a folder that nobody uses.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { access } from 'node:fs/promises'
import { storedShapes } from '../../router/tables/catalog/stored-catalog.js'
import { type TransactionList, transactionList } from '../../router/transactions/transaction-list.js'
import { realRuntime } from '../../runtime/real-runtime.js'
import { openLocalNodes } from '../../storage/folder/open-local-node.js'
import { askEndpoint, type Credentials } from '../command/ask-endpoint.js'

/** The nodes are opened without a coordinator and without recovery, so nothing is finished. */
export async function transactionsIn(path: string, limit: number): Promise<TransactionList> {
  await access(path).catch(() => {
    throw new Error(`there is no folder ${path}`)
  })
  const runtime = realRuntime()
  const nodes = await openLocalNodes({ runtime, path })
  try {
    const [home] = nodes
    const shapes = home === undefined ? [] : await storedShapes(home)
    return await transactionList({ nodes, shapes, ended: [], nowMicros: runtime.clock.nowMicros() }, limit)
  } finally {
    await Promise.all(nodes.map((node) => node.close()))
  }
}

export const transactionsOf = async (
  endpoint: string,
  limit: number,
  credentials: Credentials | undefined,
): Promise<TransactionList> =>
  (await askEndpoint({
    endpoint,
    target: `${EXTENSION_PREFIX}ListTransactions`,
    input: { Limit: limit },
    credentials,
  })) as TransactionList
