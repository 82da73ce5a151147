// Draws charts as SVG, by ECharts, which needs no browser for it. It is looked for like the peers are: a package that
// serves a store should not carry a charting library.
import type { Chart, Series } from './charts.js'

interface ChartLibrary {
  init(
    element: null,
    theme: null,
    options: {
      readonly renderer: 'svg'
      readonly ssr: true
      readonly width: number
      readonly height: number
    },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void }
}

export const CHART_LIBRARY_MISSING = 'charts need echarts: npm install --no-save echarts'

/** Undefined if it is not installed. */
export async function chartLibrary(): Promise<ChartLibrary | undefined> {
  const name: string = 'echarts'
  try {
    return (await import(name)) as ChartLibrary
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const WIDTH = 860
const HEIGHT = 460
/** More names than these stand aslant. */
const NAMES_FLAT_MAX = 5
const COLOURS = [
  '#1f5fa8',
  '#c2571a',
  '#2e8b57',
  '#8a3ffc',
  '#b8860b',
  '#c2185b',
  '#455a64',
  '#00838f',
  '#6d4c41',
]

export function chartSvg(library: ChartLibrary, chart: Chart): string {
  const drawing = library.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  try {
    drawing.setOption(optionOf(chart))
    return still(drawing.renderToSVGString())
  } finally {
    drawing.dispose()
  }
}

/** Without what is there for a pointer, and is numbered through the process: a picture is the same each time. */
const still = (svg: string): string =>
  svg.replaceAll(/ (class|ecmeta_\w+|pointer-events)="[^"]*"/g, '').replace(/<style[\s\S]*<\/style>\n?/, '')

function optionOf({ title, x, y, series }: Chart): object {
  const pairs = colours(series)
  const names = [...new Set(series.flatMap(({ points }) => points.map(([name]) => name)))]
  return {
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: 'sans-serif' },
    title: { text: title, left: 'center', top: 8, textStyle: { fontSize: 15 } },
    legend: { bottom: 6, width: WIDTH - 60, itemWidth: 26, itemGap: 18, textStyle: { fontSize: 10 } },
    grid: { left: 70, right: 30, top: 50, bottom: 60 + 22 * Math.ceil(series.length / 3) },
    xAxis: {
      type: x.kind === 'names' ? 'category' : x.kind === 'log' ? 'log' : 'value',
      name: x.name,
      nameLocation: 'middle',
      nameGap: 28,
      ...(x.kind === 'names' && {
        data: names,
        axisLabel: { interval: 0, fontSize: 10, rotate: names.length > NAMES_FLAT_MAX ? 25 : 0 },
      }),
    },
    yAxis: { type: y.kind === 'log' ? 'log' : 'value', name: y.name },
    series: series.map((each, at) =>
      x.kind === 'names'
        ? { type: 'bar', name: each.name, data: each.points, itemStyle: bar(each, pairs[at]!) }
        : {
            type: 'line',
            name: each.name,
            data: each.points,
            symbolSize: 6,
            itemStyle: { color: pairs[at] },
            lineStyle: { color: pairs[at], width: 2, type: each.dashed === true ? 'dashed' : 'solid' },
          },
    ),
  }
}

const bar = ({ dashed }: Series, color: string): object =>
  dashed === true ? { color, opacity: 0.45 } : { color }

function colours(series: readonly Series[]): readonly string[] {
  const groups = [...new Set(series.map(({ belongsTo }) => belongsTo))]
  return series.map(({ belongsTo }) => COLOURS[groups.indexOf(belongsTo) % COLOURS.length]!)
}
