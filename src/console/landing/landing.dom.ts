// The order book on the page `/`: free, a few seconds old, and polled only while the page is visible. Without it the page
// works, too. Invariant: rows are filled, never added, so nothing on the page moves.

import { clockText, compactText, fixedText, priceDecimals, priceText } from '../live/formats.ts'
import { type BookLevel, spreadOf } from '../live/grouped-book.ts'
import * as strings from './strings.ts'

const POLL_MS = 5_000

interface Glance {
  readonly book: {
    readonly time: number
    readonly levels: readonly [bids: readonly BookLevel[], asks: readonly BookLevel[]]
  } | null
}

const element = (name: string) => document.querySelector<HTMLElement>(`[data-${name}]`)

function show({ book }: Glance): void {
  const [bids, asks] = book?.levels ?? [[], []]
  const spread = spreadOf(bids[0], asks[0])
  if (book === null || spread === null) return
  const decimals = priceDecimals(spread.middle)
  setText(element('price'), priceText(spread.middle))
  setText(element('spread'), strings.bookSpread(fixedText(spread.size, decimals), fixedText(spread.basisPoints, 2)))
  setText(element('time'), strings.bookTime(clockText(book.time)))
  const rows = element('levels')?.querySelectorAll('tr') ?? []
  for (const [at, row] of [...rows].entries()) {
    const values = [sizeOf(bids[at]), priceOf(bids[at]), priceOf(asks[at]), sizeOf(asks[at])]
    for (const [column, value] of values.entries()) setText(row.cells[column], value)
  }
}

const sizeOf = (level: BookLevel | undefined) => compactText(Number(level?.sz))
const priceOf = (level: BookLevel | undefined) => priceText(Number(level?.px))

function setText(target: HTMLElement | null | undefined, text: string): void {
  if (target && target.textContent !== text) target.textContent = text
}

async function poll(coin: string): Promise<void> {
  if (document.visibilityState === 'hidden') return
  const result = await fetch(`/live/glance?coin=${encodeURIComponent(coin)}`).catch(() => null)
  const glance: Glance | null = result?.ok ? await result.json().catch(() => null) : null
  if (glance) show(glance)
}

const coin = element('coin')?.textContent
if (coin) {
  void poll(coin)
  setInterval(() => void poll(coin), POLL_MS)
}
