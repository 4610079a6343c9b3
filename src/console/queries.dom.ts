// What a part of a page has asked for: nothing yet, an answer, or trouble; and lists that come page by page. Invariant: an answer to an
// older question never takes the place of a newer one's, and is never added to its rows.

import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { type RequestError, type RequestResult, request } from './request.dom.ts'

export interface Query<T> {
  /** The last answer, kept while it is asked for again. */
  readonly value: Signal<T | null>
  readonly error: Signal<RequestError | null>
  readonly isLoading: Signal<boolean>
  readonly reload: () => void
}

/** Asks for `path()` whenever a signal that it reads changes; null: nothing is asked. */
export function useQuery<T>(path: () => string | null): Query<T> {
  const value = useSignal<T | null>(null)
  const trouble = useSignal<RequestError | null>(null)
  const isLoading = useSignal(false)
  const turn = useSignal(0)
  useSignalEffect(() => {
    void turn.value
    const asked = path()
    if (asked === null) return
    const stop = new AbortController()
    isLoading.value = true
    request<T>('GET', asked, undefined, stop.signal)
      .then((answer: RequestResult<T>) => {
        if (stop.signal.aborted) return
        isLoading.value = false
        trouble.value = answer.ok ? null : answer.error
        if (answer.ok) value.value = answer.value
      })
      .catch(() => {})
    return () => stop.abort()
  })
  return { value, error: trouble, isLoading, reload: () => void turn.value++ }
}

export interface PagedQuery<Row> {
  /** Null: nothing came yet. */
  readonly rows: Signal<readonly Row[] | null>
  readonly error: Signal<RequestError | null>
  readonly more: (() => void) | null
  readonly reload: () => void
}

type Cursor = string | number | null

/** Asks for `path()`, which has a query already; `list` is the rows' field, `cursor` the parameter that takes `next`. */
export function usePagedQuery<Row>(list: string, cursor: 'before' | 'after', path: () => string): PagedQuery<Row> {
  const rows = useSignal<readonly Row[] | null>(null)
  const next = useSignal<Cursor>(null)
  const trouble = useSignal<RequestError | null>(null)
  const turn = useSignal(0)
  const asking = useRef(new AbortController())
  const load = async (asked: string, from: Cursor, { signal }: AbortController) => {
    const query = from === null ? '' : `&${cursor}=${encodeURIComponent(from)}`
    const answer = await request<Record<string, unknown>>('GET', `${asked}${query}`, undefined, signal).catch(
      () => null,
    )
    if (answer === null || signal.aborted) return
    trouble.value = answer.ok ? null : answer.error
    if (!answer.ok) {
      next.value = from
      return
    }
    const page = answer.value[list] as readonly Row[]
    rows.value = from === null ? page : [...(rows.peek() ?? []), ...page]
    next.value = answer.value.next as Cursor
  }
  useSignalEffect(() => {
    void turn.value
    const asked = path()
    const stop = new AbortController()
    asking.current = stop
    void load(asked, null, stop)
    return () => stop.abort()
  })
  const from = next.value
  // Twice at once would bring the same page twice.
  const more = () => {
    next.value = null
    void load(path(), from, asking.current)
  }
  return { rows, error: trouble, more: from === null ? null : more, reload: () => void turn.value++ }
}
