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

interface WireGlance {
  readonly book: { readonly coin: string; readonly time: number; readonly levels: Levels } | null
  readonly mids: Readonly<Record<string, string>> | null
}

const EVERY_MS = 5_000

/** Null: there are frames, or nothing came yet. */
export const glance = signal<Glance | null>(null)

/** Looks every few seconds; returns the function that stops it. */
export function look(coinOf: () => string | null, midsCame: (mids: Readonly<Record<string, string>>) => void) {
  const once = async () => {
    if (document.visibilityState === 'hidden') return
    const coin = coinOf() ?? ''
    const answer = await fetch(`/live/glance?coin=${encodeURIComponent(coin)}`).catch(() => null)
    const { book, mids }: WireGlance = answer?.ok ? await answer.json().catch(() => NONE) : NONE
    if (isOver) return
    if (mids) midsCame(mids)
    if (book) glance.value = { coin: book.coin, timeMs: book.time, levels: book.levels }
  }
  let isOver = false
  const timer = setInterval(() => void once(), EVERY_MS)
  void once()
  return () => {
    isOver = true
    clearInterval(timer)
    glance.value = null
  }
}

const NONE: WireGlance = { book: null, mids: null }
