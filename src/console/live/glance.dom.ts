// What the page shows while it has no frames: a book and the middles, every few seconds, free for everybody. Invariant:
// nothing is asked for while the link is up, the past is played, or nobody looks.

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

/** Null: there are frames, or nothing came yet. */
export const glance = signal<Glance | null>(null)

/** Looks every few seconds; returns the function that stops it. */
export function pollGlance(coinOf: () => string | null, onMids: (mids: Readonly<Record<string, string>>) => void) {
  const once = async () => {
    if (document.visibilityState === 'hidden') return
    const coin = coinOf() ?? ''
    const answer = await fetch(`/live/glance?coin=${encodeURIComponent(coin)}`).catch(() => null)
    const { book, mids }: GlanceResponse = answer?.ok ? await answer.json().catch(() => NO_GLANCE) : NO_GLANCE
    if (isOver) return
    if (mids) onMids(mids)
    if (book) glance.value = { coin: book.coin, timeMs: book.time, levels: book.levels }
  }
  let isOver = false
  const timer = setInterval(() => void once(), POLL_MS)
  void once()
  return () => {
    isOver = true
    clearInterval(timer)
    glance.value = null
  }
}

const NO_GLANCE: GlanceResponse = { book: null, mids: null }
