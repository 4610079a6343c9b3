// Shows the order book in price steps with cumulative sizes as bars, the depth chart, and the latest trades. The book renders
// at most once per frame, and only if it changed. The depth chart renders twice a second, because it sums all levels.
// Invariant: the number of rows is fixed, and rows are never moved, so that nothing on the page shifts.

import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { navigate, params, urlWith } from '../address.dom.ts'
import { CopyPrice } from './copy-price.tsx'
import { clockText, compactText, fixedText, priceDecimals, priceText } from './formats.ts'
import { glance } from './glance.dom.ts'
import {
  type BookRow,
  type DepthChart,
  depthChart,
  groupedRows,
  priceSteps,
  type Side,
  spreadOf,
  stepDecimals,
} from './grouped-book.ts'
import { bookVersion, coin, liveBook, replay, trades } from './live-page.dom.ts'
import { EmptyRow, Panel, PanelSelect, screenReaderText } from './panel.tsx'
import type { Trade } from './recent.ts'
import * as strings from './strings.ts'

const TRADES_SHOWN = 30

export function TradePanel() {
  const past = replay.value
  if (past) void bookVersion.value
  const rows = (past ? past.trades : trades.value).slice(0, TRADES_SHOWN)
  return (
    <Panel name="trades" title={strings.tradesTitle}>
      <div class="list">
        <table>
          <caption class="unseen">{strings.tradesTable}</caption>
          <thead>
            <tr>
              <th scope="col">{strings.bookColumnsPrice}</th>
              <th scope="col">{strings.bookColumnsSize}</th>
              <th scope="col">{strings.tradesColumnsTime}</th>
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: TRADES_SHOWN }, (_, at) => (
              <TradeRow key={at} trade={rows[at]} isFirst={at === 0} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="blank">{strings.tradesEmpty}</p>}
    </Panel>
  )
}

function TradeRow({ trade, isFirst }: { readonly trade: Trade | undefined; readonly isFirst: boolean }) {
  if (!trade) return <EmptyRow />
  const { px, sz, isBuy, time } = trade
  return (
    <tr class={isBuy ? 'bid' : 'ask'}>
      <td>
        <CopyPrice price={String(px)} text={priceText(px)} isFirst={isFirst} />
        <span class="unseen">{isBuy ? strings.tradesBought : strings.tradesSold}</span>
      </td>
      <td>{compactText(sz)}</td>
      <td>{clockText(time)}</td>
    </tr>
  )
}

const SIZE = { width: 600, height: 140 }
const REDRAW_MS = 500
const SHARES = [0.005, 0.01, 0.02, 0.1] as const
const share = signal<number>(SHARES[1])
const depth = signal<DepthChart | null>(null)

export function DepthPanel() {
  useEffect(() => {
    const draw = () => {
      if (document.visibilityState === 'hidden') return
      const levels = visibleLevels()
      depth.value = levels && depthChart(levels[0], levels[1], { ...SIZE, share: share.value })
    }
    draw()
    const timer = setInterval(draw, REDRAW_MS)
    return () => clearInterval(timer)
  }, [])
  const shown = depth.value
  return (
    <Panel
      name="depth"
      title={strings.depthTitle}
      head={
        <PanelSelect
          label={screenReaderText(strings.depthRange)}
          value={share.value}
          options={SHARES}
          text={strings.depthPercent}
          onSelect={(one) => (share.value = one)}
        />
      }
    >
      <svg
        class="outline"
        role="img"
        aria-label={
          shown
            ? strings.depthChart(priceText(shown.low), priceText(shown.high), compactText(shown.maxTotal))
            : strings.depthNone
        }
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        preserveAspectRatio="none"
      >
        {shown && (
          <>
            <path class="bid" d={shown.bids} />
            <path class="ask" d={shown.asks} />
          </>
        )}
      </svg>
      <p class="foot number">
        <span>{shown ? priceText(shown.low) : ''}</span>
        <span>{shown ? strings.depthMax(compactText(shown.maxTotal)) : ''}</span>
        <span>{shown ? priceText(shown.high) : ''}</span>
      </p>
    </Panel>
  )
}

const ROW_HEIGHT = 24
const DEPTHS = [12, 25, 100] as const
/** 0 until the visitor chooses a step. While it is 0, the finest step for the price applies. */
const chosenStep = computed(() => Number(params.value.get('step')) || 0)
const rowsShown = signal<number>(DEPTHS[0])
const steps = signal<readonly number[]>([])

/** The levels to show; null while no book is verified. */
function visibleLevels() {
  const past = replay.value
  if (past) return past.book?.levels() ?? null
  const live = liveBook()
  if (live?.book?.live) return live.book.levels()
  return glance.value?.coin === coin.value ? glance.value.levels : null
}

export function BookPanel() {
  void bookVersion.value
  const levels = visibleLevels()
  const [bids = [], asks = []] = levels ?? []
  const spread = spreadOf(bids[0], asks[0])
  if (spread) updateSteps(spread.middle)
  const step = steps.value.includes(chosenStep.value) ? chosenStep.value : (steps.value[0] ?? 0)
  const max = rowsShown.value
  const below = groupedRows(bids, 'bid', step, max)
  const above = groupedRows(asks, 'ask', step, max)
  const deepest = Math.max(below.at(-1)?.total ?? 0, above.at(-1)?.total ?? 0)
  const decimals = step > 0 ? stepDecimals(step) : priceDecimals(spread?.middle ?? 1)
  return (
    <Panel
      name="book"
      title={strings.bookTitle}
      head={
        <>
          <PanelSelect
            label={screenReaderText(strings.bookStep)}
            value={step}
            options={steps.value}
            text={(one) => fixedText(one, stepDecimals(one))}
            onSelect={(one) => navigate(urlWith({ step: String(one) }), 'replace')}
          />
          <PanelSelect
            label={screenReaderText(strings.bookRowsPerSide)}
            value={max}
            options={DEPTHS}
            text={strings.bookRows}
            onSelect={(one) => (rowsShown.value = one)}
          />
        </>
      }
    >
      <div class={levels ? 'book-body' : 'book-body away'}>
        <BookSide side="ask" rows={above} count={max} deepest={deepest} decimals={decimals} />
        <p class="spread">
          {spread ? (
            <>
              <b class="number">{fixedText(spread.middle, decimals + 1)}</b>
              <span class="number">
                {strings.bookSpread(
                  fixedText(spread.size, priceDecimals(spread.middle)),
                  fixedText(spread.basisPoints, 2),
                )}
              </span>
            </>
          ) : (
            <span>{levels ? strings.bookOneSided : bookNote()}</span>
          )}
        </p>
        <BookSide side="bid" rows={below} count={max} deepest={deepest} decimals={decimals} />
      </div>
      <p class="foot number">{strings.bookLevels(fixedText(bids.length, 0), fixedText(asks.length, 0))}</p>
    </Panel>
  )
}

/** Text of a panel without a book. */
function bookNote(): string {
  const state = replay.value ? null : liveBook()?.state
  return state === 'gone' || state === 'refused' ? strings.BOOK_STATES[state] : strings.bookSyncing
}

interface BookSideProps {
  readonly side: Side
  readonly rows: readonly BookRow[]
  /** Number of rows, whether or not the book has as many. */
  readonly count: number
  readonly deepest: number
  readonly decimals: number
}

/** Asks are listed from the highest, so that the best prices of both sides meet in the middle. */
function BookSide({ side, rows, count, deepest, decimals }: BookSideProps) {
  const isAbove = side === 'ask'
  const slots: (BookRow | undefined)[] = Array.from({ length: count }, (_, at) => rows[at])
  const shown = isAbove ? slots.reverse() : slots
  /** True only for the upper side, which has the column headings. */
  const head = isAbove ? 1 : 0
  return (
    <div class={`half ${side}`}>
      <svg aria-hidden="true" width="100%" height={(shown.length + head) * ROW_HEIGHT} preserveAspectRatio="none">
        {shown.map((row, at) => (
          <rect
            key={at}
            y={(at + head) * ROW_HEIGHT}
            height={ROW_HEIGHT - 1}
            width={`${row && deepest > 0 ? (row.total / deepest) * 100 : 0}%`}
          />
        ))}
      </svg>
      <table>
        <caption class="unseen">{isAbove ? strings.bookAsks : strings.bookBids}</caption>
        <thead class={isAbove ? undefined : 'unseen'}>
          <tr>
            <th scope="col">{strings.bookColumnsPrice}</th>
            <th scope="col">{strings.bookColumnsSize}</th>
            <th scope="col">{strings.bookColumnsTotal}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <LevelRow key={at} row={row} decimals={decimals} isFirst={row !== undefined && row === rows[0]} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface LevelRowProps {
  readonly row: BookRow | undefined
  readonly decimals: number
  /** Best price of its side. */
  readonly isFirst: boolean
}

function LevelRow({ row, decimals, isFirst }: LevelRowProps) {
  if (!row) return <EmptyRow />
  return (
    <tr>
      <td>
        <CopyPrice price={row.px.toFixed(decimals)} text={fixedText(row.px, decimals)} isFirst={isFirst} />
      </td>
      <td>{compactText(row.sz)}</td>
      <td>{compactText(row.total)}</td>
    </tr>
  )
}

/** Steps change only by powers of ten, so the choice stays stable while the price moves. */
function updateSteps(middle: number): void {
  const next = priceSteps(middle)
  if (next[0] !== steps.peek()[0]) steps.value = next
}
