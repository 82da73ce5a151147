// What a screen shows is read when it opens, again when what it depends on changes, and when the server has come back.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../wire/client.js'
import { useObservable } from '../wire/observable.js'

export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value: T | undefined; error: unknown; isLoading: boolean }>({
    value: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const current = useObservable(epoch)
  useEffect(() => {
    const abort = new AbortController()
    setState((last) => ({ ...last, isLoading: true }))
    read(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: undefined, isLoading: false })
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((last) => ({ value: last.value, error, isLoading: false }))
      },
    )
    return () => abort.abort()
  }, [...inputs, turn, current])
  const reload = useCallback(() => setTurn((last) => last + 1), [])
  return { ...state, reload }
}

/** Again and again while the screen is open and the tab is seen. */
export function useInterval(work: () => void, everyMs: number | undefined): void {
  const latest = useRef(work)
  latest.current = work
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
