// The playground: clients side by side, whose steps are run in any order, at any level of isolation, on this store.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge, Notice, Problem, Select } from '../../parts/basics.js'
import { useLoad } from '../../parts/load.js'
import { go } from '../../parts/route.js'
import type { Item } from '../../values/attribute.js'
import { call } from '../../wire/client.js'
import { isOfFleet } from '../../wire/fleet.js'
import { describeTable } from '../../wire/tables.js'
import { type Row, SCENES, type Scene, stepText } from './scenes.js'
import { serialOrder, type Witnessed } from './serial-order.js'
import { ClientRun, rowOf, type StepResult } from './client-run.js'
import { ConditionPort, WAYS } from './condition-port.js'
import { LEVELS, UnitPort } from './unit-port.js'

const TIMEOUT_MS = 30_000
const ACTIVE_TRIES_MAX = 100

/** A table of its own, which is deleted when the scene is left. */
async function openTable(scene: Scene): Promise<string> {
  const name = `playground-${Math.floor(Math.random() * 1e9).toString(36)}`
  await call('CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'email', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-email',
        KeySchema: [{ AttributeName: 'email', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  for (let tries = 0; tries < ACTIVE_TRIES_MAX; tries++) {
    if ((await describeTable(name, { isQuiet: true })).TableStatus === 'ACTIVE') break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  for (const row of scene.rows) {
    const entries = Object.entries(row).map(([attribute, value]) => [
      attribute,
      typeof value === 'number' ? { N: String(value) } : { S: value },
    ])
    await call('PutItem', { TableName: name, Item: Object.fromEntries(entries) }, { isQuiet: true })
  }
  return name
}

interface Verdict {
  readonly order: readonly Witnessed[] | undefined
  readonly final: readonly Row[]
  readonly committed: number
}

interface Run {
  readonly table: string
  readonly units: readonly ClientRun[]
}

export function PlaygroundScreen({ path }: { readonly path: readonly string[] }) {
  const scene = SCENES.find(({ id }) => id === path[1]) ?? SCENES[0]!
  const [levels, setLevels] = useState<readonly string[]>([])
  const [run, setRun] = useState<Run | undefined>(undefined)
  const [log, setLog] = useState<readonly number[]>([])
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setBusy] = useState(false)
  const [, redraw] = useState(0)
  const table = useRef<string | undefined>(undefined)
  const fleet = useLoad(isOfFleet, [])
  const hasUnits = fleet.value !== true
  const options = (hasUnits ? LEVELS : WAYS).map((level) => [level, level] as const)
  const levelOf = (at: number): string => levels[at] ?? (hasUnits ? 'serializable' : WAYS[0])

  const drop = (): void => {
    const name = table.current
    table.current = undefined
    if (name !== undefined) call('DeleteTable', { TableName: name }, { isQuiet: true }).catch(() => undefined)
  }
  const forget = (): void => {
    setRun(undefined)
    setVerdict(undefined)
    setLog([])
  }
  useEffect(() => {
    forget()
    return drop
  }, [scene])
  /** What was played was played at other levels. */
  const changeLevels = (next: readonly string[]): void => {
    setLevels(next)
    forget()
    drop()
  }

  const begin = async (): Promise<Run> => {
    drop()
    setVerdict(undefined)
    setLog([])
    const name = await openTable(scene)
    table.current = name
    const opened = {
      table: name,
      units: scene.clients.map((client, at) => {
        const level = levelOf(at)
        const port = hasUnits
          ? new UnitPort(name, level, client.timeoutMs ?? TIMEOUT_MS)
          : new ConditionPort(name, level)
        return new ClientRun(client, level, port)
      }),
    }
    setRun(opened)
    return opened
  }
  const judge = async ({ table: name, units }: Run): Promise<void> => {
    const { Items } = await call<{ readonly Items: readonly Item[] }>(
      'Scan',
      { TableName: name, ConsistentRead: true },
      { isQuiet: true },
    )
    const final = Items.map(rowOf)
    const committed = units.flatMap((unit, at) =>
      unit.state === 'committed' ? [{ client: unit.client, at, seen: unit.seen }] : [],
    )
    setVerdict({ order: serialOrder(scene.rows, committed, final), final, committed: committed.length })
  }
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    if (isBusy || fleet.value === undefined) return
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const step = async (current: Run, at: number): Promise<void> => {
    await current.units[at]!.run()
    setLog((last) => [...last, at])
    redraw((last) => last + 1)
    if (current.units.every(({ next }) => next === undefined)) await judge(current)
  }
  const stepOf = (at: number): Promise<void> => guarded(async () => step(run ?? (await begin()), at))
  const playAll = (): Promise<void> =>
    guarded(async () => {
      const current = await begin()
      for (const at of scene.order) if (current.units[at]!.next !== undefined) await step(current, at)
    })

  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Playground</h1>
        <Select
          aria-label="Scene"
          value={scene.id}
          options={SCENES.map(({ id, title }) => [id, title] as const)}
          onValue={(id) => go('playground', id)}
        />
      </div>
      <p class="lead">{scene.story}</p>
      {!hasUnits && (
        <Notice kind="warn">
          This server is one of a fleet: it has no units of work of its own, and so no levels of isolation to
          choose from. The toolkit runs units from the client there, at read-committed and serializable. Here
          the scenes are played with what the server has: consistent reads, and one TransactWriteItems for
          each client, with or without conditions on what it read. Such conditions refuse a lost update, but
          cannot see an item that was not there: phantoms stay possible. Nothing times a client out.
        </Notice>
      )}
      <Problem error={fleet.error} onRetry={fleet.reload} />
      <div class="toolbar">
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy || fleet.value === undefined}
          onClick={() => void playAll()}
        >
          Play the order in which it can go wrong
        </button>
        <button
          type="button"
          aria-disabled={isBusy}
          onClick={() => void guarded(async () => void (await begin()))}
        >
          Start over
        </button>
        <label class="inline-field">
          {hasUnits ? 'All at' : 'All with'}
          <Select
            value={levelOf(0)}
            options={options}
            aria-label="Level of all clients"
            onValue={(level) => changeLevels(scene.clients.map(() => level))}
          />
        </label>
      </div>
      <Problem error={error} />
      <div class="columns" data-clients={scene.clients.length}>
        {scene.clients.map((client, at) => (
          <Column
            key={`${scene.id}${at}`}
            name={client.name}
            steps={client.steps.map(stepText)}
            results={run?.units[at]?.results ?? []}
            state={run?.units[at]?.state ?? 'open'}
            level={run?.units[at]?.level ?? levelOf(at)}
            options={options}
            order={log.flatMap((each, turn) => (each === at ? [turn + 1] : []))}
            isBusy={isBusy || fleet.value === undefined}
            onLevel={(level) =>
              changeLevels(scene.clients.map((_, each) => (each === at ? level : levelOf(each))))
            }
            onStep={() => void stepOf(at)}
          />
        ))}
      </div>
      {verdict && (
        <VerdictView scene={scene} verdict={verdict} units={run?.units ?? []} hasUnits={hasUnits} />
      )}
    </div>
  )
}

interface ColumnProps {
  readonly name: string
  readonly steps: readonly string[]
  readonly results: readonly StepResult[]
  readonly state: ClientRun['state']
  readonly level: string
  readonly options: readonly (readonly [string, string])[]
  /** When each of its steps was taken. */
  readonly order: readonly number[]
  readonly isBusy: boolean
  readonly onLevel: (level: string) => void
  readonly onStep: () => void
}

const STATES = {
  open: ['plain', 'open'],
  committed: ['good', 'committed'],
  refused: ['bad', 'refused'],
  'gave-up': ['warn', 'gave up'],
} as const

function Column({
  name,
  steps,
  results,
  state,
  level,
  options,
  order,
  isBusy,
  onLevel,
  onStep,
}: ColumnProps) {
  const isOver = state !== 'open' || results.length >= steps.length
  return (
    <section class="column card" aria-label={name}>
      <div class="row-line">
        <h2>{name}</h2>
        <Badge kind={STATES[state][0]}>{STATES[state][1]}</Badge>
        <span class="grow" />
        <Select
          class="small"
          aria-label={`Level of ${name}`}
          value={level}
          options={options}
          onValue={onLevel}
        />
      </div>
      <ol class="steps">
        {steps.map((text, at) => {
          const result = results[at]
          return (
            <li
              key={at}
              class={
                result === undefined ? (at === results.length && !isOver ? 'next' : 'later') : result.kind
              }
            >
              <span class="turn" aria-hidden={order[at] === undefined}>
                {order[at] ?? ''}
              </span>
              <span class="step-text">{text}</span>
              {result && <ResultView result={result} />}
            </li>
          )
        })}
      </ol>
      <button type="button" aria-disabled={isBusy || isOver} onClick={isOver ? undefined : onStep}>
        {isOver ? 'Over' : `Next: ${steps[results.length]}`}
      </button>
    </section>
  )
}

function ResultView({ result }: { readonly result: StepResult }) {
  return (
    <div class={`result ${result.kind}`}>
      {result.text}
      {result.rows?.map((row, at) => (
        <code key={at} class="seen">
          {Object.entries(row)
            .map(([name, value]) => `${name}: ${value}`)
            .join(', ')}
        </code>
      ))}
    </div>
  )
}

function VerdictView({
  scene,
  verdict,
  units,
  hasUnits,
}: {
  readonly scene: Scene
  readonly verdict: Verdict
  readonly units: readonly ClientRun[]
  readonly hasUnits: boolean
}) {
  const refused = units.filter(({ state }) => state === 'refused')
  return (
    <section
      class="verdict card"
      aria-labelledby="verdict"
      role="status"
      data-verdict={verdict.order === undefined ? 'anomaly' : 'serial'}
    >
      <h2 id="verdict">
        {verdict.order === undefined
          ? `No serial order explains this: ${scene.anomaly}`
          : 'A serial order explains this'}
      </h2>
      {verdict.order === undefined ? (
        <p>
          Each of the {verdict.committed} clients that committed was run alone, in every order, on what the
          table held at first. In none of the orders does each see what it saw, and the table end as it did.{' '}
          {hasUnits && 'A higher level refuses one of them.'}
        </p>
      ) : (
        <p>
          {verdict.order.length === 0 ? (
            'No client committed anything.'
          ) : (
            <>
              As if they had run one after another:{' '}
              <strong>{verdict.order.map(({ client }) => client.name).join(', then ')}</strong>. Run alone in
              this order, each sees what it saw, and the table ends as it did.
            </>
          )}
          {refused.length > 0 &&
            ` Refused: ${refused.map(({ client }) => client.name).join(', ')}. Run again, it would see what the others wrote.`}
        </p>
      )}
      <p class="muted">The table in the end:</p>
      <div class="row-line">
        {verdict.final.map((row) => (
          <code key={String(row['id'])} class="seen">
            {Object.entries(row)
              .map(([name, value]) => `${name}: ${value}`)
              .join(', ')}
          </code>
        ))}
      </div>
    </section>
  )
}
