// A channel between two workers: calls and their answers as bytes, all those of one turn in one message.
//
//   call, call, call --end of the turn--> [ call | call | call ] --send--> receive: begun in their order
//   answers          <---------------- [ answer | answer ] <--end of the turn-- settled meanwhile
//
// A channel loses, repeats and reorders nothing: messages are received in the order in which they were sent, or it ends. When it
// ends every open call fails as one of unknown outcome: what was asked may have been carried out. Knows nothing of sockets.
import { DurabilityUnknown } from '../line/errors.js'
import type { Runtime } from '../runtime/runtime.js'
import { type Introduced, ValueReader, ValueWriter } from './values.js'

export interface ChannelOptions {
  readonly runtime: Pick<Runtime, 'defer'>
  /** Towards the other side: a message behind its length (frames.ts). */
  readonly send: (frame: Buffer) => void
  /** What the other side may call, by its number; a call is begun when its message is read. */
  readonly services: readonly Service[]
}

export type Method = (...args: never[]) => unknown
/** Methods by their numbers. Undefined: there is none of that number here. */
export type Service = readonly (Method | undefined)[]

const KIND = { call: 0, tell: 1, answer: 2, failure: 3 } as const

interface OpenCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Channel {
  readonly #options: ChannelOptions
  readonly #writer = new ValueWriter()
  readonly #introduced: Introduced = []
  readonly #open = new Map<number, OpenCall>()
  #calls = 0
  #isDeferred = false
  #ended: Error | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /** Calls that wait for their answers. */
  get openCalls(): number {
    return this.#open.size
  }

  call(service: number, method: number, args: readonly unknown[]): Promise<unknown> {
    const ended = this.#ended
    if (ended !== undefined) return Promise.reject(ended)
    return new Promise((resolve, reject) => {
      const id = (this.#calls = (this.#calls + 1) >>> 0)
      this.#open.set(id, { resolve, reject })
      try {
        this.#write(KIND.call, id, service, method, args)
      } catch (error) {
        this.#open.delete(id)
        reject(error)
      }
    })
  }

  /** Nothing is answered. */
  tell(service: number, method: number, args: readonly unknown[]): void {
    if (this.#ended === undefined) this.#write(KIND.tell, 0, service, method, args)
  }

  /** A message without its length. */
  receive(message: Buffer): void {
    const reader = new ValueReader(message, this.#introduced)
    while (!reader.in.isAtEnd) this.#read(reader)
  }

  /** The other side is gone, or this one is about to be. */
  end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = new DurabilityUnknown(why)
    for (const { reject } of this.#open.values()) reject(this.#ended)
    this.#open.clear()
  }

  #read(reader: ValueReader): void {
    const kind = reader.in.u8()
    const id = reader.in.u32()
    if (kind === KIND.answer || kind === KIND.failure) {
      const value = reader.value()
      const call = this.#open.get(id)
      this.#open.delete(id)
      if (kind === KIND.answer) call?.resolve(value)
      else call?.reject(value)
      return
    }
    const service = reader.in.u8()
    const number = reader.in.u8()
    const args = reader.value() as never[]
    const result = this.#begin(service, number, args)
    if (kind === KIND.tell) return
    result.then(
      (value) => this.#answer(KIND.answer, id, value),
      (error: unknown) => this.#answer(KIND.failure, id, error),
    )
  }

  #begin(service: number, number: number, args: never[]): Promise<unknown> {
    try {
      const method = this.#options.services[service]?.[number]
      if (method === undefined) throw new TypeError(`there is no method ${number} of service ${service}`)
      return Promise.resolve(method(...args))
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #answer(kind: number, id: number, value: unknown): void {
    if (this.#ended !== undefined) return
    const { out } = this.#writer
    const before = out.at
    try {
      out.u8(kind)
      out.u32(id)
      this.#writer.value(value)
    } catch (error) {
      out.at = before
      this.#writer.forget()
      if (kind === KIND.failure) throw error
      this.#answer(KIND.failure, id, error)
      return
    }
    this.#sendLater()
  }

  #write(kind: number, id: number, service: number, method: number, args: readonly unknown[]): void {
    const { out } = this.#writer
    const before = out.at
    try {
      out.u8(kind)
      out.u32(id)
      out.u8(service)
      out.u8(method)
      this.#writer.value(args)
    } catch (error) {
      out.at = before
      this.#writer.forget()
      throw error
    }
    this.#sendLater()
  }

  #sendLater(): void {
    if (this.#isDeferred) return
    this.#isDeferred = true
    this.#options.runtime.defer(() => {
      this.#isDeferred = false
      if (this.#ended === undefined) this.#options.send(this.#writer.out.takeFrame())
    })
  }
}
