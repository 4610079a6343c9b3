// Computes completed trades of a wallet from stored fills and funding. Invariants: positions are not carried across
// gaps; no more fills are read than needed, up to a limit; the result states how far back it is complete.

import { afterGap, emptyTradeState, foldTrades } from '../../archive/completed-trades.ts'
import { positionSpans, withFunding, withTradeFields } from '../../archive/funding-spans.ts'
import type { CompletedTrade } from '../../archive/open-trade.ts'
import { filterTrades, type TradeFilter, type TradePosition } from '../../archive/trade-page.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Address, Fill } from '../../protocol/feed/block.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { EventRead, OpenEventHistory, Sources, TimeWindow } from '../ports.ts'
import { EVER, UNREADABLE, WINDOW_TOO_LONG } from './own-history.ts'

/** Number of fills of the first read, and of the second read if the first does not suffice. */
const [ROWS, MAX_ROWS] = [2_000, 10_000] as const
/** Maximum number of fills read for one page, including earlier fills. */
const MAX_PAGE_ROWS = 20_000

/** Trades, oldest first, and their fills. `omitted`: closed positions that are not reported. */
export interface OwnTrades {
  readonly read: EventRead
  readonly trades: readonly CompletedTrade[]
  readonly omitted: readonly TradePosition[]
  readonly fills: readonly Fill[]
}

interface TradesQuery {
  readonly user: Address
  readonly filter: TradeFilter
  readonly limit: number
}

/** The last trades that pass the filter, and all trades between them. */
export async function lastTrades(
  { user, filter, limit }: TradesQuery,
  from: Pick<Sources, 'events'>,
  rows: number = ROWS,
): Promise<Result<OwnTrades, Failure>> {
  const own = await tradesUpTo({ user, toMs: EVER }, from, rows)
  if (!own.ok || rows === MAX_ROWS) return own
  const { trades, omitted, read } = own.value
  const oldest = filterTrades(trades, filter).at(-limit)
  const isWhole = read.ended !== 'enough' || (oldest !== undefined && lastCloseMs(omitted) < oldest.close_time)
  const more = isWhole ? own : await lastTrades({ user, filter, limit }, from, MAX_ROWS)
  return more.ok ? more : own
}

/** Trades computed from the last fills of a wallet, up to a time. */
export async function tradesUpTo(
  { user, toMs }: { readonly user: Address; readonly toMs: number },
  { events }: Pick<Sources, 'events'>,
  rows: number = MAX_ROWS,
): Promise<Result<OwnTrades, Failure>> {
  const open = await openFills(user, events)
  if (!open.ok) return open
  const kept = await readRuns(open.value, { fromMs: 0, toMs, order: 'newest' }, enoughFills(rows))
  return kept.ok ? fold(user, kept.value, open.value) : kept
}

/** The first `limit` trades starting at a time; positions may have been opened earlier. */
export async function tradesFrom(
  { user, filter, limit }: TradesQuery & { readonly filter: { readonly startTime: number } },
  { events }: Pick<Sources, 'events'>,
): Promise<Result<OwnTrades, Failure>> {
  const open = await openFills(user, events)
  if (!open.ok) return open
  const few = await tradesAfter(open.value, { user, filter, limit }, ROWS)
  const isWhole = !few.ok || few.value.isFromFirst || lastCloseMs(few.value.omitted) < filter.startTime
  const more = isWhole ? few : await tradesAfter(open.value, { user, filter, limit }, MAX_ROWS)
  return more.ok ? more : few
}

async function tradesAfter(
  open: OpenEventHistory,
  { user, filter, limit }: TradesQuery & { readonly filter: { readonly startTime: number } },
  rowsBefore: number,
): Promise<Result<OwnTrades & { readonly isFromFirst: boolean }, Failure>> {
  const { startTime, endTime: toMs = EVER } = filter
  const before = await readWithReach(open, { fromMs: 0, toMs: startTime - 1, order: 'newest' }, enoughFills(rowsBefore))
  if (!before.ok) return before
  const { since, ended } = before.value
  const fromMs = ended === 'all' ? 0 : Math.min(since.time, startTime)
  const kept = await readRuns(open, { fromMs, toMs, order: 'oldest' }, enoughTrades(user, filter, limit))
  if (!kept.ok) return kept
  if (kept.value.read.ended === 'damage') return err(UNREADABLE)
  const folded = await fold(user, kept.value, open)
  if (!folded.ok) return folded
  const isPage = kept.value.read.ended === 'all' || filterTrades(folded.value.trades, filter).length >= limit
  if (!isPage) return err(WINDOW_TOO_LONG)
  return ok({ ...folded.value, read: withSince(kept.value.read, since), isFromFirst: ended !== 'enough' })
}

const openFills = (user: Address, past: Sources['events']) =>
  past.open({ kind: 'fills', scope: { by: 'user', address: user }, isFunded: true })

/** Stops after a number of fills. */
function enoughFills(rows: number): IsEnough {
  let count = 0
  return ({ fills }) => {
    count += fills.length
    return count >= rows
  }
}

/** Stops after a number of trades; funding does not affect the filter. */
function enoughTrades(user: Address, filter: TradeFilter, limit: number): IsEnough {
  const isFilled = enoughFills(MAX_PAGE_ROWS)
  let state = emptyTradeState(user)
  let trades = 0
  return (block, isAfterHole) => {
    const folded = foldTrades(isAfterHole ? afterGap(state) : state, [block])
    state = folded.state
    trades += filterTrades(folded.trades, filter).length
    return isFilled(block, isAfterHole) || trades >= limit
  }
}

/** Time of the last close; -1 if there is none. */
export function lastCloseMs(trades: readonly TradePosition[]): number {
  return trades.at(-1)?.close_time ?? -1
}

async function fold(
  user: Address,
  { runs, read }: BlockRuns,
  open: OpenEventHistory,
): Promise<Result<OwnTrades, Failure>> {
  const fills = runs.flatMap((run) => run.flatMap((block: EventBlock) => block.fills.map(([, fill]) => fill)))
  const paid = await open.funding(positionSpans(runs))
  if (!paid.ok) return paid
  let state = emptyTradeState(user)
  const omitted: TradePosition[] = []
  const trades = withFunding(runs, paid.value).flatMap((run) => {
    const folded = foldTrades(afterGap(state), run)
    state = folded.state
    omitted.push(...folded.omitted)
    return folded.trades
  })
  return ok({ read, trades, omitted, fills })
}

interface BlockRuns {
  readonly runs: readonly (readonly EventBlock[])[]
  readonly read: EventRead
}

/** True if the blocks so far suffice. */
type IsEnough = (block: EventBlock, isAfterHole: boolean) => boolean

async function readRuns(
  open: OpenEventHistory,
  window: TimeWindow,
  isEnough: IsEnough,
): Promise<Result<BlockRuns, Failure>> {
  const runs: EventBlock[][] = []
  const read = await readWithReach(open, window, (block, isAfterHole) => {
    const run = isAfterHole ? undefined : runs.at(-1)
    if (run) run.push(withTradeFields(block))
    else runs.push([withTradeFields(block)])
    return isEnough(block, isAfterHole)
  })
  if (!read.ok) return read
  if (window.order === 'newest') for (const run of runs.reverse()) run.reverse()
  return ok({ runs, read: read.value })
}

/** Reads until `isEnough`, and reports how far back the read got. */
async function readWithReach(
  open: OpenEventHistory,
  window: TimeWindow,
  isEnough: IsEnough,
): Promise<Result<EventRead, Failure>> {
  const seen: { last: HeightAndTime | null } = { last: null }
  const read = await open.read(window, (block, isAfterHole) => {
    seen.last = { height: block.height, time: block.time }
    return !isEnough(block, isAfterHole)
  })
  const isShort = read.ok && window.order === 'newest' && read.value.ended === 'enough'
  return isShort && seen.last !== null ? ok(withSince(read.value, seen.last)) : read
}

/** Returns the read with its completeness starting no earlier than `since`. */
function withSince(read: EventRead, since: HeightAndTime): EventRead {
  return since.height > read.since.height ? { ...read, since } : read
}
