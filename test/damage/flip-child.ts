// The trials of ./flips.ts, in a process of their own: a line for what verify found, and a line for what was served.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { open, type Store } from '../../src/store/store.js'
import { flippedCopy, type Flip, type Model, type Served } from './flips.js'

const [folder = '', scratch = '', then = 'serve'] = process.argv.slice(2)
const model = JSON.parse(readFileSync(join(scratch, 'model.json'), 'utf8')) as Model
const flips = JSON.parse(readFileSync(join(scratch, 'flips.json'), 'utf8')) as Flip[]
const tell = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`)

for (const flip of flips) {
  const copy = join(scratch, 'copy')
  flippedCopy(folder, copy, flip)
  const { problems } = await verifyDataFolder(copy)
  const found = problems.length > 0
  const detail = problems[0] ?? ''
  tell({ found, detail })
  if (then === 'repair') {
    const { problems: left } = await verifyDataFolder(copy, { repair: true })
    if (left.length > 0) throw new Error(`not sound after its repair: ${left[0]}`)
  }
  if (then === 'serve') flippedCopy(folder, copy, flip)
  tell({ flip, found, detail, ...(await serve(copy)) })
}

async function serve(path: string): Promise<{ served: Served; detail?: string }> {
  let store: Store
  try {
    store = await open({ path, onError: () => undefined })
  } catch {
    return { served: 'refused' }
  }
  const outcome = { errors: 0, wrong: '', first: '' }
  const answer = async (work: () => Promise<string>): Promise<void> => {
    try {
      outcome.wrong ||= await work()
    } catch (error) {
      outcome.errors++
      outcome.first ||= String(error)
    }
  }
  for (const [TableName, items] of Object.entries(model)) {
    for (const [key, text] of Object.entries(items)) {
      await answer(async () => {
        const { Item } = await store.call('GetItem', { TableName, Key: JSON.parse(key) as never })
        return JSON.stringify(Item) === text
          ? ''
          : `GetItem ${TableName} ${key}: ${JSON.stringify(Item)?.slice(0, 200)}`
      })
    }
    const all = Object.values(items)
    for (const IndexName of TableName === 'Orders' ? [undefined, 'ByTown', 'ByLsk'] : [undefined]) {
      await answer(async () => {
        const seen = await pages((start) =>
          store.call('Scan', { TableName, ...(IndexName && { IndexName }), ...start }),
        )
        return same(seen, all) ? '' : `Scan ${TableName} ${IndexName}: ${seen.length} of ${all.length}`
      })
    }
  }
  for (const [attribute, IndexName, values] of [
    ['pk', undefined, Array.from({ length: 20 }, (_, n) => `p${n}`)],
    ['pk', 'ByLsk', ['p0', 'p7', 'p19']],
    ['town', 'ByTown', Array.from({ length: 7 }, (_, n) => `t${n}`)],
  ] as const) {
    for (const value of values) {
      await answer(async () => {
        const seen = await pages((start) =>
          store.call('Query', {
            TableName: 'Orders',
            ...(IndexName && { IndexName }),
            KeyConditionExpression: '#a = :v',
            ExpressionAttributeNames: { '#a': attribute },
            ExpressionAttributeValues: { ':v': { S: value } },
            ...start,
          }),
        )
        const expected = Object.values(model['Orders'] ?? {}).filter((text) =>
          text.includes(`"${attribute}":{"S":"${value}"}`),
        )
        return same(seen, expected) ? '' : `Query ${IndexName} ${value}: ${seen.length} of ${expected.length}`
      })
    }
  }
  await store.close().catch(() => undefined)
  const { wrong, errors } = outcome
  if (wrong !== '') return { served: 'WRONG', detail: wrong }
  return errors > 0 ? { served: 'error', detail: outcome.first } : { served: 'unnoticed' }
}

interface Page {
  readonly Items?: readonly object[] | undefined
  readonly LastEvaluatedKey?: unknown
}

async function pages(ask: (start: object) => Promise<Page>): Promise<string[]> {
  const seen: string[] = []
  let start: object = {}
  for (let page = 0; page < 100; page++) {
    const { Items = [], LastEvaluatedKey } = await ask(start)
    seen.push(...Items.map((item) => JSON.stringify(item)))
    if (LastEvaluatedKey === undefined) return seen
    start = { ExclusiveStartKey: LastEvaluatedKey }
  }
  throw new Error('too many pages')
}

function same(seen: readonly string[], expected: readonly string[]): boolean {
  return seen.length === expected.length && seen.toSorted().join('\n') === expected.toSorted().join('\n')
}
