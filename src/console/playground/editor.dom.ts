// The editor of GraphQL documents: colors, completion and errors by the schema. It is in a shadow root, where its style
// sheets are objects: the policy of the page blocks style elements.

import { autocompletion, closeBrackets } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { graphql } from 'cm6-graphql'
import type { GraphQLSchema } from 'graphql'

export interface Editor {
  readonly text: () => string
  readonly replace: (text: string) => void
  readonly destroy: () => void
}

interface EditorOptions {
  readonly text: string
  readonly label: string
  readonly schema: GraphQLSchema
  readonly onChange: (text: string) => void
  readonly onRun: () => void
}

const COLORS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)' },
  { tag: [tags.string, tags.number, tags.bool], color: 'var(--bid)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--soft)' },
  { tag: [tags.attributeName, tags.variableName, tags.special(tags.name)], color: 'var(--warn)' },
])

const THEME = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--ink)', backgroundColor: 'var(--paper)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'transparent', border: '0' },
  '.cm-tooltip': { border: '1px solid var(--line)', backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
})

/**
 * Text typed over a selection. The browser would give it the style of what it replaces in a `style` attribute, which the
 * policy of the page blocks.
 */
const TYPED_OVER = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { from, to, empty } = view.state.selection.main
    if (inputType !== 'insertText' || data === null || empty) return false
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
    if (!isHandled) view.dispatch(insert())
    // Otherwise the browser would insert it as well.
    return true
  },
})

export function createEditor(host: HTMLElement, { text, label, schema, onChange, onRun }: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const runKey = {
    key: 'Mod-Enter',
    run: () => {
      onRun()
      return true
    },
  }
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([runKey])),
        lineNumbers(),
        history(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        // Tab leaves the editor.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        graphql(schema),
        syntaxHighlighting(COLORS),
        THEME,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        TYPED_OVER,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    text: () => view.state.doc.toString(),
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    destroy: () => view.destroy(),
  }
}
