// Shows the order book in price steps with cumulative sizes as bars, the depth chart, and the latest trades. The book renders
// at most once per frame, and only if it changed. The depth chart renders twice a second, because it sums all levels.

import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { navigate, params, urlWith } from '../address.dom.ts'
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
import { Panel, PanelSelect, screenReaderText } from './panel.tsx'
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
            {rows.map(({ id, px, sz, isBuy, time }) => (
              <tr key={id} class={isBuy ? 'bid' : 'ask'}>
                <td>
                  {priceText(px)}
                  <span class="unseen">{isBuy ? strings.tradesBought : strings.tradesSold}</span>
                </td>
                <td>{compactText(sz)}</td>
                <td>{clockText(time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="foot">{strings.tradesEmpty}</p>}
    </Panel>
  )
}

const SIZE = { width: 600, height: 140 }
const REDRAW_MS = 500
const SHARES = [0.005, 0.02, 0.1] as const
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

const ROW_HEIGHT = 20
const DEPTHS = [15, 30, 100] as const
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
        <BookSide side="ask" rows={above} deepest={deepest} decimals={decimals} />
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
            <span>{levels ? strings.bookOneSided : strings.bookSyncing}</span>
          )}
        </p>
        <BookSide side="bid" rows={below} deepest={deepest} decimals={decimals} />
      </div>
      <p class="foot number">{strings.bookLevels(fixedText(bids.length, 0), fixedText(asks.length, 0))}</p>
    </Panel>
  )
}

interface BookSideProps {
  readonly side: Side
  readonly rows: readonly BookRow[]
  readonly deepest: number
  readonly decimals: number
}

/** Asks are listed from the highest, so that the best prices of both sides meet in the middle. */
function BookSide({ side, rows, deepest, decimals }: BookSideProps) {
  const isAbove = side === 'ask'
  const shown = isAbove ? [...rows].reverse() : rows
  /** True only for the upper side, which has the column headings. */
  const head = isAbove ? 1 : 0
  return (
    <div class={`half ${side}`}>
      <svg aria-hidden="true" width="100%" height={(shown.length + head) * ROW_HEIGHT} preserveAspectRatio="none">
        {shown.map(({ px, total }, at) => (
          <rect
            key={px}
            y={(at + head) * ROW_HEIGHT}
            height={ROW_HEIGHT - 1}
            width={`${deepest > 0 ? (total / deepest) * 100 : 0}%`}
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
          {shown.map(({ px, sz, total }) => (
            <tr key={px}>
              <td>{fixedText(px, decimals)}</td>
              <td>{compactText(sz)}</td>
              <td>{compactText(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Steps change only by powers of ten, so the choice stays stable while the price moves. */
function updateSteps(middle: number): void {
  const next = priceSteps(middle)
  if (next[0] !== steps.peek()[0]) steps.value = next
}
