// Small parts of all pages: why something is not there, a command to copy, numbers that matter.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Trouble } from '../ask.dom.ts'

export function TroubleNote({ trouble, again }: { trouble: Trouble | null; again?: () => void }) {
  if (trouble === null) return null
  return (
    <p class="note trouble" role="alert">
      {trouble.message} {trouble.requestId && <small>({trouble.requestId})</small>}{' '}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </p>
  )
}

export function Curl({ line }: { line: string }) {
  const isCopied = useSignal(false)
  const copy = async () => {
    // A page without a secure connection has no clipboard: the line can be marked.
    await navigator.clipboard?.writeText(line).catch(() => {})
    isCopied.value = Boolean(navigator.clipboard)
  }
  return (
    <div class="curl">
      <code>{line}</code>
      <button type="button" class="plain" onClick={copy}>
        {isCopied.value ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

export interface Figure {
  readonly name: string
  readonly value: ComponentChildren
  /** Its period, or what to think of it. */
  readonly note?: ComponentChildren
}

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note && <dd class="of">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}

/** What an input has of a signal that holds its text. */
export const typed = (text: Signal<string>) => ({
  value: text.value,
  onInput: (event: { readonly currentTarget: HTMLInputElement }) => {
    text.value = event.currentTarget.value
  },
})
