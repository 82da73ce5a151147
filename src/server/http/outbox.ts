// Answers leave together at the end of a turn of the event loop.
//
// A write to a socket wakes whoever waits for it, and a wake-up costs more than a small request. The requests that were
// read in one turn are therefore all worked on first, and then answered one right after another: the client finds several
// answers at once, and is woken once.

/** Has something to send. */
export interface Sender {
  send(): void
}

export class Outbox {
  #due: Sender[] = []
  readonly #flush = (): void => {
    const due = this.#due
    this.#due = []
    for (const sender of due) sender.send()
  }

  /** Lets it send at the end of this turn. */
  add(sender: Sender): void {
    this.#due.push(sender)
    if (this.#due.length === 1) setImmediate(this.#flush)
  }
}
