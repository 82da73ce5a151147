// CodeMirror, in a file of its own that is loaded when an editor is first opened. It stands in a shadow root: there its styles
// are constructed style sheets, which the policy of the page allows, and not <style> elements, which it does not.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { PartiQLish } from './partiql.js'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { searchKeymap } from '@codemirror/search'
import { Annotation, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface OpenEditor {
  set(text: string): void
  /** With this much selected. */
  focus(from: number, to: number): void
  close(): void
}

export interface EditorSetup {
  readonly text: string
  readonly language: 'json' | 'partiql'
  readonly label: string
  readonly onChange: (text: string) => void
  readonly onRun: (() => void) | undefined
}

/** Colours are the page's: custom properties reach into a shadow root. */
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  {
    tag: [tags.bool, tags.null, tags.keyword, tags.operatorKeyword],
    color: 'var(--code-word)',
    fontWeight: '600',
  },
  { tag: tags.comment, color: 'var(--muted)' },
])

const look = EditorView.theme({
  '&': { fontSize: '13px', height: '100%', backgroundColor: 'var(--field)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--field)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line-active)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)' },
})

const fromOutside = Annotation.define<boolean>()

export function openEditor(place: HTMLElement, setup: EditorSetup): OpenEditor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: setup.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        syntaxHighlighting(colours),
        setup.language === 'json' ? json() : PartiQLish,
        look,
        EditorView.contentAttributes.of({ 'aria-label': setup.label, 'data-editor': setup.language }),
        keymap.of([
          { key: 'Mod-Enter', run: () => (setup.onRun?.(), setup.onRun !== undefined) },
          // Tab goes on to the next thing that can be used: an editor must not hold the keyboard.
          ...defaultKeymap,
          ...historyKeymap,
          ...searchKeymap,
        ]),
        // Chromium would keep the colour of what is typed over by an inline style, which the policy forbids.
        EditorView.domEventHandlers({
          beforeinput(event, editor) {
            if (event.inputType !== 'insertText' || event.isComposing || event.data === null) return false
            event.preventDefault()
            editor.dispatch(editor.state.replaceSelection(event.data), {
              userEvent: 'input.type',
              scrollIntoView: true,
            })
            return true
          },
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((each) => each.annotation(fromOutside) === true))
            setup.onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    set(text) {
      if (view.state.doc.toString() === text) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: fromOutside.of(true),
      })
    },
    focus(from, to) {
      const { length } = view.state.doc
      view.dispatch({ selection: { anchor: Math.min(from, length), head: Math.min(to, length) } })
      view.focus()
    },
    close: () => view.destroy(),
  }
}
