// Small parts of all pages: error notes, commands to copy, key figures.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Query } from '../queries.dom.ts'
import type { RequestError } from '../request.dom.ts'
import { Button } from './frame.tsx'
import { PARTS } from './strings.ts'

export function ErrorNote({ error, onRetry }: { error: RequestError | null; onRetry?: () => void }) {
  if (error === null) return null
  return (
    <p class="note trouble" role="alert">
      {error.message} {error.requestId && <small>({error.requestId})</small>}{' '}
      {onRetry && <Button text={PARTS.retry} onClick={onRetry} />}
    </p>
  )
}

interface QueryViewProps<T> {
  readonly query: Query<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows the response of a query, and its last error. */
export function QueryView<T>({ query, children }: QueryViewProps<T>) {
  return (
    <>
      <ErrorNote error={query.error.value} onRetry={query.reload} />
      {query.value.value !== null && children(query.value.value)}
    </>
  )
}

export function Snippet({ line }: { line: string }) {
  const isCopied = useSignal(false)
  const copy = async () => {
    // Pages on insecure origins have no clipboard; the line can still be selected.
    await navigator.clipboard?.writeText(line).catch(() => {})
    isCopied.value = Boolean(navigator.clipboard)
  }
  return (
    <div class="curl">
      <code>{line}</code>
      <Button text={isCopied.value ? PARTS.copied : PARTS.copy} class="plain" onClick={copy} />
    </div>
  )
}

export const infoCurl = (body: string, auth = '"Authorization: Bearer $WEIR_KEY"') =>
  `curl -s ${location.origin}/info -H ${auth} -H 'Content-Type: application/json' -d '${body}'`

export interface Figure {
  readonly name: string
  readonly value: ComponentChildren
  /** Period or comment. */
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

/** The sums of an invoice. */
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
