// Releasing when the process is asked to end.

/** Calls back at the first of these signals, then lets it have its usual effect, unless someone else listens, too. */
export function releaseOnSignals(signals: readonly NodeJS.Signals[], release: () => Promise<void>): void {
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const each of signals) process.off(each, onSignal)
    void release().finally(() => {
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
    })
  }
  for (const signal of signals) process.on(signal, onSignal)
}
