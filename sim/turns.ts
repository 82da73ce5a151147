// Turns of the event loop, for the simulator: between two steps every promise that can settle has settled.

/** How many steps are queued at once, so that the loop itself is not what costs. */
const STEPS_QUEUED = 256

/** Calls `step` again and again, each time in a turn of its own, until it returns false or throws. */
export function inTurns(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let over = false
    const turn = (): void => {
      if (over) return
      try {
        if (step()) return
        over = true
        resolve()
      } catch (error) {
        over = true
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
    const queue = (): void => {
      if (over) return
      for (let count = 0; count < STEPS_QUEUED; count++) setImmediate(turn)
      setImmediate(queue)
    }
    queue()
  })
}
