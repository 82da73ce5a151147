// A value that components follow.
import { useEffect, useState } from 'preact/hooks'

export interface Observable<T> {
  get(): T
  set(value: T): void
  follow(listener: (value: T) => void): () => void
}

export function observable<T>(initial: T): Observable<T> {
  let value = initial
  const listeners = new Set<(value: T) => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener(next)
    },
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useObservable<T>(source: Observable<T>): T {
  const [value, setValue] = useState(() => source.get())
  useEffect(() => {
    setValue(() => source.get())
    return source.follow((next) => setValue(() => next))
  }, [source])
  return value
}
