// The order book: two sides by price steps, what lies up to each price as bars, and the spread between. It is drawn when it
// changed, once a frame, and never read out: who does not see it asks for the best prices with the status. Beside it the
// depth of the whole book, drawn a few times a second since all levels are summed, and the last trades.

import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { addressWith, go, params } from '../address.dom.ts'
import { clockText, compact, fixed, priceDecimals, priceText } from './formats.ts'
import { glance } from './glance.dom.ts'
import {
  type BookRow,
  type DepthChart,
  depthChart,
  groupedRows,
  type Side,
  spreadOf,
  stepDecimals,
  stepsOf,
} from './grouped-book.ts'
import { bookTurn, coin, liveBook, played, trades } from './live-page.dom.ts'
import { Panel, Pick, unseen } from './panel.tsx'

const SHOWN = 30

export function TradePanel() {
  const past = played.value
  if (past) void bookTurn.value
  const rows = (past ? past.trades : trades.value).slice(0, SHOWN)
  return (
    <Panel name="trades" title="Trades">
      <div class="list">
        <table>
          <caption class="unseen">Last trades, newest first; times are UTC</caption>
          <thead>
            <tr>
              <th scope="col">Price</th>
              <th scope="col">Size</th>
              <th scope="col">UTC</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, px, sz, isBuy, time }) => (
              <tr key={id} class={isBuy ? 'bid' : 'ask'}>
                <td>
                  {priceText(px)}
                  <span class="unseen">{isBuy ? ' bought' : ' sold'}</span>
                </td>
                <td>{compact(sz)}</td>
                <td>{clockText(time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="foot">No trade yet.</p>}
    </Panel>
  )
}

const SIZE = { width: 600, height: 140 }
const EVERY_MS = 500
const SHARES = [0.005, 0.02, 0.1] as const
const share = signal<number>(SHARES[1])
const chart = signal<DepthChart | null>(null)

export function DepthPanel() {
  useEffect(() => {
    const draw = () => {
      if (document.visibilityState === 'hidden') return
      const levels = shownLevels()
      chart.value = levels && depthChart(levels[0], levels[1], { ...SIZE, share: share.value })
    }
    draw()
    const timer = setInterval(draw, EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const shown = chart.value
  return (
    <Panel
      name="depth"
      title="Depth"
      head={
        <Pick
          label={unseen('Distance from the middle')}
          value={share.value}
          of={SHARES}
          text={(one) => `±${one * 100} %`}
          onPick={(one) => (share.value = one)}
        />
      }
    >
      <svg
        class="outline"
        role="img"
        aria-label={
          shown
            ? `Depth from ${priceText(shown.low)} to ${priceText(shown.high)}, at most ${compact(shown.most)}`
            : 'No depth'
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
        <span>{shown ? `up to ${compact(shown.most)}` : ''}</span>
        <span>{shown ? priceText(shown.high) : ''}</span>
      </p>
    </Panel>
  )
}

const ROW = 20
const DEPTHS = [15, 30, 100] as const
/** Of the step the market's price decides, until one is chosen. */
const stepAt = computed(() => Number(params.value.get('step')) || 0)
const rowsShown = signal<number>(DEPTHS[0])
const steps = signal<readonly number[]>([])

/** The levels that are shown now; null where no book can be trusted. */
function shownLevels() {
  const past = played.value
  if (past) return past.book?.levels() ?? null
  const live = liveBook()
  if (live?.book?.live) return live.book.levels()
  return glance.value?.coin === coin.value ? glance.value.levels : null
}

export function BookPanel() {
  void bookTurn.value
  const levels = shownLevels()
  const [bids = [], asks = []] = levels ?? []
  const spread = spreadOf(bids[0], asks[0])
  if (spread) chooseSteps(spread.middle)
  const step = steps.value.includes(stepAt.value) ? stepAt.value : (steps.value[0] ?? 0)
  const most = rowsShown.value
  const below = groupedRows(bids, 'bid', step, most)
  const above = groupedRows(asks, 'ask', step, most)
  const deepest = Math.max(below.at(-1)?.total ?? 0, above.at(-1)?.total ?? 0)
  const decimals = step > 0 ? stepDecimals(step) : priceDecimals(spread?.middle ?? 1)
  return (
    <Panel
      name="book"
      title="Order book"
      head={
        <>
          <Pick
            label={unseen('Price step')}
            value={step}
            of={steps.value}
            text={(one) => fixed(one, stepDecimals(one))}
            onPick={(one) => go(addressWith({ step: String(one) }), 'replace')}
          />
          <Pick
            label={unseen('Rows of each side')}
            value={most}
            of={DEPTHS}
            text={(one) => `${one} rows`}
            onPick={(one) => (rowsShown.value = one)}
          />
        </>
      }
    >
      <div class={levels ? 'book-body' : 'book-body away'}>
        <Half side="ask" rows={above} deepest={deepest} decimals={decimals} />
        <p class="spread">
          {spread ? (
            <>
              <b class="number">{fixed(spread.middle, decimals + 1)}</b>
              <span class="number">
                spread {fixed(spread.size, priceDecimals(spread.middle))} · {fixed(spread.basisPoints, 2)} bp
              </span>
            </>
          ) : (
            <span>{levels ? 'One side is empty' : 'No book to be trusted yet'}</span>
          )}
        </p>
        <Half side="bid" rows={below} deepest={deepest} decimals={decimals} />
      </div>
      <p class="foot number">
        {bids.length + asks.length} levels: {bids.length} bids, {asks.length} asks
      </p>
    </Panel>
  )
}

interface HalfProps {
  readonly side: Side
  readonly rows: readonly BookRow[]
  readonly deepest: number
  readonly decimals: number
}

/** Asks stand worst first, so that the best of both sides meet in the middle. */
function Half({ side, rows, deepest, decimals }: HalfProps) {
  const isAbove = side === 'ask'
  const shown = isAbove ? [...rows].reverse() : rows
  /** The names of the columns stand above both sides once. */
  const head = isAbove ? 1 : 0
  return (
    <div class={`half ${side}`}>
      <svg aria-hidden="true" width="100%" height={(shown.length + head) * ROW} preserveAspectRatio="none">
        {shown.map(({ px, total }, at) => (
          <rect
            key={px}
            y={(at + head) * ROW}
            height={ROW - 1}
            width={`${deepest > 0 ? (total / deepest) * 100 : 0}%`}
          />
        ))}
      </svg>
      <table>
        <caption class="unseen">{isAbove ? 'Asks, worst first' : 'Bids, best first'}</caption>
        <thead class={isAbove ? undefined : 'unseen'}>
          <tr>
            <th scope="col">Price</th>
            <th scope="col">Size</th>
            <th scope="col">Sum</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ px, sz, total }) => (
            <tr key={px}>
              <td>{fixed(px, decimals)}</td>
              <td>{compact(sz)}</td>
              <td>{compact(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Steps follow the price by powers of ten alone: the choice does not jump while the price moves. */
function chooseSteps(middle: number): void {
  const next = stepsOf(middle)
  if (next[0] !== steps.peek()[0]) steps.value = next
}
