// A channel between two workers: calls and their answers as bytes, all those of one turn in one message.
//
//   call, call, call --end of the turn--> [ call | call | call ] --send--> receive: begun in their order
//   answers          <---------------- [ answer | answer ] <--end of the turn-- settled meanwhile
//
// A channel loses, repeats and reorders nothing: messages are received in the order in which they were sent, or it ends. When it
// ends every open call fails as one of unknown outcome: what was asked may have been carried out. Knows nothing of sockets.
import { DurabilityUnknown } from '../line/errors.js'
import type { Runtime } from '../runtime/runtime.js'
import { ANY_CALL, type CallForm } from './forms.js'
import { type Introduced, ValueReader, ValueWriter } from './values.js'

export interface ChannelOptions {
  readonly runtime: Pick<Runtime, 'defer'>
  /** Towards the other side: a message behind its length (frames.ts). */
  readonly send: (frame: Buffer) => void
  /** What the other side may call, by its number; a call is begun when its message is read. */
  readonly services: readonly Service[]
  /** Whether so much is on its way to the other side that nothing more is begun before `proceed` is called. */
  readonly isFull?: () => boolean
}

export type Method = (...args: never[]) => unknown
/** Methods by their numbers. Undefined: there is none of that number here. */
export type Service = readonly (Method | Formed | undefined)[]
/** A method whose callers use the same form. */
export interface Formed {
  readonly run: Method
  readonly form: CallForm
}

const KIND = { call: 0, tell: 1, answer: 2, failure: 3 } as const

/** A message of so many bytes is sent at once. Longer ones would need buffers that the C library asks the system for each time. */
const MESSAGE_BYTES = 48 * 1024

/** Reads that are begun at once: each may answer with a MB, and all of them come in one short message. */
const LARGE_CALLS_MAX = 64

interface OpenCall {
  readonly form: CallForm
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Channel {
  readonly #options: ChannelOptions
  readonly #writer = new ValueWriter()
  readonly #introduced: Introduced = []
  readonly #open = new Map<number, OpenCall>()
  /** What was received and is not read yet. */
  #backlog: ValueReader[] = []
  /** Calls that may have a large answer, and have none yet. */
  #largeCalls = 0
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

  call(
    service: number,
    method: number,
    args: readonly unknown[],
    form: CallForm = ANY_CALL,
  ): Promise<unknown> {
    const ended = this.#ended
    if (ended !== undefined) return Promise.reject(ended)
    return new Promise((resolve, reject) => {
      const id = (this.#calls = (this.#calls + 1) >>> 0)
      this.#open.set(id, { form, resolve, reject })
      try {
        this.#write(KIND.call, id, service, method, args, form)
      } catch (error) {
        this.#open.delete(id)
        reject(error)
      }
    })
  }

  /** Nothing is answered. */
  tell(service: number, method: number, args: readonly unknown[]): void {
    if (this.#ended === undefined) this.#write(KIND.tell, 0, service, method, args, ANY_CALL)
  }

  /** A message without its length. */
  receive(message: Buffer): void {
    this.#backlog.push(new ValueReader(message, this.#introduced))
    if (this.#backlog.length === 1) this.proceed()
  }

  /** There may be room again. */
  proceed(): void {
    for (let reader = this.#backlog[0]; reader !== undefined; reader = this.#backlog[0]) {
      while (this.#ended === undefined && !reader.in.isAtEnd) {
        if (this.#largeCalls >= LARGE_CALLS_MAX || this.#options.isFull?.() === true) return
        this.#read(reader)
      }
      this.#backlog.shift()
    }
  }

  /** A message has been sent, and its bytes are nobody's: the next one may stand there. */
  reuse(frame: Buffer): void {
    this.#writer.out.reuse(frame)
  }

  /** The other side is gone, or this one is about to be. */
  end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = new DurabilityUnknown(why)
    for (const { reject } of this.#open.values()) reject(this.#ended)
    this.#open.clear()
    this.#backlog = []
  }

  #read(reader: ValueReader): void {
    const kind = reader.in.u8()
    const id = reader.in.u32()
    if (kind === KIND.answer || kind === KIND.failure) {
      const call = this.#open.get(id)
      if (call === undefined) throw new RangeError(`call ${id} has been answered already`)
      this.#open.delete(id)
      if (kind === KIND.answer) call.resolve(call.form.readAnswer(reader))
      else call.reject(reader.value())
      return
    }
    const service = reader.in.u8()
    const number = reader.in.u8()
    const method = this.#options.services[service]?.[number]
    // Without its form what follows could not be told apart.
    if (method === undefined) throw new TypeError(`there is no method ${number} of service ${service}`)
    const { run, form } = typeof method === 'function' ? { run: method, form: ANY_CALL } : method
    const args = form.readArgs(reader)
    const result = begin(run, args as never[])
    if (kind === KIND.tell) return
    const isLarge = form.answersMuch === true
    if (isLarge) this.#largeCalls++
    const over = (): void => {
      // In another turn: what was answered now is sent first.
      if (isLarge && this.#largeCalls-- === LARGE_CALLS_MAX) this.#options.runtime.defer(() => this.proceed())
    }
    result.then(
      (value) => {
        this.#answer(id, value, form, args)
        over()
      },
      (error: unknown) => {
        this.#fail(id, error)
        over()
      },
    )
  }

  #answer(id: number, value: unknown, form: CallForm, args: readonly unknown[]): void {
    if (this.#ended !== undefined) return
    const { out } = this.#writer
    const before = out.at
    try {
      out.u8(KIND.answer)
      out.u32(id)
      form.writeAnswer(this.#writer, value, args)
    } catch (error) {
      out.at = before
      this.#writer.forget()
      this.#fail(id, error)
      return
    }
    this.#sendLater()
  }

  #fail(id: number, error: unknown): void {
    if (this.#ended !== undefined) return
    const { out } = this.#writer
    out.u8(KIND.failure)
    out.u32(id)
    this.#writer.value(error instanceof Error ? error : new Error(String(error)))
    this.#sendLater()
  }

  #write(
    kind: number,
    id: number,
    service: number,
    method: number,
    args: readonly unknown[],
    form: CallForm,
  ): void {
    const { out } = this.#writer
    const before = out.at
    try {
      out.u8(kind)
      out.u32(id)
      out.u8(service)
      out.u8(method)
      form.writeArgs(this.#writer, args)
    } catch (error) {
      out.at = before
      this.#writer.forget()
      throw error
    }
    this.#sendLater()
  }

  #sendLater(): void {
    if (this.#writer.out.at >= MESSAGE_BYTES) return this.#send()
    if (this.#isDeferred) return
    this.#isDeferred = true
    this.#options.runtime.defer(() => {
      this.#isDeferred = false
      this.#send()
    })
  }

  #send(): void {
    if (this.#ended === undefined && !this.#writer.out.isEmpty)
      this.#options.send(this.#writer.out.takeFrame())
  }
}

function begin(method: Method, args: never[]): Promise<unknown> {
  try {
    return Promise.resolve(method(...args))
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)))
  }
}
