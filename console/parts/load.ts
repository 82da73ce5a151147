// What a screen shows is read when it opens, again when what it depends on changes, and when the server has come back.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../wire/client.js'
import { useObservable } from '../wire/observable.js'

interface State<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
}

export interface Loaded<T> extends State<T> {
  readonly reload: () => void
  /** The same, unless a read is under way: one that takes longer than from one look to the next would never end. */
  readonly poll: () => void
}

export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<State<T>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const current = useObservable(epoch)
  const isReading = useRef(false)
  useEffect(() => {
    const abort = new AbortController()
    isReading.current = true
    setState((last) => ({ ...last, isLoading: true }))
    const end = (next: (last: State<T>) => State<T>): void => {
      if (abort.signal.aborted) return
      isReading.current = false
      setState(next)
    }
    read(abort.signal).then(
      (value) => end(() => ({ value, error: undefined, isLoading: false })),
      (error: unknown) => end(({ value }) => ({ value, error, isLoading: false })),
    )
    return () => abort.abort()
  }, [...inputs, turn, current])
  const reload = useCallback(() => setTurn((last) => last + 1), [])
  const poll = useCallback(() => {
    if (!isReading.current) reload()
  }, [])
  return { ...state, reload, poll }
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
