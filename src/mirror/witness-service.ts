// A witness as a service: answers of judge() (witness.ts), with the last checkpoint of each ledger in a file of its own. One request
// of a ledger at a time, and its file is durable before its answer: two answers never contradict each other, after a crash either.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { realFiles } from '../runtime/real-files.js'
import { readIfThere, writeWhole } from '../runtime/small-files.js'
import { parseCheckpoint, type TreeHead } from '../verify/checkpoint.js'
import { type Ed25519, parseVerifierKey, type Verifier } from '../verify/note.js'
import { judge, originOf, parseWitnessRequest, type WitnessRequest } from './witness.js'
import type { Cosigner } from './witness-key.js'

export interface WitnessOptions {
  /** Where the checkpoints are kept. */
  readonly folder: string
  readonly cosigner: Cosigner
  /** Public keys of the ledgers that it cosigns. */
  readonly logs: readonly string[]
  readonly nowMs: () => number
  readonly ed25519?: Ed25519
}

export interface WitnessAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'

export class WitnessService {
  readonly #options: WitnessOptions
  readonly #logs = new Map<string, Verifier[]>()
  readonly #lanes = new Map<string, Promise<unknown>>()

  constructor(options: WitnessOptions) {
    this.#options = options
    for (const key of options.logs) {
      const log = parseVerifierKey(key)
      this.#logs.set(log.name, [...(this.#logs.get(log.name) ?? []), log])
    }
  }

  /** POST add-checkpoint. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    const request = parseWitnessRequest(body)
    const origin = request && originOf(request)
    if (request === undefined || origin === undefined)
      return { status: 400, type: TEXT, body: 'not a request of add-checkpoint\n' }
    const lane = this.#lanes.get(origin) ?? Promise.resolve()
    const answer = lane.then(() => this.#answer(origin, request))
    // A lane for each ledger that is known; the others only get their refusal.
    if (this.#logs.has(origin))
      this.#lanes.set(
        origin,
        answer.catch(() => undefined),
      )
    return answer
  }

  /** GET <SHA-256 of the origin>/checkpoint: the last one that was cosigned. */
  async checkpoint(originHash: string): Promise<WitnessAnswer> {
    const origin = [...this.#logs.keys()].find((name) => hashOf(name) === originHash)
    const note = origin && (await readIfThere(this.#file(origin)))
    return note === undefined
      ? { status: 404, type: TEXT, body: 'no checkpoint of this ledger was cosigned\n' }
      : { status: 200, type: TEXT, body: note }
  }

  async #answer(origin: string, request: WitnessRequest): Promise<WitnessAnswer> {
    const { ed25519, cosigner, nowMs, folder } = this.#options
    const verdict = await judge(request, this.#logs.get(origin) ?? [], await this.#last(origin), ed25519)
    switch (verdict.verdict) {
      case 'refused':
        return { status: verdict.status, type: TEXT, body: `${verdict.reason}\n` }
      case 'conflict':
        return { status: 409, type: 'text/x.tlog.size', body: `${verdict.size}\n` }
      case 'cosign': {
        const { text } = parseCheckpoint(request.checkpoint).parsed
        const line = cosigner.cosign(text, Math.floor(nowMs() / 1000))
        await writeWhole(this.#file(origin), verdict.note + line)
        await realFiles().syncFolder(folder)
        return { status: 200, type: TEXT, body: line }
      }
    }
  }

  async #last(origin: string): Promise<TreeHead | undefined> {
    const note = await readIfThere(this.#file(origin))
    return note === undefined ? undefined : parseCheckpoint(note)
  }

  #file(origin: string): string {
    return join(this.#options.folder, `${hashOf(origin)}.checkpoint`)
  }
}

const hashOf = (origin: string): string => createHash('sha256').update(origin).digest('hex')
