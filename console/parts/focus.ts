// Where the keyboard goes on after something was added or taken away: a button that is gone would lose the focus.
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The focus goes, once it is there, to the first element of the place that the selector finds. */
export function useFocus<T extends HTMLElement>(): readonly [
  RefObject<T | null>,
  (selector: string) => void,
] {
  const place = useRef<T>(null)
  const wanted = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const element = place.current?.querySelector<HTMLElement>(wanted.current)
    wanted.current = undefined
    element?.focus()
  })
  return [
    place,
    (selector) => {
      wanted.current = selector
    },
  ]
}
