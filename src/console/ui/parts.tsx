// Small parts of all pages: error notes, commands to copy, key figures.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { isBannerShown, isShared, type Query } from '../queries.dom.ts'
import type { RequestError } from '../request.dom.ts'
import { Button } from './frame.tsx'
import { PARTS } from './strings.ts'

interface ErrorNoteProps {
  readonly error: RequestError | null
  /** Loads again. Failures that a banner shows are left out here. */
  readonly onRetry?: () => void
}

export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  if (error === null || (onRetry && isShared(error) && isBannerShown.value)) return null
  return (
    <p class="note trouble" role="alert">
      {error.message} {error.requestId && <small>({error.requestId})</small>}{' '}
      {onRetry && <Button text={PARTS.retry} onClick={onRetry} />}
    </p>
  )
}

/** Message about a success, until it is dismissed. */
export function DoneNote({ text }: { text: Signal<string> }) {
  return (
    <div role="status">
      {text.value !== '' && (
        <p class="note">
          {text.value} <Button text={PARTS.dismiss} class="plain" onClick={() => (text.value = '')} />
        </p>
      )}
    </div>
  )
}

interface QueryViewProps<T> {
  readonly query: Query<T>
  /** Height in px that is reserved for the response, so that it moves nothing when it arrives. */
  readonly height?: number
  readonly children: (value: T) => ComponentChildren
}

/** Shows the response of a query, and its last error. */
export function QueryView<T>({ query, height, children }: QueryViewProps<T>) {
  const value = query.value.value
  const content = (
    <>
      <ErrorNote error={query.error.value} onRetry={query.reload} />
      {value !== null && children(value)}
    </>
  )
  if (height === undefined) return content
  return (
    <Reserved height={height} isLoading={value === null && query.error.value === null}>
      {content}
    </Reserved>
  )
}

interface ReservedProps {
  /** In px. */
  readonly height: number
  readonly isLoading: boolean
  readonly children?: ComponentChildren
}

/** A place of at least this height; it shimmers while its content is loading. */
export function Reserved({ height, isLoading, children }: ReservedProps) {
  return (
    <div class={isLoading ? 'skeleton' : ''} style={{ minHeight: `${height}px` }} aria-busy={isLoading}>
      {children}
    </div>
  )
}

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly isMain?: boolean
  readonly onCopied?: () => void
}

/** Pages on insecure origins have no clipboard; the text can still be selected. */
export function CopyButton({ text, label = PARTS.copy, isMain = false, onCopied }: CopyButtonProps) {
  const isCopied = useSignal(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      isCopied.value = true
      onCopied?.()
    } catch {
      isCopied.value = false
    }
  }
  return <Button text={isCopied.value ? PARTS.copied : label} class={isMain ? 'main' : 'plain'} onClick={copy} />
}

interface SnippetProps extends Omit<CopyButtonProps, 'text'> {
  readonly line: string
}

export function Snippet({ line, ...copy }: SnippetProps) {
  return (
    <div class="curl">
      <code>{line}</code>
      <CopyButton text={line} {...copy} />
    </div>
  )
}

export const infoCurl = (body: string, auth = '"Authorization: Bearer $WEIR_KEY"') =>
  `curl -s ${location.origin}/info -H ${auth} -H 'Content-Type: application/json' -d '${body}'`

export const streamCommand = () =>
  `npx wscat -c "ws${location.origin.slice(4)}/ws?key=$WEIR_KEY" -w 10 -x '{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC"}}'`

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

/** Facts by name, such as the sums of a statement. */
export function SummaryList({ of }: { readonly of: readonly (readonly [name: string, content: ComponentChildren])[] }) {
  return (
    <dl class="sums">
      {of.map(([name, content]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{content}</dd>
        </div>
      ))}
    </dl>
  )
}
