// The state and the rendering of `npx weir watch`: order books with depth bars, the latest fills and the result of comparisons;
// or JSON lines for a pipe.

import type { Step } from '../client/api.ts'
import type { SnapshotBook } from '../client/snapshot-book.ts'
import type { Verdict } from '../client/step-check.ts'
import type { ChannelTypes } from '../client/wire.ts'
import { fromScaled, toScaled } from '../core/decimal.ts'
import { visible } from '../core/visible.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'

/** A live book has a sequence number and can be lost; a replayed one has neither. */
type ShownBook = Pick<SnapshotBook, 'coin' | 'height' | 'time' | 'levels'> & {
  readonly live?: boolean
  readonly seq?: number
}

const FILLS_MAX = 50
const DEPTH = 10

interface Row {
  book: ShownBook | null
  /** Sync state by checksums and sequence numbers. */
  step: Step
  note: string
  /** Result of the last comparison. */
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
        return [
          coin,
          { book: null, step: 'syncing', note: 'waiting for the order book', verdict: '', fills: 0 },
        ] as const
      }),
    )
  }

  /** Whether the coin ever had a book. */
  hasBook(coin: string): boolean {
    return this.#rows.get(coin)?.book != null
  }

  updateBook(book: ShownBook): void {
    const row = this.#rows.get(book.coin)
    if (row) row.book = book
  }

  /** Sets the sync state of a coin, or of the stream if null. */
  updateStep(coin: string | null, step: Step, why: string): void {
    if (coin === null) this.#step = step
    const row = this.#rows.get(coin ?? '')
    if (!row) return
    row.step = step
    row.note = `${step}: ${why}`
    if (step === 'out of step') row.verdict = ''
  }

  addFill(fill: ChannelTypes['allFills']['frame']['fills'][number][1]): void {
    const row = this.#rows.get(fill.coin)
    if (!row) return
    row.fills++
    const what = `${fill.coin.padEnd(8)}  ${fill.dir.padEnd(13)}${fill.sz.padStart(12)} @ ${fill.px}`
    this.#fills.push(`${clockOf(fill.time)}  ${what}`)
    if (this.#fills.length > FILLS_MAX) this.#fills.shift()
  }

  /** Records a comparison and returns its line. */
  recordVerdict(coin: string, verdict: Verdict): string {
    const line = verdictLine(coin, verdict)
    const row = this.#rows.get(coin)
    if (row) row.verdict = line
    return line
  }

  screen(): ScreenState {
    const coins = [...this.#rows].map(([coin, { book, note, step, verdict }]) => {
      return { coin, note, step, verdict, book: viewOf(book) }
    })
    return { status: `${this.status}, ${this.#step}`, coins, fills: this.#fills }
  }

  /** One JSON line per coin. */
  lines(nowMs: number): string[] {
    return [...this.#rows].map(([coin, { book, step, note, fills }]) => {
      const view = viewOf(book)
      if (!view) return JSON.stringify({ coin, live: false, step, note, status: this.status, fills })
      const { height, seq, levels, timeMs } = view
      const [[bid], [ask]] = levels
      const best = { bid: bid?.px ?? null, ask: ask?.px ?? null, spread: spreadOf(levels) }
      const depth = levels.map(({ length }) => length)
      return JSON.stringify({ coin, live: true, step, height, seq, ...best, ageMs: nowMs - timeMs, depth, fills })
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

interface CoinState {
  readonly coin: string
  /** Null while out of step; then `note` says why. */
  readonly book: ReturnType<typeof viewOf>
  readonly note: string
  /** Sync state by checksums and sequence numbers. */
  readonly step: string
  /** Result of the last comparison with the server. */
  readonly verdict: string
}

export interface ScreenState {
  readonly status: string
  readonly coins: readonly CoinState[]
  /** Newest last. */
  readonly fills: readonly string[]
}

const PANEL_WIDTH = 60
const BAR_WIDTH = 8
/** Bars are shown only if there is room for them in addition to all panels. */
const BARRED_WIDTH = PANEL_WIDTH + 2 * BAR_WIDTH + 2
const FILLS_MIN = 3
/** Lines of a panel in addition to the levels: title, comparison, header, blank. */
const PANEL_FRAME = 4

/** Exact difference between best ask and best bid; null while a side is empty. */
export function spreadOf(levels: Levels): string | null {
  const bid = levels[0][0]
  const ask = levels[1][0]
  return bid && ask ? fromScaled(toScaled(ask.px) - toScaled(bid.px)) : null
}

interface Terminal {
  readonly columns: number
  readonly rows: number
  readonly isColored: boolean
}

/** The screen as at most `rows` lines of at most `columns` characters. */
export function renderScreen(watched: ScreenState, { columns, rows, isColored }: Terminal, nowMs: number): string[] {
  const across = Math.max(1, Math.min(watched.coins.length, Math.floor(columns / PANEL_WIDTH)))
  const hasBars = across * BARRED_WIDTH <= columns
  const width = hasBars ? BARRED_WIDTH : PANEL_WIDTH
  const down = Math.ceil(watched.coins.length / across)
  const room = Math.floor((rows - 2 - FILLS_MIN) / down) - PANEL_FRAME
  const depth = Math.max(1, Math.min(DEPTH, room))
  const lines: Line[] = [[{ text: watched.status, color: 'soft' }]]
  for (let first = 0; first < watched.coins.length; first += across) {
    const panels = watched.coins.slice(first, first + across).map((coin) => panelOf(coin, { depth, hasBars, nowMs }))
    for (let i = 0; i < depth + PANEL_FRAME; i++)
      lines.push(panels.flatMap((panel) => paddedLine(panel[i] ?? [], width)))
  }
  const fills = watched.fills.slice(-Math.max(FILLS_MIN, rows - lines.length - 1)).toReversed()
  lines.push([{ text: 'fills', color: 'soft' }], ...fills.map((text) => [{ text }]))
  return lines.slice(0, rows).map((line) => renderLine(line, columns, isColored))
}

interface PanelForm {
  readonly depth: number
  readonly hasBars: boolean
  readonly nowMs: number
}

function panelOf({ coin, book, note, step, verdict }: CoinState, { depth, hasBars, nowMs }: PanelForm): Line[] {
  const comparison: Line = [{ text: verdict, color: colorOf(verdict) }]
  const name: StyledText = { text: coin, color: 'bold' }
  if (!book) return [[name, { text: `  ${note}`, color: colorOf(note) }], comparison]
  const [bids, asks] = book.levels
  const margin = hasBars ? ' '.repeat(BAR_WIDTH + 1) : ''
  const title: Line = [
    name,
    { text: `  ${step}`, color: colorOf(step) },
    { text: `  spread ${spreadOf(book.levels) ?? '-'}  height ${book.height}  age ${nowMs - book.timeMs} ms` },
  ]
  const header = `${margin}${'n'.padStart(4)}${'size'.padStart(13)}${'bid'.padStart(11)}   ${'ask'.padEnd(11)}${'size'.padEnd(13)}n`
  const sums = [summed(bids.slice(0, depth)), summed(asks.slice(0, depth))] as const
  const max = Math.max(...sums[0], ...sums[1])
  const rows = Array.from({ length: depth }, (_, i): Line => {
    const bid = bids[i]
    const ask = asks[i]
    const barOf = (side: 0 | 1) => bar((sums[side][i] ?? 0) / max)
    return [
      { text: hasBars ? `${barOf(0).padStart(BAR_WIDTH)} ` : '', color: 'good' },
      { text: bidText(bid) },
      { text: bid?.px.padStart(11) ?? ' '.repeat(11), color: 'good' },
      { text: '   ' },
      { text: ask?.px.padEnd(11) ?? ' '.repeat(11), color: 'bad' },
      { text: askText(ask) },
      { text: hasBars ? ` ${barOf(1)}` : '', color: 'bad' },
    ]
  })
  return [title, comparison, [{ text: header, color: 'soft' }], ...rows]
}

function colorOf(step: string) {
  if (step.startsWith('in step')) return 'good'
  return step.startsWith('out of step') ? 'bad' : 'soft'
}

/** Cumulative sizes; a float is precise enough for bars. */
function summed(side: readonly Level[]): number[] {
  let sum = 0
  return side.map(({ sz }) => (sum += Number(sz)))
}

/** A bar for a share of the deepest level. */
const bar = (part: number) => '█'.repeat(Math.round((Number.isFinite(part) ? part : 0) * BAR_WIDTH))

function bidText(level: Level | undefined): string {
  return level ? `${String(level.n).padStart(4)}${level.sz.padStart(13)}` : ' '.repeat(17)
}

function askText(level: Level | undefined): string {
  return level ? `${level.sz.padEnd(13)}${String(level.n).padEnd(4)}` : ' '.repeat(17)
}

type Color = 'good' | 'bad' | 'soft' | 'bold'
interface StyledText {
  readonly text: string
  readonly color?: Color | undefined
}
type Line = readonly StyledText[]

/** ANSI codes: green, red, faint, bold. */
const CODES: Readonly<Record<Color, number>> = { good: 32, bad: 31, soft: 2, bold: 1 }

/** A line cut to the width of the terminal, with ANSI colors if enabled. */
function renderLine(line: Line, columns: number, isColored: boolean): string {
  let room = columns
  const parts = cutEnd(line).map(({ text, color }) => {
    const seen = visible(text).slice(0, Math.max(0, room))
    room -= seen.length
    return isColored && color !== undefined && seen.trim() !== '' ? `\x1b[${CODES[color]}m${seen}\x1b[0m` : seen
  })
  return parts.join('')
}

/** Padded to a width; longer text is cut and ends in one space. */
function paddedLine(line: Line, width: number): Line {
  const parts: StyledText[] = []
  let room = width - 1
  for (const { text, color } of line) {
    parts.push({ text: text.slice(0, room), color })
    room -= Math.min(room, text.length)
  }
  return [...parts, { text: ' '.repeat(room + 1) }]
}

/** Without trailing spaces. */
function cutEnd(line: Line): Line {
  const end = line.findLastIndex(({ text }) => text.trimEnd() !== '')
  return line.slice(0, end + 1).map((piece, at) => (at === end ? { ...piece, text: piece.text.trimEnd() } : piece))
}
