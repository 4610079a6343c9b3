// Tools about markets: search, overview, order book, slippage, candles, trades, funding.

import Big from 'big.js'
import * as z from 'zod'
import { INTERVAL_MS, INTERVALS } from '../../core/candle-interval.ts'
import { dexOf, marketTypeOf } from '../../core/coin.ts'
import { UNSIGNED_DECIMAL } from '../../core/decimal.ts'
import { ok } from '../../core/result.ts'
import { DAY_MS } from '../../core/time.ts'
import { foundMarkets, marketsOf, type PerpListing, type SpotListing } from './market-search.ts'
import { type Answer, badArgument, defineTool, PAGED } from './tool.ts'
import { Coin, End, Fields, list, PastHeight, PastTime, Px, startOr, UNTRUSTED } from './tool-fields.ts'

const bodyOf = <T>(answers: readonly Answer[], index: number) => answers[index]?.body as T

const UNKNOWN_COIN = 'is unknown to the exchange. find_market lists the names'

interface Level {
  readonly px: string
  readonly sz: string
  readonly n: number
}

interface Book {
  readonly time: number
  readonly height?: number
  readonly levels: readonly [bids: readonly Level[], asks: readonly Level[]]
}

type MarketData = Readonly<Record<string, string | null>> & { readonly coin?: string }

export const findMarket = defineTool({
  name: 'find_market',
  title: 'Find a market',
  description: `Finds perps and spot pairs by symbol, company or keyword, such as "BTC", "gold" or "nvidia". Use it first: other tools need the exact name in "coin". Names, categories and keywords of a market are ${UNTRUSTED}.`,
  price: '3 credits',
  input: { query: z.string().min(1).max(64).describe('Symbol, company or keyword'), ...PAGED },
  output: {
    markets: list(
      `Best match first: coin, kind, dex, and if known name, category, keywords (${UNTRUSTED}), max_leverage`,
    ),
    matches: z.number().describe('Number of matches'),
  },
  requests: () => [
    { info: { type: 'allPerpMetas' } },
    { info: { type: 'spotMeta' } },
    { info: { type: 'perpConciseAnnotations' } },
  ],
  result: (answers, { query }) => {
    const all = marketsOf(
      bodyOf<readonly PerpListing[]>(answers, 0),
      bodyOf<SpotListing>(answers, 1),
      bodyOf<readonly [string, object][]>(answers, 2),
    )
    const markets = foundMarkets(all, query)
    return ok({ fields: { matches: markets.length }, list: { name: 'markets', rows: markets } })
  },
})

const isSpot = (coin: string) => marketTypeOf(coin) === 'spot'

/** Market data of a coin, in the order of its listing. */
function dataOf(coin: string, body: unknown): MarketData | undefined {
  const [listing, data] = body as [PerpListing, readonly MarketData[]]
  if (isSpot(coin)) return data.find((each) => each.coin === coin)
  return data[listing.universe.findIndex(({ name }) => name === coin)]
}

function dayChange(now: string | null | undefined, before: string | null | undefined): string | null {
  if (!now || !before || new Big(before).eq(0)) return null
  return new Big(now).minus(before).div(before).times(100).round(4).toFixed()
}

export const marketOverview = defineTool({
  name: 'market_overview',
  title: 'Market overview',
  description:
    'Current prices of one perp or spot pair: mark, oracle, mid, best bid and ask, change over 24 hours, volume, and for perps funding per hour and open interest.',
  price: '2 credits',
  input: { coin: Coin },
  output: {
    coin: z.string(),
    mark_px: Px,
    mid_px: Px,
    oracle_px: Px.describe('Perps only'),
    best_bid: Fields.nullable(),
    best_ask: Fields.nullable(),
    day_change_percent: Px,
    day_volume_usd: Px.describe('Volume over 24 hours, in the quote token'),
    funding_per_hour: Px.describe('Funding rate per hour as a fraction; perps only'),
    open_interest: Px.describe('In units of the coin; perps only'),
  },
  requests: ({ coin }) => [
    isSpot(coin)
      ? { info: { type: 'spotMetaAndAssetCtxs' } }
      : { info: { type: 'metaAndAssetCtxs', dex: dexOf(coin) } },
    { info: { type: 'l2Book', coin } },
  ],
  result: (answers, { coin }) => {
    const data = dataOf(coin, bodyOf(answers, 0))
    const book = bodyOf<Book | null>(answers, 1)
    if (data === undefined) return badArgument('coin', UNKNOWN_COIN)
    const perp = isSpot(coin)
      ? {}
      : { oracle_px: data.oraclePx, funding_per_hour: data.funding, open_interest: data.openInterest }
    const fields = {
      coin,
      mark_px: data.markPx ?? null,
      mid_px: data.midPx ?? null,
      best_bid: book?.levels[0][0] ?? null,
      best_ask: book?.levels[1][0] ?? null,
      previous_day_px: data.prevDayPx ?? null,
      day_change_percent: dayChange(data.markPx, data.prevDayPx),
      day_volume_usd: data.dayNtlVlm ?? null,
      ...perp,
      ...(book && { time: book.time }),
    }
    return ok({ fields })
  },
})

const DEPTH_OF_L2_BOOK = 20
const DEFAULT_DEPTH = 10
/** Two sides fit into a result of the default size. */
const MAX_DEPTH = 70

export const orderBook = defineTool({
  name: 'order_book',
  title: 'Order book',
  description:
    'Best levels of an order book, now, or after a past block or at a past time. Bids descend and asks ascend; n is the number of orders of a level. A past book needs the archive; archive_coverage shows its heights and times.',
  price: '1 credit now, 10 credits at a height or time',
  input: {
    coin: Coin,
    depth: z.int().min(1).max(MAX_DEPTH).optional().describe('Levels per side; default 10'),
    height: PastHeight,
    time: PastTime,
  },
  output: {
    coin: z.string(),
    time: z.number(),
    height: z.number().describe('Block of the book, if it is known'),
    mid_px: Px,
    spread: Px,
    bids: list('px, sz and n of each level, best first'),
    asks: list('px, sz and n of each level, best first'),
  },
  requests: ({ coin, depth = DEFAULT_DEPTH, height, time }) => [
    height === undefined && time === undefined && depth <= DEPTH_OF_L2_BOOK
      ? { info: { type: 'l2Book', coin } }
      : { info: { type: 'l2BookDiffSnapshot', coin, block_height: height, time } },
  ],
  result: (answers, { coin, depth = DEFAULT_DEPTH, height, time }) => {
    const book = bodyOf<Book | null>(answers, 0)
    if (book === null)
      return badArgument('coin', height === undefined && time === undefined ? UNKNOWN_COIN : 'had no order book then')
    const [bids, asks] = book.levels
    const bid = bids[0]?.px
    const ask = asks[0]?.px
    const hasBoth = bid !== undefined && ask !== undefined
    const fields = {
      coin,
      time: book.time,
      ...(book.height === undefined ? {} : { height: book.height }),
      mid_px: hasBoth ? new Big(bid).plus(ask).div(2).toFixed() : null,
      spread: hasBoth ? new Big(ask).minus(bid).toFixed() : null,
      bids: bids.slice(0, depth),
      asks: asks.slice(0, depth),
    }
    return ok({ fields })
  },
})

export const slippage = defineTool({
  name: 'slippage',
  title: 'Slippage of a market order',
  description:
    'Average price, worst price and slippage that a market order would have, from every level of the order book, now or after a past block. A size that the book cannot fill is reported as unfilledSz. It sends no order.',
  price: '1 credit now, 10 credits at a height',
  input: {
    coin: Coin,
    side: z.enum(['buy', 'sell']),
    size: z
      .string()
      .max(64)
      .regex(UNSIGNED_DECIMAL, 'must be a decimal string such as "0.5"')
      .describe('Size of the order in units of the coin, as a decimal string such as "0.5"'),
    height: PastHeight,
  },
  output: {
    mid: Px,
    avgPx: Px,
    worstPx: Px,
    filledSz: z.string(),
    unfilledSz: z.string(),
    notional: z.string(),
    slippageBps: Px.describe('Cost against the mid price in basis points'),
  },
  requests: ({ coin, side, size, height }) => [
    { info: { type: 'x_slippage', coin, side: side === 'buy' ? 'B' : 'A', sz: size, height } },
  ],
  result: (answers) => ok({ fields: bodyOf<Readonly<Record<string, unknown>>>(answers, 0) }),
})

const DEFAULT_CANDLES = 100
const MONTH_MS = 31 * DAY_MS

interface Candle {
  readonly t: number
  readonly o: string
  readonly h: string
  readonly l: string
  readonly c: string
  readonly v: string
  readonly n: number
}

export const candles = defineTool({
  name: 'candles',
  title: 'Candles',
  description:
    'Open, high, low, close, volume and number of trades of a market, oldest first. The newest candle may be unfinished.',
  price: '1 credit',
  input: {
    coin: Coin,
    interval: z.enum(INTERVALS),
    startTime: startOr(`${DEFAULT_CANDLES} intervals before endTime`),
    endTime: End,
    ...PAGED,
  },
  output: { candles: list('time (of the open), open, high, low, close, volume, trades') },
  requests: ({ coin, interval, startTime, endTime }, { nowMs }) => {
    const end = endTime ?? nowMs
    const start = startTime ?? Math.max(0, end - DEFAULT_CANDLES * (INTERVAL_MS[interval] ?? MONTH_MS))
    return [{ info: { type: 'candleSnapshot', req: { coin, interval, startTime: start, endTime: end } } }]
  },
  result: (answers, { coin, interval }) => {
    const rows = bodyOf<readonly Candle[]>(answers, 0).map(({ t, o, h, l, c, v, n }) => {
      return { time: t, open: o, high: h, low: l, close: c, volume: v, trades: n }
    })
    return ok({ fields: { coin, interval }, list: { name: 'candles', rows } })
  },
})

const TRADES_MAX = 30

export const trades = defineTool({
  name: 'trades',
  title: 'Latest trades',
  description:
    'Latest trades of a market, newest first. side is that of the taker: B buy, A sell; users are buyer and seller.',
  price: '1 credit',
  input: {
    coin: Coin,
    rows: z.int().min(1).max(TRADES_MAX).optional().describe('Number of trades; default 10'),
    ...PAGED,
  },
  output: { trades: list('side, px, sz, time, tid, users') },
  requests: ({ coin, rows }) => [{ info: { type: 'recentTrades', coin, rows } }],
  result: (answers, { coin }) => {
    const rows = bodyOf<readonly { coin: string; hash: string }[]>(answers, 0)
    return ok({ fields: { coin }, list: { name: 'trades', rows: rows.map(({ coin: _, hash: __, ...row }) => row) } })
  },
})

const FUNDING_DAYS = 7

export const funding = defineTool({
  name: 'funding',
  title: 'Funding rates',
  description:
    'Past hourly funding rates of a perp, oldest first, as fractions: positive when longs pay shorts. At most 500 hours per call. market_overview has the current rate.',
  price: '1 credit',
  input: { coin: Coin, startTime: startOr(`${FUNDING_DAYS} days before endTime`), endTime: End, ...PAGED },
  output: { rates: list('time, fundingRate, premium') },
  requests: ({ coin, startTime, endTime }, { nowMs }) => {
    const end = endTime ?? nowMs
    const start = startTime ?? Math.max(0, end - FUNDING_DAYS * DAY_MS)
    return [{ info: { type: 'fundingHistory', coin, startTime: start, endTime: end } }]
  },
  result: (answers, { coin }) => {
    const rows = bodyOf<readonly { coin: string }[]>(answers, 0).map(({ coin: _, ...row }) => row)
    return ok({ fields: { coin }, list: { name: 'rates', rows } })
  },
})
