// Small parts of all pages: why something is not there, a command to copy, numbers that matter.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Query } from '../queries.dom.ts'
import type { RequestError } from '../request.dom.ts'
import { Button } from './frame.tsx'

export function ErrorNote({ trouble, again }: { trouble: RequestError | null; again?: () => void }) {
  if (trouble === null) return null
  return (
    <p class="note trouble" role="alert">
      {trouble.message} {trouble.requestId && <small>({trouble.requestId})</small>}{' '}
      {again && <Button text="Try again" onClick={again} />}
    </p>
  )
}

interface QueryViewProps<T> {
  readonly query: Query<T>
  readonly children: (value: T) => ComponentChildren
}

/** What was asked for, once it is there, and why it is not. */
export function QueryView<T>({ query, children }: QueryViewProps<T>) {
  return (
    <>
      <ErrorNote trouble={query.error.value} again={query.reload} />
      {query.value.value !== null && children(query.value.value)}
    </>
  )
}

export function Snippet({ line }: { line: string }) {
  const isCopied = useSignal(false)
  const copy = async () => {
    // A page without a secure connection has no clipboard: the line can be marked.
    await navigator.clipboard?.writeText(line).catch(() => {})
    isCopied.value = Boolean(navigator.clipboard)
  }
  return (
    <div class="curl">
      <code>{line}</code>
      <Button text={isCopied.value ? 'Copied' : 'Copy'} class="plain" onClick={copy} />
    </div>
  )
}

export const infoCurl = (body: string, auth = '"Authorization: Bearer $WEIR_KEY"') =>
  `curl -s ${location.origin}/info -H ${auth} -H 'Content-Type: application/json' -d '${body}'`

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

/** Lines of an invoice. */
export function SummaryList({ of }: { readonly of: readonly (readonly [name: string, text: string])[] }) {
  return (
    <dl class="sums">
      {of.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{text}</dd>
        </div>
      ))}
    </dl>
  )
}
