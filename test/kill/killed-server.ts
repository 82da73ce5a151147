// A server that is killed and started again with its folder, and what the kill loops ask it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { MAIN } from '../support/spawned-server.js'

const SETTLE_MS_MAX = 5000

export interface KilledServer {
  readonly url: string
  readonly child: ChildProcess
}

export async function start(
  path: string,
  nodes: number,
  extra: readonly string[] = [],
): Promise<KilledServer> {
  const args = [MAIN, 'start', '--path', path, '--nodes', String(nodes), '--port', '0', ...extra]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^seriatim listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { url, child }
  }
  throw new Error('the server did not start')
}

export async function killNow(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Kills one of the other workers of a server, which ends with it by itself; resolves to its exit code. */
export async function killWorker(child: ChildProcess, which: number): Promise<number | null> {
  const exited = once(child, 'exit') as Promise<[number | null]>
  const workers = workersOf(child.pid as number)
  process.kill(workers[which % workers.length] as number, 'SIGKILL')
  const [code] = await exited
  return code
}

/** The processes of the other workers. */
export function workersOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  return children.filter((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').includes('start'),
  )
}

/** Waits until recovery has ended what the kill left pending. */
export async function settled(url: string, problems: string[]): Promise<void> {
  const deadline = performance.now() + SETTLE_MS_MAX
  for (;;) {
    const answer = (await call(url, 'ListTransactions', {}, 'Seriatim_20261101')) as {
      readonly InFlight: readonly unknown[]
    }
    const left = answer.InFlight.length
    if (left === 0) return
    if (performance.now() > deadline) {
      problems.push(`${left} transactions are left pending: ${JSON.stringify(answer).slice(0, 500)}`)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export type Attributes = Readonly<Record<string, { readonly S?: string; readonly N?: string } | undefined>>

export async function scan(url: string, TableName: string): Promise<readonly Attributes[]> {
  const items: Attributes[] = []
  let ExclusiveStartKey: unknown
  do {
    const page = (await call(url, 'Scan', {
      TableName,
      ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
    })) as {
      readonly Items: readonly Attributes[]
      readonly LastEvaluatedKey?: unknown
    }
    items.push(...page.Items)
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return items
}

export async function call(
  url: string,
  operation: string,
  input: object,
  prefix = 'DynamoDB_20120810',
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${prefix}.${operation}` },
    body: JSON.stringify(input),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${operation}: ${text}`)
  return JSON.parse(text)
}
