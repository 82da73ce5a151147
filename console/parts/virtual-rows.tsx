// Rows of one height, of which only those in sight exist. Where there are more than a browser can scroll over, the scroll bar
// covers them at a scale.
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
  /** The row that the keyboard is at. */
  readonly active?: number
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
  const room = Math.max(1, height - view.height)
  const scale = full > height ? (full - view.height) / room : 1
  const virtualTop = view.top * scale
  const first = Math.max(0, Math.floor(virtualTop / rowHeight) - BEYOND)
  const last = Math.min(count - 1, Math.ceil((virtualTop + view.height) / rowHeight) + BEYOND)

  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return undefined
    const measure = (): void =>
      setView({
        top: element.scrollTop,
        height: Math.max(100, element.clientHeight - (head.current?.offsetHeight ?? 0)),
      })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [])
  useEffect(() => onRange?.(first, last), [first, last, count])
  useEffect(() => {
    const element = ref.current
    if (active === undefined || element === null) return
    const top = (active * rowHeight) / scale
    const seen = { from: element.scrollTop, to: element.scrollTop + view.height - rowHeight }
    if (top < seen.from) element.scrollTop = top
    else if (top > seen.to) element.scrollTop = top - view.height + rowHeight
  }, [active])

  const rows: ComponentChildren[] = []
  for (let at = first; at <= last; at++) rows.push(props.render(at))
  const offset = first * rowHeight - virtualTop + view.top
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
        setView((old) => ({ ...old, top: scrollTop }))
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
