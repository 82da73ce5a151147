// Rows of one height, of which only those in sight exist. Where there are more than a browser can scroll over, the scroll bar
// covers them at a scale.
//
// What is in sight is kept in pixels of the rows, not of the scroll bar: when rows are added behind the last one, the scale changes,
// and the same rows stay in sight. Otherwise a view at the end would always be at the end, and would read on without a person.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Browsers end at about 16 to 33 million pixels. */
const HEIGHT_MAX = 8_000_000
const BEYOND = 6

export interface VirtualRowsProps {
  readonly count: number
  readonly rowHeight: number
  readonly render: (at: number) => ComponentChildren
  readonly header?: ComponentChildren
  readonly onRange?: (first: number, last: number) => void
  readonly label: string
  readonly class?: string
  readonly columns?: number
  /** The row that the keyboard is at; another object is a key that was pressed, and brings it into sight. */
  readonly active?: { readonly at: number }
  readonly activeId?: string
  readonly onKeyDown?: (event: KeyboardEvent, page: number) => void
  readonly isMulti?: boolean
}

export function VirtualRows(props: VirtualRowsProps) {
  const { count, rowHeight, onRange, active } = props
  const ref = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const full = count * rowHeight
  const height = Math.min(full, HEIGHT_MAX)
  const scale = full > height ? (full - view.height) / Math.max(1, height - view.height) : 1
  const top = Math.max(0, Math.min(view.top, full - view.height))
  const barTop = top / scale
  const first = Math.max(0, Math.floor(top / rowHeight) - BEYOND)
  const last = Math.min(count - 1, Math.ceil((top + view.height) / rowHeight) + BEYOND)
  const latest = useRef({ top, scale, barTop })
  latest.current = { top, scale, barTop }

  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return undefined
    const measure = (): void =>
      setView((old) => ({
        ...old,
        height: Math.max(100, element.clientHeight - (head.current?.offsetHeight ?? 0)),
      }))
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    const element = ref.current
    if (element !== null && isElsewhere(element.scrollTop, barTop)) element.scrollTop = barTop
  }, [barTop, height])
  // There are fewer rows now: those that come later must not bring back a place that is gone.
  if (view.top > top) setView((old) => ({ ...old, top }))
  useEffect(() => onRange?.(first, last), [first, last, count])
  useEffect(() => {
    if (active === undefined) return
    const to = active.at * rowHeight
    const from = to - view.height + rowHeight
    if (latest.current.top < from) setView((old) => ({ ...old, top: from }))
    else if (latest.current.top > to) setView((old) => ({ ...old, top: to }))
  }, [active])

  const rows: ComponentChildren[] = []
  for (let at = first; at <= last; at++) rows.push(props.render(at))
  const offset = first * rowHeight - top + barTop
  return (
    <div
      ref={ref}
      class={`virtual ${props.class ?? ''}`}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={props.columns}
      aria-multiselectable={props.isMulti}
      aria-activedescendant={props.activeId}
      onScroll={(event) => {
        const { scrollTop } = event.currentTarget
        // The browser tells of what was set here, too, and rounds it: at a scale that would be another row.
        if (isElsewhere(scrollTop, latest.current.barTop))
          setView((old) => ({ ...old, top: scrollTop * latest.current.scale }))
      }}
      onKeyDown={(event) => props.onKeyDown?.(event, Math.max(1, Math.floor(view.height / rowHeight) - 1))}
    >
      <div ref={head} class="virtual-head" role="rowgroup">
        {props.header}
      </div>
      <div class="virtual-space" role="rowgroup" style={{ height: `${height}px` }}>
        <div class="virtual-window" role="presentation" style={{ transform: `translateY(${offset}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  )
}

const isElsewhere = (scrollTop: number, barTop: number): boolean => Math.abs(scrollTop - barTop) >= 1
