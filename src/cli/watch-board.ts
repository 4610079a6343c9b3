// What a watch knows: fed by the client's callbacks, read by the screen and by the lines of a pipe.

import type { Step } from '../client/api.ts'
import type { ShownFill } from '../client/events.ts'
import type { SeededBook } from '../client/merged-book.ts'
import type { Verdict } from '../client/step-check.ts'
import type { Levels } from '../protocol/feed/block.ts'
import { spreadOf, type Watched } from './watch-screen.ts'

/** A book of the present has a number of its last change, and may be lost; one of the past has neither. */
type ShownBook = SeededBook & { readonly live?: boolean; readonly seq?: number }

const FILLS_KEPT = 50
const DEPTH = 10

interface Row {
  book: ShownBook | null
  /** What its checksums and numbers say. */
  step: Step
  note: string
  /** Its last comparison. */
  verdict: string
  fills: number
}

export class WatchBoard {
  status = 'connecting'
  #step: Step = 'syncing'
  readonly #rows: Map<string, Row>
  readonly #fills: string[] = []

  constructor(coins: readonly string[]) {
    this.#rows = new Map(
      coins.map((coin) => {
        return [coin, { book: null, step: 'syncing', note: 'waiting for the book', verdict: '', fills: 0 }] as const
      }),
    )
  }

  /** True once the coin had a book. */
  wasLive(coin: string): boolean {
    return this.#rows.get(coin)?.book != null
  }

  changed(book: ShownBook): void {
    const row = this.#rows.get(book.coin)
    if (row) row.book = book
  }

  /** Of a coin, or (null) of all. */
  step(coin: string | null, step: Step, why: string): void {
    if (coin === null) this.#step = step
    const row = this.#rows.get(coin ?? '')
    if (!row) return
    row.step = step
    row.note = `${step}: ${why}`
    if (step === 'out of step') row.verdict = ''
  }

  fill(fill: ShownFill): void {
    const row = this.#rows.get(fill.coin)
    if (!row) return
    row.fills++
    const what = `${fill.coin.padEnd(8)}  ${fill.dir.padEnd(13)}${fill.sz.padStart(12)} @ ${fill.px}`
    this.#fills.push(`${clockOf(fill.time)}  ${what}`)
    if (this.#fills.length > FILLS_KEPT) this.#fills.shift()
  }

  /** Notes a comparison and answers its line. */
  compared(coin: string, verdict: Verdict): string {
    const line = verdictLine(coin, verdict)
    const row = this.#rows.get(coin)
    if (row) row.verdict = line
    return line
  }

  screen(): Watched {
    const coins = [...this.#rows].map(([coin, { book, note, step, verdict }]) => {
      return { coin, note, step, verdict, book: viewOf(book) }
    })
    return { status: `${this.status}, ${this.#step}`, coins, fills: this.#fills }
  }

  /** One JSON line a coin. */
  lines(nowMs: number): string[] {
    return [...this.#rows].map(([coin, { book, step, note, fills }]) => {
      const view = viewOf(book)
      if (!view) return JSON.stringify({ coin, live: false, step, note, status: this.status, fills })
      const bid = view.levels[0][0]?.px ?? null
      const ask = view.levels[1][0]?.px ?? null
      const { height, seq, levels, timeMs } = view
      const depth = [levels[0].length, levels[1].length]
      const spread = spreadOf(levels)
      return JSON.stringify({
        coin,
        live: true,
        step,
        height,
        seq,
        bid,
        ask,
        spread,
        ageMs: nowMs - timeMs,
        depth,
        fills,
      })
    })
  }
}

/** `in step BTC height=… seq=…`, or `out of step BTC height=… seq=…: …` with the first difference. */
function verdictLine(coin: string, verdict: Verdict): string {
  const where = `${coin} height=${verdict.height} seq=${verdict.seq}`
  if (verdict.kind === 'in_step') return `in step ${where}`
  return `out of step ${where}: ${describeChanges(verdict.changes)}`
}

function describeChanges([bids, asks]: Levels): string {
  const first = bids[0] ?? asks[0]
  const side = bids[0] ? 'bid' : 'ask'
  const says = first
    ? `; first ${side} ${first.px}, the server has ${first.n === 0 ? 'none' : `${first.sz} n=${first.n}`}`
    : ''
  return `${bids.length + asks.length} levels differ${says}`
}

function viewOf(book: ShownBook | null) {
  if (!book || book.live === false) return null
  return { height: book.height, seq: book.seq ?? null, timeMs: book.time, levels: book.levels(DEPTH) }
}

function clockOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23)
}
