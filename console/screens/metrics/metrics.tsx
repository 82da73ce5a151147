// The server's own counters, as charts over the last hour.
import { Problem } from '../../parts/basics.js'
import { bytesText, msText } from '../../parts/format.js'
import { useInterval, useLoad } from '../../parts/load.js'
import { Chart } from './chart.js'
import { gauges, type History, quantiles, rates } from './series.js'

const REFRESH_MS = 5000

async function readHistory(signal: AbortSignal): Promise<History> {
  const response = await fetch('/metrics/history', { signal, cache: 'no-store' })
  if (!response.ok) throw new Error(`The server answers ${response.status} for its metrics`)
  return (await response.json()) as History
}

const perSecond = (value: number): string =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 0 : 1)}/s`
const bytesPerSecond = (value: number): string => `${bytesText(value)}/s`

export function MetricsScreen() {
  const { value, error, reload, poll } = useLoad(readHistory, [])
  useInterval(poll, REFRESH_MS)
  const samples = value?.Samples ?? []
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Metrics</h1>
        <span class="muted">
          The last hour, every ten seconds. All counters: <a href="/metrics">/metrics</a> for Prometheus.
        </span>
      </div>
      <Problem error={error} onRetry={reload} />
      {value && (
        <div class="charts">
          <Chart
            title="Requests"
            names={['answered', 'refused']}
            colours={['--c1', '--c2']}
            series={rates(samples, ['Ok', 'Errors'])}
            format={perSecond}
          />
          <Chart
            title="Latency"
            names={['p50', 'p99']}
            colours={['--c1', '--c3']}
            series={quantiles(samples, value.BucketsSeconds, [0.5, 0.99])}
            format={msText}
          />
          <Chart
            title="Conflicts"
            names={['conflicts', 'to be retried', 'conditions failed']}
            colours={['--c2', '--c5', '--c4']}
            series={rates(samples, ['Conflicts', 'Retriable', 'ConditionsFailed'])}
            format={perSecond}
          />
          <Chart
            title="Journal"
            names={['written']}
            colours={['--c4']}
            series={rates(samples, ['WrittenBytes'])}
            format={bytesPerSecond}
          />
          <Chart
            title="Memory"
            names={['resident', 'heap']}
            colours={['--c3', '--c1']}
            series={gauges(samples, ['ResidentBytes', 'HeapBytes'])}
            format={bytesText}
          />
          <Chart
            title="Bodies"
            names={['received', 'sent']}
            colours={['--c4', '--c5']}
            series={rates(samples, ['ReceivedBytes', 'SentBytes'])}
            format={bytesPerSecond}
          />
          <Chart
            title="Open"
            names={['requests', 'connections']}
            colours={['--c2', '--c1']}
            series={gauges(samples, ['InFlight', 'Connections'])}
            format={(count) => count.toFixed(0)}
          />
        </div>
      )}
    </div>
  )
}
