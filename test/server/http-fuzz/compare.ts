// Sends the same bytes to our server and to node:http, and tells where they understood different things.
import { randomFrom } from '../../differential/random.js'
import { randomStream, type ByteStream } from './byte-streams.js'
import { agree, startNodeHttp, startOurs, understanding, type Peer, type Understanding } from './peers.js'

export interface Disagreement {
  readonly seed: number
  readonly stream: ByteStream
  readonly ours: readonly Understanding[]
  readonly nodeHttp: readonly Understanding[]
}

/** When an answer is written and when the next bytes arrive is a race on both sides; each may show all its outcomes. */
const TRIES = 4

export interface Comparison {
  /** Streams in which the first looks were enough. */
  readonly streams: number
  /** Requests that came as far as the router. */
  readonly asked: number
  readonly disagreements: readonly Disagreement[]
}

/** Compares streams of `seed`, `seed + 1` and so on, until `enough` says so of their number. */
export async function compareStreams(
  seed: number,
  enough: (streams: number) => boolean,
): Promise<Comparison> {
  const ours = await startOurs()
  const nodeHttp = await startNodeHttp()
  const disagreements: Disagreement[] = []
  let streams = 0
  let asked = 0
  try {
    for (; !enough(streams); streams++) {
      const stream = randomStream(randomFrom(seed + streams))
      const seen = await compared(ours, nodeHttp, stream)
      asked += seen.ours[0]!.asked.length
      if (!seen.agreed) disagreements.push({ seed: seed + streams, stream, ...seen })
    }
  } finally {
    await Promise.all([ours.stop(), nodeHttp.stop()])
  }
  return { streams, asked, disagreements }
}

async function compared(oursPeer: Peer, nodePeer: Peer, stream: ByteStream) {
  const ours: Understanding[] = []
  const nodeHttp: Understanding[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    ours.push(await understanding(oursPeer, stream))
    nodeHttp.push(await understanding(nodePeer, stream))
    if (ours.some((one) => nodeHttp.some((other) => agree(one, other))))
      return { agreed: true, ours, nodeHttp }
  }
  return { agreed: false, ours, nodeHttp }
}

export function told({ seed, stream, ours, nodeHttp }: Disagreement): string {
  const bytes = JSON.stringify(stream.bytes.toString('latin1').slice(0, 3000))
  return `seed ${seed}\n  bytes ${bytes}\n  cut at ${stream.cuts.slice(0, 20).join(' ')}\n  ours ${JSON.stringify(ours.at(-1), undefined, 2)}\n  node:http ${JSON.stringify(nodeHttp.at(-1), undefined, 2)}`
}
