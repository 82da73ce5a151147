// The small parts that every screen is made of.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { observable, useObservable } from '../wire/observable.js'
import { countText } from './format.js'

export function Problem({
  error,
  onRetry,
  retry = 'Try again',
}: {
  readonly error: unknown
  readonly onRetry?: () => void
  readonly retry?: string
}) {
  if (error === undefined) return null
  const { name, message } = error instanceof Error ? error : new Error(JSON.stringify(error))
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{name}</strong> {message}
      </div>
      {onRetry && (
        <button type="button" class="small" onClick={onRetry}>
          {retry}
        </button>
      )}
    </div>
  )
}

export function Notice({
  kind = 'info',
  children,
}: {
  readonly kind?: 'info' | 'good' | 'warn' | 'bad'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`notice ${kind}`} role="status">
      <div>{children}</div>
    </div>
  )
}

/** How far something is, with a way to end it. */
export function Progress({
  what,
  done,
  of,
  onStop,
}: {
  readonly what: string
  readonly done: number
  readonly of: number
  readonly onStop: () => void
}) {
  const text = `${what}: ${countText(done)} of ${countText(of)}`
  return (
    <div class="notice info progress">
      <div>
        <p aria-hidden="true">{text}</p>
        <progress aria-label={what} value={done} max={of} />
      </div>
      <button type="button" class="small" onClick={onStop}>
        Stop
      </button>
    </div>
  )
}

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

export function Badge({
  kind = 'plain',
  children,
  title,
}: {
  readonly kind?: string
  readonly children: ComponentChildren
  readonly title?: string
}) {
  return (
    <span class={`badge ${kind}`} title={title}>
      {children}
    </span>
  )
}

export function Field({
  label,
  hint,
  children,
  wide,
}: {
  readonly label: string
  readonly hint?: string
  readonly wide?: boolean
  readonly children: (id: string) => ComponentChildren
}) {
  const id = useId()
  return (
    <div class={wide === true ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </div>
  )
}

interface TextInputProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly id?: string
  readonly type?: 'text' | 'password' | 'search' | 'number'
  readonly placeholder?: string
  readonly class?: string
  readonly 'aria-label'?: string
  readonly 'aria-invalid'?: boolean
  readonly disabled?: boolean
  readonly required?: boolean
  readonly onKeyDown?: (event: KeyboardEvent) => void
}
export function TextInput({ value, onValue, type = 'text', ...rest }: TextInputProps) {
  return (
    <input
      {...rest}
      // The union of the types of inputs is not one that a union of texts fits.
      {...({ type } as { readonly type: 'text' })}
      spellcheck={false}
      autocomplete="off"
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  )
}

export function Select<T extends string>({
  value,
  options,
  onValue,
  ...rest
}: {
  readonly value: T
  readonly options: readonly (readonly [T, string])[]
  readonly onValue: (value: T) => void
  readonly id?: string
  readonly 'aria-label'?: string
  readonly class?: string
  readonly title?: string
  readonly disabled?: boolean
}) {
  // A list of actions keeps no choice, and the same one can be chosen again; of every other list this changes nothing.
  const restore = (event: { readonly currentTarget: HTMLSelectElement }): void => {
    event.currentTarget.value = value
  }
  return (
    <select
      {...rest}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value as T)}
      onPointerDown={restore}
      onBlur={restore}
    >
      {options.map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  )
}

export function Check({
  checked,
  label,
  onValue,
  disabled,
}: {
  readonly checked: boolean
  readonly label: ComponentChildren
  readonly onValue: (checked: boolean) => void
  readonly disabled?: boolean
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}

/** A modal dialog of the browser's own: it keeps the focus, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly wide?: boolean
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the page is painted, and closed before it is taken away: what holds the focus can be told at every moment, so that no
  // key is lost between the dialog and what is under it.
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = ref.current
    dialog?.showModal()
    // What is to be filled in, and not the button that closes it.
    dialog?.querySelector<HTMLElement>('.dialog-body :is(input, textarea, select)')?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide === true ? 'wide' : ''}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        event.stopPropagation()
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // A browser that is asked for it often enough closes a dialog without a question. Whether it closes is decided above.
        if (ref.current === null || ref.current.open) return
        ref.current.showModal()
        onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

export interface Question {
  readonly title: string
  readonly text: string
  readonly action: string
  /** To be typed, for what cannot be undone. */
  readonly typed?: string
}

const asked = observable<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined)

export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) =>
    asked.set({
      ...question,
      answer: (yes) => {
        asked.set(undefined)
        resolve(yes)
      },
    }),
  )
}

export function Confirmation() {
  const question = useObservable(asked)
  const [text, setText] = useState('')
  useEffect(() => setText(''), [question])
  if (question === undefined) return null
  const { typed, answer } = question
  return (
    <Dialog title={question.title} onClose={() => answer(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (typed === undefined || text === typed) answer(true)
        }}
      >
        <p>{question.text}</p>
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(id) => <TextInput id={id} value={text} onValue={setText} />}
          </Field>
        )}
        <div class="actions">
          <button type="button" onClick={() => answer(false)}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={typed !== undefined && text !== typed}>
            {question.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const said = observable<{ readonly text: string; readonly kind: 'good' | 'bad' } | undefined>(undefined)
let silence: ReturnType<typeof setTimeout> | undefined
const SAID_MS = 5000

/** A short word at the edge of the screen; screen readers read it, too. */
export function say(text: string, kind: 'good' | 'bad' = 'good'): void {
  clearTimeout(silence)
  said.set({ text, kind })
  silence = setTimeout(() => said.set(undefined), SAID_MS)
}

export function Said() {
  const message = useObservable(said)
  return (
    <div class="said" role="status" aria-live="polite">
      {message && <div class={`notice ${message.kind}`}>{message.text}</div>}
    </div>
  )
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(`${what} copied`)
  } catch {
    say('The browser did not let the console write to the clipboard', 'bad')
  }
}

export function download(name: string, parts: readonly BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
