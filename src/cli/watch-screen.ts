// What `npm run watch` shows, as text: panels of books, the last fills, and how each book compares.

import { fromScaled, toScaled } from '../core/decimal.ts'
import { visible } from '../core/visible.ts'
import type { Level, Levels } from '../feed/block.ts'

interface WatchedCoin {
  readonly coin: string
  /** Null while out of step; then `note` says why. */
  readonly book: {
    readonly height: number
    readonly seq: number | null
    readonly timeMs: number
    readonly levels: Levels
  } | null
  readonly note: string
  /** What checksums and numbers say of it. */
  readonly step: string
  /** Result of the last comparison with the server. */
  readonly verdict: string
}

export interface Watched {
  readonly status: string
  readonly coins: readonly WatchedCoin[]
  /** Newest last. */
  readonly fills: readonly string[]
}

const PANEL_WIDTH = 60
const DEPTH = 10
const FILLS_MIN = 3
/** Lines of a panel besides its levels: title, comparison, header, blank. */
const PANEL_FRAME = 4

/** Difference of best ask and bid, exact; null while a side is empty. */
export function spreadOf(levels: Levels): string | null {
  const [bid, ask] = [levels[0][0], levels[1][0]]
  return bid && ask ? fromScaled(toScaled(ask.px) - toScaled(bid.px)) : null
}

/** The whole screen, lines of at most `columns` characters and at most `rows` of them. */
export function renderScreen(watched: Watched, columns: number, rows: number, nowMs: number): string[] {
  const across = Math.max(1, Math.min(watched.coins.length, Math.floor(columns / PANEL_WIDTH)))
  const down = Math.ceil(watched.coins.length / across)
  const room = Math.floor((rows - 2 - FILLS_MIN) / down) - PANEL_FRAME
  const depth = Math.max(1, Math.min(DEPTH, room))
  const lines = [watched.status]
  for (let first = 0; first < watched.coins.length; first += across) {
    const panels = watched.coins.slice(first, first + across).map((coin) => panelOf(coin, depth, nowMs))
    for (let i = 0; i < depth + PANEL_FRAME; i++)
      lines.push(panels.map((panel) => padded(panel[i] ?? '', PANEL_WIDTH)).join(''))
  }
  lines.push('fills', ...watched.fills.slice(-Math.max(FILLS_MIN, rows - lines.length - 1)).reverse())
  return lines.slice(0, rows).map((line) => visible(line).slice(0, columns).trimEnd())
}

function panelOf({ coin, book, note, step, verdict }: WatchedCoin, depth: number, nowMs: number): string[] {
  if (!book) return [`${coin}  ${note}`, verdict]
  const [bids, asks] = book.levels
  const spread = spreadOf(book.levels) ?? '-'
  const title = `${coin}  ${step}  spread ${spread}  height ${book.height}  age ${nowMs - book.timeMs} ms`
  const header = `${'n'.padStart(4)}${'size'.padStart(13)}${'bid'.padStart(11)}   ${'ask'.padEnd(11)}${'size'.padEnd(13)}n`
  const rows = Array.from({ length: depth }, (_, i) => `${bidText(bids[i])}   ${askText(asks[i])}`)
  return [title, verdict, header, ...rows]
}

function bidText(level: Level | undefined): string {
  if (!level) return ' '.repeat(28)
  return `${String(level.n).padStart(4)}${level.sz.padStart(13)}${level.px.padStart(11)}`
}

function askText(level: Level | undefined): string {
  return level ? `${level.px.padEnd(11)}${level.sz.padEnd(13)}${level.n}` : ''
}

function padded(text: string, width: number): string {
  return text.length >= width ? `${text.slice(0, width - 1)} ` : text.padEnd(width)
}
