// A real browser on a real server. Where Chromium is missing the tests are skipped and say so, but never in CI.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'node:test'
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import type { ListenOptions, RunningServer } from '../../src/server/http-server.js'
import { open, type Store } from '../../src/store/store.js'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const BUILT = fileURLToPath(new URL('../../src/server/dispatch/console/', import.meta.url))
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--js-flags=--expose-gc',
]
/** A machine may be slow; nothing is asserted of how long something takes. */
export const PATIENCE_MS = 60_000

export const noBrowser = ((): string | false => {
  const missing = !existsSync(CHROMIUM)
    ? `${CHROMIUM} is not installed; install it with: apt-get install chromium`
    : !existsSync(BUILT)
      ? 'the console is not built: npm run build'
      : false
  if (missing !== false && process.env['CI'] === 'true') throw new Error(missing)
  if (missing !== false) console.error(`SKIPPED: ${missing}`)
  return missing
})()

const axeSource = (): string =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Resolves once the expression is true in the page. The policy of the page allows no waiting by strings within it. */
export async function until(page: Page, expression: string): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  while ((await page.evaluate(expression)) !== true) {
    if (Date.now() > endMs) throw new Error(`it was never so: ${expression}`)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
}

/** Chooses of a list as a keyboard does: the focus goes to it, and the beginning of a choice is typed. */
export async function choose(page: Page, label: string, text: string): Promise<void> {
  const select = page.getByLabel(label, { exact: true })
  // What was typed before does not count any more.
  await select.blur()
  await select.focus()
  await page.keyboard.type(text)
}

/** Fills a field as a keyboard does. */
export async function fill(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

/** Presses a button as a keyboard does. */
export async function press(place: Page | Locator, name: string): Promise<void> {
  const button = place.getByRole('button', { name, exact: true })
  await button.focus()
  await button.press('Enter')
}

/** What was copied, once it is such a text. */
export async function copied(page: Page, pattern: RegExp): Promise<string> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs;) {
    const text = String(await page.evaluate('navigator.clipboard.readText()'))
    if (pattern.test(text)) return text
  }
  throw new Error(`no ${String(pattern)} was copied`)
}

/** One tab, with what went wrong in it. */
export interface Tab {
  readonly page: Page
  /** Errors on the console, uncaught ones, and violations of the policy. */
  readonly wrongs: string[]
  /** Opens a screen and waits until its heading is there. */
  readonly go: (route: string, heading?: string) => Promise<void>
  /** What axe finds wrong. */
  readonly axe: () => Promise<readonly string[]>
}

export interface ConsoleRun {
  readonly store: Store
  readonly server: RunningServer
  readonly url: string
  tab(): Promise<Tab>
}

/** Refusals are answers with status 400, and a browser notes each; a test that provokes one says so. */
const REFUSAL = /the server responded with a status of 400/

export async function openConsole(
  t: TestContext,
  options: ListenOptions & {
    readonly nodes?: number
    readonly refusals?: 'expected'
    /** Closed with the run; one in memory unless given. */
    readonly store?: Store
  } = {},
): Promise<ConsoleRun> {
  const { nodes = 4, refusals, store: given, ...listening } = options
  const store = given ?? (await open({ memory: true, nodes }))
  const server = await store.listen({ port: 0, ...listening })
  const folder = await mkdtemp(join(tmpdir(), 'seriatim-browser-'))
  const context: BrowserContext = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: { width: 1200, height: 800 },
    acceptDownloads: true,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  t.after(async () => {
    await context.close()
    await server.stop()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { store, server, url: server.url, tab: () => openTab(context, server.url, refusals === 'expected') }
}

async function openTab(context: BrowserContext, url: string, expectsRefusals: boolean): Promise<Tab> {
  const page = await context.newPage()
  const wrongs: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' && !/Content Security Policy|Trusted/i.test(text)) return
    if (!(expectsRefusals && REFUSAL.test(text))) wrongs.push(text)
  })
  page.on('pageerror', (error) => wrongs.push(String(error.stack ?? error)))
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  )
  const source = axeSource()
  return {
    page,
    wrongs,
    async go(route, heading) {
      await page.goto(`${url}/console/#/${route}`)
      await page
        .locator('h1', heading === undefined ? {} : { hasText: heading })
        .first()
        .waitFor()
    },
    async axe() {
      await page.evaluate(source)
      const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
        readonly violations: readonly {
          readonly id: string
          readonly nodes: readonly { readonly html: string }[]
        }[]
      }
      return found.violations.map(({ id, nodes: [first] }) => `${id}: ${first?.html.slice(0, 200)}`)
    },
  }
}

export const simpleTable = (name: string) => ({
  TableName: name,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
})
