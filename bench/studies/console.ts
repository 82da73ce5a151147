// The console in a real browser: a long table that is scrolled from end to end, and how soon the first paint is.
//
//   node dist/bench/studies/console.js --part rows --items 1000000
//   node dist/bench/studies/console.js --part paint --rounds 9
//
// Wants Chromium in /usr/bin/chromium, or CHROMIUM.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import { open } from '../../src/store/store.js'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'rows,paint' },
    items: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '9' },
  },
})
const ITEMS = Number(values.items)
const ROUNDS = Number(values.rounds)
const BATCH = 25
const PLACES = 60
const DRAG_STEPS = 120
const PATIENCE_MS = 60_000

async function inBrowser<T>(work: (context: BrowserContext) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'seriatim-browser-'))
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    headless: true,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
    viewport: { width: 1200, height: 800 },
  })
  try {
    return await work(context)
  } finally {
    await context.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
const ms = (numbers: readonly number[]): string =>
  `median ${median(numbers).toFixed(0)} ms, most ${Math.max(...numbers).toFixed(0)} ms`
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** Resolves once the expression is true in the page. */
async function until(page: Page, expression: string): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  while ((await page.evaluate(expression)) !== true) {
    if (Date.now() > endMs) throw new Error(`it was never so: ${expression}`)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
}

/** What the page keeps: objects of JavaScript, elements, and the memory of its process. */
async function kept(page: CDPSession, browser: CDPSession): Promise<string> {
  await page.send('HeapProfiler.collectGarbage')
  const { metrics } = await page.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((each) => each.name === name)?.value ?? 0
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo')
  const resident = await Promise.all(
    processInfo
      .filter(({ type }) => type === 'renderer')
      .map(async ({ id }) => {
        const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '')
        return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
      }),
  )
  return `heap ${mb(of('JSHeapUsedSize'))}, ${of('Nodes')} nodes, process ${mb(Math.max(...resident))}`
}

async function scrollRows(): Promise<void> {
  await using store = await open({ memory: true, nodes: 1 })
  await store.call('CreateTable', {
    TableName: 'Many',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  for (let at = 0; at < ITEMS; at += BATCH)
    await store.call('BatchWriteItem', {
      RequestItems: {
        Many: Array.from({ length: Math.min(BATCH, ITEMS - at) }, (_, each) => ({
          PutRequest: { Item: { id: { S: `item-${at + each}` }, n: { N: String(at + each) } } },
        })),
      },
    })
  const server = await store.listen({ port: 0 })
  await inBrowser(async (context) => {
    const [page] = context.pages() as [Page]
    const session = await context.newCDPSession(page)
    await session.send('Performance.enable')
    const browser = await context.browser()!.newBrowserCDPSession()
    let requests = 0
    page.on('request', () => requests++)
    await page.goto(`${server.url}/console/#/tables/Many`)
    await page.locator('#row-0').waitFor()
    await page.getByRole('grid').focus()
    const counted = `Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1`
    const rows = async (): Promise<number> => Number(await page.evaluate(counted))
    const isWhole = `!document.querySelector('[data-status]').textContent.includes('+')`
    const toEnd = async (rowsWanted: number): Promise<number> => {
      let presses = 0
      for (;;) {
        const now = await rows()
        if (now >= rowsWanted || (await page.evaluate(isWhole))) return presses
        await page.keyboard.press('End')
        presses++
        await until(page, `${counted} > ${now} || ${isWhole}`)
      }
    }
    await toEnd(3000)
    console.log(`after the first ${await rows()} rows: ${await kept(session, browser)}`)
    let startMs = performance.now()
    const presses = await toEnd(Infinity)
    console.log(
      `at the end, ${await rows()} rows, ${presses} times the key End, ${((performance.now() - startMs) / 1000).toFixed(1)} s: ${await kept(session, browser)}`,
    )
    const inSight = `(() => {
      const grid = document.querySelector('[role=grid]')
      const { top, bottom } = grid.getBoundingClientRect()
      const rows = [...grid.querySelectorAll('[role=row][id]')].filter((row) => {
        const box = row.getBoundingClientRect()
        return box.bottom > top && box.top < bottom
      })
      return rows.length > 3 && rows.every((row) => !row.textContent.includes('…'))
    })()`
    const scrollTo = (part: number): Promise<unknown> =>
      page.evaluate(
        `(() => { const grid = document.querySelector('[role=grid]'); grid.scrollTop = grid.scrollHeight * ${part} })()`,
      )
    const frame = (): Promise<unknown> =>
      page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))',
      )
    const tookMs: number[] = []
    for (let place = 0; place < PLACES; place++) {
      startMs = performance.now()
      await scrollTo(((place * 37) % 101) / 101)
      await frame()
      await until(page, inSight)
      tookMs.push(performance.now() - startMs)
    }
    console.log(
      `${PLACES} far places, until their rows are there: ${ms(tookMs)}: ${await kept(session, browser)}`,
    )
    requests = 0
    for (let step = 0; step <= DRAG_STEPS; step++) {
      await scrollTo((step / DRAG_STEPS) * 0.9)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
    }
    startMs = performance.now()
    await until(page, inSight)
    console.log(
      `the bar dragged over ${DRAG_STEPS} places: rows ${(performance.now() - startMs).toFixed(0)} ms after it stopped, ${requests} requests`,
    )
    for (let key = 0; key < 60; key++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Home')
    await page.locator('#row-0.active').waitFor()
    await until(page, inSight)
    console.log(`back at the first row: ${await kept(session, browser)}`)
  })
  await server.stop()
}

/** In a browser that was just started, and again in tabs of it without its cache. */
async function firstPaint(): Promise<void> {
  await using store = await open({ memory: true })
  const server = await store.listen({ port: 0 })
  const paintedAt = async (page: Page): Promise<number> => {
    await page.goto(`${server.url}/console/`)
    await page.locator('h1').first().waitFor()
    await until(page, `performance.getEntriesByName('first-contentful-paint').length > 0`)
    return Number(await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`))
  }
  const first: number[] = []
  const next: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    await inBrowser(async (context) => {
      first.push(await paintedAt(context.pages()[0] as Page))
      const page = await context.newPage()
      const session = await context.newCDPSession(page)
      await session.send('Network.enable')
      await session.send('Network.setCacheDisabled', { cacheDisabled: true })
      next.push(await paintedAt(page))
    })
  console.log(`first paint, the first page of a browser: ${ms(first)}`)
  console.log(`first paint, another tab, without its cache: ${ms(next)}`)
  await server.stop()
}

const parts = values.part.split(',')
if (parts.includes('rows')) await scrollRows()
if (parts.includes('paint')) await firstPaint()
