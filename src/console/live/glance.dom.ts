// Polls a free book and mid prices every few seconds while the page is disconnected. Invariant: nothing is polled while
// connected, during a replay, or in a hidden tab.

import { signal } from '@preact/signals'
import type { CoinBook } from '../../client/bootstrap.ts'

type Levels = NonNullable<ReturnType<CoinBook['levels']>>

interface Glance {
  readonly coin: string
  readonly timeMs: number
  readonly levels: Levels
}

interface GlanceResponse {
  readonly book: { readonly coin: string; readonly time: number; readonly levels: Levels } | null
  readonly mids: Readonly<Record<string, string>> | null
}

const POLL_MS = 5_000

/** Null while connected, or before the first response. */
export const glance = signal<Glance | null>(null)

/** Starts polling; returns the function that stops it. */
export function pollGlance(coinOf: () => string | null, onMids: (mids: Readonly<Record<string, string>>) => void) {
  const poll = async () => {
    if (document.visibilityState === 'hidden') return
    const coin = coinOf() ?? ''
    const result = await fetch(`/live/glance?coin=${encodeURIComponent(coin)}`).catch(() => null)
    const { book, mids }: GlanceResponse = result?.ok ? await result.json().catch(() => NO_GLANCE) : NO_GLANCE
    if (isStopped) return
    if (mids) onMids(mids)
    if (book) glance.value = { coin: book.coin, timeMs: book.time, levels: book.levels }
  }
  let isStopped = false
  const timer = setInterval(() => void poll(), POLL_MS)
  void poll()
  return () => {
    isStopped = true
    clearInterval(timer)
    glance.value = null
  }
}

const NO_GLANCE: GlanceResponse = { book: null, mids: null }
