// A place for JSON or PartiQL. It is a text area until CodeMirror has arrived, and stays one if it never does.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { OpenEditor } from '../editor/code-mirror.js'

export interface CodeEditorProps {
  readonly value: string
  readonly onValue: (text: string) => void
  readonly language: 'json' | 'partiql'
  readonly label: string
  readonly onRun?: () => void
  readonly tall?: boolean
}

export function CodeEditor(props: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<OpenEditor | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [isOpen, setOpen] = useState(false)
  const plain = useRef<HTMLTextAreaElement>(null)
  /** What was selected in the text area when the editor took its place. */
  const selected = useRef<readonly [number, number] | undefined>(undefined)
  useEffect(() => {
    let isGone = false
    import('../editor/code-mirror.js').then(
      ({ openEditor }) => {
        if (isGone || place.current === null) return
        editor.current = openEditor(place.current, {
          text: latest.current.value,
          language: latest.current.language,
          label: latest.current.label,
          onChange: (text) => latest.current.onValue(text),
          onRun: latest.current.onRun && (() => latest.current.onRun?.()),
        })
        const area = plain.current
        if (area !== null && document.activeElement === area)
          selected.current = [area.selectionStart, area.selectionEnd]
        setOpen(true)
      },
      () => undefined,
    )
    return () => {
      isGone = true
      editor.current?.close()
      editor.current = undefined
    }
  }, [])
  // Who was typing goes on typing.
  useLayoutEffect(() => {
    if (isOpen && selected.current !== undefined) editor.current?.focus(...selected.current)
    selected.current = undefined
  }, [isOpen])
  useEffect(() => editor.current?.set(props.value), [props.value])
  return (
    <div class={`editor ${props.tall === true ? 'tall' : ''}`}>
      <div ref={place} class="editor-place" hidden={!isOpen} />
      {!isOpen && (
        <textarea
          ref={plain}
          aria-label={props.label}
          spellcheck={false}
          value={props.value}
          onInput={(event) => props.onValue(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || props.onRun === undefined)
              return
            event.preventDefault()
            props.onRun()
          }}
        />
      )}
    </div>
  )
}
