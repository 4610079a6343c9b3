// Queries as signals: response, error and loading state; and lists loaded page by page. Invariants: the response of an
// older request never replaces, and is never added to, the response of a newer request; failures that do not depend on
// the request are collected, so that a page can show them once.

import { type Signal, signal, useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { type RequestError, type RequestResult, request } from './request.dom.ts'

export interface Query<T> {
  /** The last response, kept while a reload runs. */
  readonly value: Signal<T | null>
  readonly error: Signal<RequestError | null>
  readonly isLoading: Signal<boolean>
  readonly reload: () => void
}

interface SharedFailure {
  readonly error: RequestError
  readonly reload: () => void
}

/** Queries that failed because the gateway did not respond or is out of order. */
export const sharedFailures = signal<readonly SharedFailure[]>([])
/** While a banner shows the shared failures, the parts of the page do not repeat them. */
export const isBannerShown = signal(false)

export const isShared = ({ status }: RequestError) => status === 0 || status >= 500

/** Adds the error to the shared failures while it is one of them. */
export function useSharedFailure(error: Signal<RequestError | null>, reload: () => void): void {
  useSignalEffect(() => {
    const current = error.value
    if (current === null || !isShared(current)) return
    const failure = { error: current, reload }
    sharedFailures.value = [...sharedFailures.peek(), failure]
    return () => {
      sharedFailures.value = sharedFailures.peek().filter((each) => each !== failure)
    }
  })
}

/** Requests `path()` whenever a signal that it reads changes; null sends nothing. */
export function useQuery<T>(path: () => string | null): Query<T> {
  const value = useSignal<T | null>(null)
  const error = useSignal<RequestError | null>(null)
  const isLoading = useSignal(false)
  const version = useSignal(0)
  useSignalEffect(() => {
    void version.value
    const url = path()
    if (url === null) return
    const controller = new AbortController()
    isLoading.value = true
    request<T>('GET', url, undefined, controller.signal)
      .then((result: RequestResult<T>) => {
        if (controller.signal.aborted) return
        isLoading.value = false
        error.value = result.ok ? null : result.error
        if (result.ok) value.value = result.value
      })
      .catch(() => {})
    return () => controller.abort()
  })
  const reload = () => void version.value++
  useSharedFailure(error, reload)
  return { value, error, isLoading, reload }
}

export interface PagedQuery<Row> {
  /** Null until the first page arrives. */
  readonly rows: Signal<readonly Row[] | null>
  /** The whole response with the first page. */
  readonly first: Signal<Readonly<Record<string, unknown>> | null>
  readonly error: Signal<RequestError | null>
  readonly more: (() => void) | null
  readonly reload: () => void
}

type Cursor = string | number | null

/** Requests `path()`, which must have a query. `list` is the field with the rows, `cursor` the parameter for `next`. */
export function usePagedQuery<Row>(list: string, cursor: 'before' | 'after', path: () => string): PagedQuery<Row> {
  const rows = useSignal<readonly Row[] | null>(null)
  const first = useSignal<Readonly<Record<string, unknown>> | null>(null)
  const next = useSignal<Cursor>(null)
  const error = useSignal<RequestError | null>(null)
  const version = useSignal(0)
  const current = useRef(new AbortController())
  const load = async (url: string, from: Cursor, { signal }: AbortController) => {
    const query = from === null ? '' : `&${cursor}=${encodeURIComponent(from)}`
    const result = await request<Record<string, unknown>>('GET', `${url}${query}`, undefined, signal).catch(() => null)
    if (result === null || signal.aborted) return
    error.value = result.ok ? null : result.error
    if (!result.ok) {
      next.value = from
      return
    }
    if (from === null) first.value = result.value
    const page = result.value[list] as readonly Row[]
    rows.value = from === null ? page : [...(rows.peek() ?? []), ...page]
    next.value = result.value.next as Cursor
  }
  useSignalEffect(() => {
    void version.value
    const url = path()
    const controller = new AbortController()
    current.current = controller
    void load(url, null, controller)
    return () => controller.abort()
  })
  const from = next.value
  // Clearing the cursor first prevents loading the same page twice.
  const more = () => {
    next.value = null
    void load(path(), from, current.current)
  }
  const reload = () => void version.value++
  useSharedFailure(error, reload)
  return { rows, first, error, more: from === null ? null : more, reload }
}
