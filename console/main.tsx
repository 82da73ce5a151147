// The console: one page that is a client of the public wire and of nothing else.
//
//   wire/    operations, signatures, pages of items          knows no screen
//   values/  attribute values, JSON, code                     knows no wire
//   parts/   what screens are made of
//   screens/ one folder or file a screen
//   editor/  CodeMirror, loaded when it is first needed
import { render, type FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Confirmation, Said } from './parts/basics.js'
import { Help } from './parts/help.js'
import { href, route } from './parts/route.js'
import { SignIn } from './parts/sign-in.js'
import { theme, THEMES } from './parts/theme.js'
import { HistoryScreen } from './screens/history.js'
import { LedgerScreen } from './screens/ledger/ledger.js'
import { LocksScreen } from './screens/locks.js'
import { MetricsScreen } from './screens/metrics/metrics.js'
import { PlaygroundScreen } from './screens/playground/playground.js'
import { StatementsScreen } from './screens/statements.js'
import { StreamsScreen } from './screens/streams.js'
import { TableScreen } from './screens/table/table.js'
import { TablesScreen } from './screens/tables/tables.js'
import { TransactionsScreen } from './screens/transactions/transactions.js'
import { forgetKey, online, signer } from './wire/client.js'
import { useObservable } from './wire/observable.js'

type Screen = FunctionComponent<{ readonly path: readonly string[] }>

const SCREENS: readonly (readonly [string, string, Screen, string])[] = [
  ['tables', 'Tables', TablesScreen, 't'],
  ['statements', 'Statements', StatementsScreen, 's'],
  ['transactions', 'Transactions', TransactionsScreen, 'x'],
  ['locks', 'Locks', LocksScreen, 'l'],
  ['streams', 'Streams', StreamsScreen, 'r'],
  ['playground', 'Playground', PlaygroundScreen, 'p'],
  ['ledger', 'Ledger', LedgerScreen, 'b'],
  ['metrics', 'Metrics', MetricsScreen, 'm'],
  ['history', 'History', HistoryScreen, 'h'],
]

function Console() {
  const path = useObservable(route)
  const isOnline = useObservable(online)
  const key = useObservable(signer)
  const shade = useObservable(theme)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const name = path[0] ?? 'tables'
  const found = SCREENS.find(([screen]) => screen === name) ?? SCREENS[0]!
  const [, title, OwnScreen] = found
  const isTable = found[0] === 'tables' && path.length > 1
  const Screen = isTable ? TableScreen : OwnScreen

  useEffect(() => {
    document.title = `${isTable ? path[1] : title} · Seriatim`
  }, [title, path])
  // On a narrow page the screens are a list that scrolls.
  useEffect(
    () =>
      document
        .querySelector('header nav [aria-current]')
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [found],
  )
  useEffect(() => {
    let waitsForScreen = false
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      if (waitsForScreen) {
        waitsForScreen = false
        const target = SCREENS.find(([, , , letter]) => letter === event.key)
        if (target !== undefined) location.hash = href(target[0])
      } else if (event.key === 'g') waitsForScreen = true
      else if (event.key === '?') setHelpOpen(true)
      else if (event.key === '/') {
        const field = document.querySelector<HTMLElement>('[data-find]')
        if (field !== null) {
          event.preventDefault()
          field.focus()
        }
      }
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])

  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={href('tables')}>
          <Mark /> Seriatim
        </a>
        <nav aria-label="Screens">
          {SCREENS.map(([screen, label]) => (
            <a key={screen} href={href(screen)} aria-current={screen === found[0] ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <div class="top-tools">
          {key !== undefined && (
            <button type="button" class="quiet" onClick={forgetKey} title="Forget the key">
              {key.accessKeyId}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            onClick={() => theme.set(THEMES[(THEMES.indexOf(shade) + 1) % THEMES.length]!)}
            aria-label={`Colours: ${shade}`}
            title={`Colours: ${shade}`}
          >
            {shade === 'dark' ? '☾' : shade === 'light' ? '☀' : '◐'}
          </button>
          <button
            type="button"
            class="quiet"
            aria-label="Help and keys"
            title="Help and keys (?)"
            onClick={() => setHelpOpen(true)}
          >
            ?
          </button>
        </div>
      </header>
      {!isOnline && (
        <div class="offline" role="alert">
          The server does not answer. The console asks every 1.5 seconds, and goes on when it is back.
        </div>
      )}
      <main id="main" tabIndex={-1}>
        <Screen key={isTable ? path[1] : name} path={path} />
      </main>
      <Confirmation />
      <SignIn />
      <Said />
      {isHelpOpen && (
        <Help
          screens={SCREENS.map(([, label, , letter]) => [letter, label])}
          onClose={() => setHelpOpen(false)}
        />
      )}
    </>
  )
}

function skipToMain(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      document.querySelector('dialog[open]') !== null)
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="1" y="3" width="12" height="3.4" rx="1.7" fill="currentColor" />
      <rect x="4" y="8.3" width="12" height="3.4" rx="1.7" fill="currentColor" opacity=".72" />
      <rect x="7" y="13.6" width="12" height="3.4" rx="1.7" fill="currentColor" opacity=".45" />
    </svg>
  )
}

// Until here the page shows its frame, which needs no script.
const place = document.getElementById('console')!
place.replaceChildren()
render(<Console />, place)
