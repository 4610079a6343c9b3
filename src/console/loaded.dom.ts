// What a part of a page has asked for: nothing yet, an answer, or trouble. Law: an answer to an older question never
// takes the place of a newer one's.

import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { type Asked, ask, type Trouble } from './ask.dom.ts'

export interface Loaded<T> {
  /** The last answer, kept while it is asked for again. */
  readonly value: Signal<T | null>
  readonly trouble: Signal<Trouble | null>
  readonly isLoading: Signal<boolean>
  readonly reload: () => void
}

/** Asks for `path()` whenever a signal that it reads changes; null: nothing is asked. */
export function useLoaded<T>(path: () => string | null): Loaded<T> {
  const value = useSignal<T | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  const isLoading = useSignal(false)
  const turn = useSignal(0)
  useSignalEffect(() => {
    void turn.value
    const asked = path()
    if (asked === null) return
    const stop = new AbortController()
    isLoading.value = true
    ask<T>('GET', asked, undefined, stop.signal)
      .then((answer: Asked<T>) => {
        if (stop.signal.aborted) return
        isLoading.value = false
        trouble.value = answer.ok ? null : answer.error
        if (answer.ok) value.value = answer.value
      })
      .catch(() => {})
    return () => stop.abort()
  })
  return { value, trouble, isLoading, reload: () => void turn.value++ }
}
