import { Dialog } from './basics.js'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'go to the search field of the screen'],
  ['?', 'this page'],
  ['Tab, Shift+Tab', 'through everything that can be used'],
  ['↑ ↓ PageUp PageDown Home End', 'through the rows of a table'],
  ['Enter', 'open the row'],
  ['Space', 'select the row; with Shift, all up to it'],
  ['Ctrl+A', 'select all rows that were read'],
  ['Delete', 'delete what is selected, after a question'],
  ['Ctrl+Enter', 'run, or save, from an editor'],
  ['Escape', 'close a dialog; leave an editor, so that Tab moves on'],
]

export function Help({
  screens,
  onClose,
}: {
  readonly screens: readonly (readonly [string, string])[]
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {screens.map(([letter, label]) => (
          <div key={letter}>
            <dt>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        The console asks the server it came from, by the same operations as any client, and stores nothing but
        the choice of colours.
      </p>
    </Dialog>
  )
}
