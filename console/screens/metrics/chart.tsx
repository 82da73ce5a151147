// One chart. For those who do not see it, its last values are said in words.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../../parts/theme.js'
import { useObservable } from '../../wire/observable.js'
import type { Series } from './series.js'

export interface ChartProps {
  readonly title: string
  readonly names: readonly string[]
  readonly colours: readonly string[]
  readonly series: Series
  readonly format: (value: number) => string
}

const HEIGHT = 170

export function Chart({ title, names, colours, series, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const shade = useObservable(theme)
  const [turn, setTurn] = useState(0)
  const data = [series.times, ...series.values] as unknown as uPlot.AlignedData
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const style = getComputedStyle(document.documentElement)
    // A canvas knows no custom properties.
    const colour = (name: string): string => {
      const probe = document.createElement('span')
      probe.style.color = `var(${name})`
      element.append(probe)
      const found = getComputedStyle(probe).color
      probe.remove()
      return found
    }
    const axis = {
      stroke: colour('--muted'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: `11px ${style.getPropertyValue('--sans')}`,
    }
    const made = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: true, drag: { x: false, y: false } },
        scales: { y: { range: (_, __, high) => [0, Math.max(high * 1.1, 1e-6)] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(clockText) },
          { ...axis, size: 62, values: (_, ticks) => ticks.map(format) },
        ],
        series: [
          {},
          ...names.map((label, at) => ({
            label,
            stroke: colour(colours[at] ?? '--c1'),
            width: 2,
            spanGaps: false,
            points: { show: series.times.length < 20 },
          })),
        ],
      },
      data,
      element,
    )
    chart.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    )
    observer.observe(element)
    // Drawn anew in the other colours.
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const recolour = (): void => setTurn((last) => last + 1)
    dark.addEventListener('change', recolour)
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', recolour)
      made.destroy()
    }
  }, [shade, turn, names.join()])
  useEffect(() => chart.current?.setData(data), [series])
  const last = names.map((name, at) => {
    const value = series.values[at]?.findLast((each) => each !== null)
    return [name, value === undefined || value === null ? '–' : format(value)] as const
  })
  return (
    <figure class="chart card">
      <figcaption>
        <strong>{title}</strong>
        {last.map(([name, value], at) => (
          <span key={name} class="chart-value">
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" style={{ fill: `var(${colours[at]})` }} />
            </svg>{' '}
            {name} {value}
          </span>
        ))}
      </figcaption>
      <div
        ref={place}
        class="chart-place"
        role="img"
        aria-label={`${title}: ${last.map(([name, value]) => `${name} ${value}`).join(', ')}`}
      />
    </figure>
  )
}

const clockText = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour12: false })
