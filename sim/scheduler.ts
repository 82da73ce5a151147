// Virtual time: the next event is always the one that is due first, and time stands still while it happens.
//
// The trace hash runs over every event and everything noted in it: two runs of one seed have the same hash, or something
// other than the seed had a say.
import { inTurns } from './turns.js'

interface Event {
  readonly at: number
  readonly sequence: number
  readonly label: string
  action: (() => void) | undefined
}

export class Scheduler {
  readonly #heap: Event[] = []
  readonly #labels = new Map<string, number>()
  #sequence = 0
  #hash = 0x811c9dc5
  #hash2 = 0x1b873593
  #nowMicros = 0
  #events = 0

  /** Microseconds since the world began. */
  get nowMicros(): number {
    return this.#nowMicros
  }

  get events(): number {
    return this.#events
  }

  get traceHash(): string {
    return [this.#hash, this.#hash2].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }

  /** Takes something that happened into the hash. */
  note(label: string, detail = 0): void {
    let code = this.#labels.get(label)
    if (code === undefined) {
      code = 0
      for (let at = 0; at < label.length; at++) code = (Math.imul(code, 31) + label.charCodeAt(at)) | 0
      this.#labels.set(label, code)
    }
    this.#mix(code)
    this.#mix(detail | 0)
  }

  /** Calls back after that long; the result cancels it. */
  after(delayMicros: number, label: string, action: () => void): () => void {
    const event: Event = {
      at: this.#nowMicros + Math.max(0, Math.round(delayMicros)),
      sequence: this.#sequence++,
      label,
      action,
    }
    this.#push(event)
    return () => {
      event.action = undefined
    }
  }

  /** Lets events happen, one after another with everything that follows from each, until `done` or none is left. */
  run(done: () => boolean): Promise<void> {
    return inTurns(() => {
      if (done()) return false
      for (;;) {
        const event = this.#pop()
        if (event === undefined) return false
        if (event.action === undefined) continue
        this.#nowMicros = event.at
        this.#events++
        this.note(event.label, event.at)
        event.action()
        return true
      }
    })
  }

  #mix(word: number): void {
    this.#hash = Math.imul(this.#hash ^ word, 0x01000193)
    this.#hash2 = Math.imul((this.#hash2 << 5) ^ (this.#hash2 >>> 27) ^ word, 0x9e3779b1)
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(event, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = event
  }

  #pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.sequence < b.sequence)
