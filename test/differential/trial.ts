// One trial: fresh tables on both peers, then request after request on both.
import { isDeepStrictEqual } from 'node:util'
import type { Difference } from './known-differences.js'
import { outcomeOf } from './outcome.js'
import type { Peer } from './peers.js'
import type { Request } from './requests.js'
import { TABLES, createRequest } from './tables.js'

export interface Peers {
  readonly seriatim: Peer
  readonly local: Peer
}

const POLLS_MAX = 500
const POLL_MS = 5

export async function freshTables(peers: Peers): Promise<void> {
  for (const peer of [peers.seriatim, peers.local]) {
    for (const { name } of TABLES) await drop(peer, name)
    for (const table of TABLES) {
      const made = await peer.send({ operation: 'CreateTable', body: JSON.stringify(createRequest(table)) })
      if (made.status !== 200) throw new Error(`${peer.name} refused ${table.name}: ${JSON.stringify(made)}`)
      await until(peer, table.name, (status) => status === 'ACTIVE')
    }
  }
}

/** Sends the request to both; resolves to what they disagree on. */
export async function tried(peers: Peers, request: Request): Promise<Difference | undefined> {
  const [seriatim, local] = await Promise.all([
    outcomeOf(peers.seriatim, request),
    outcomeOf(peers.local, request),
  ])
  if (request.operation === 'CreateTable') {
    // A name of a wrong type may have been taken for a string.
    if (seriatim.status === 200 || local.status === 200) {
      const { TableName } = JSON.parse(request.body) as { TableName?: unknown }
      for (const peer of [peers.seriatim, peers.local]) await drop(peer, String(TableName))
    }
  }
  if (request.operation === 'UpdateItem' && seriatim.status === 200) await dropCreated(peers, request)
  return isDeepStrictEqual(seriatim, local) ? undefined : { request, seriatim, local }
}

/** An update that only takes away creates an item in DynamoDB Local alone: it goes again, for what follows to be comparable. */
async function dropCreated({ seriatim, local }: Peers, { body }: Request): Promise<void> {
  const { TableName, Key } = JSON.parse(body) as { TableName?: unknown; Key?: unknown }
  const key = JSON.stringify({ TableName, Key, ConsistentRead: true })
  const [ours, theirs] = await Promise.all(
    [seriatim, local].map((peer) => peer.send({ operation: 'GetItem', body: key })),
  )
  const hasItem = (answer: typeof ours): boolean => JSON.stringify(answer?.body).includes('"Item"')
  if (hasItem(theirs) && !hasItem(ours))
    await local.send({ operation: 'DeleteItem', body: JSON.stringify({ TableName, Key }) })
}

async function drop(peer: Peer, table: string): Promise<void> {
  const body = JSON.stringify({ TableName: table })
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { status, body: said } = await peer.send({ operation: 'DeleteTable', body })
    if (status === 400 && JSON.stringify(said).includes('ResourceNotFoundException')) return
    await pause()
  }
  throw new Error(`${peer.name} does not drop ${table}`)
}

async function until(peer: Peer, table: string, done: (status: string) => boolean): Promise<void> {
  const body = JSON.stringify({ TableName: table })
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { body: said } = await peer.send({ operation: 'DescribeTable', body })
    if (done((said as { Table?: { TableStatus?: string } }).Table?.TableStatus ?? '')) return
    await pause()
  }
  throw new Error(`${peer.name} does not finish ${table}`)
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL_MS))
