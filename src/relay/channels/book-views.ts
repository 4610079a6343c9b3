// Channels that send the full state of a book view in the public server's shape: once at the start, then with each
// block that changes it.

import * as z from 'zod'
import { dexOf, MARKET_TYPES } from '../../core/coin.ts'
import { midsText } from '../../order-books/mids.ts'
import { BBO, levelsView, MID } from '../../order-books/view.ts'
import { CoinName, Decimal, Level, Levels, Millis } from '../../protocol/feed/block.ts'
import { Interval, MARKET, MarketTypes, marketTypesOf, rejectCoinWithTypes, sharedInterval } from '../body-fields.ts'
import { defineViewChannel, ONE_CREDIT, type ViewBody } from '../channel.ts'

const DEPTH = 20
const FAST_DEPTH = 5
const LEVELS_MS = 500
const PER_COIN = ONE_CREDIT / 2
const WILDCARD = 50 * ONE_CREDIT

const L2BookRequest = z
  .strictObject({
    type: z.literal('l2Book'),
    coin: CoinName.optional().describe('Coin. Default: every coin of `marketTypes`'),
    marketTypes: MarketTypes,
    nSigFigs: z
      .int()
      .min(2, 'must be 2, 3, 4 or 5')
      .max(5, 'must be 2, 3, 4 or 5')
      .nullable()
      .default(null)
      .describe('Significant figures for rounding and grouping prices. Default or null: no rounding'),
    mantissa: z
      .literal([1, 2, 5], 'must be 1, 2 or 5')
      .nullable()
      .default(null)
      .describe('Step of the last figure, only with `nSigFigs` 5. Default: 1'),
    fast: z.boolean().default(false).describe('Whether frames have 5 levels per side instead of 20'),
    interval: Interval.optional().describe(
      'Minimum milliseconds between frames of a coin. Default: 500; 0: every block',
    ),
  })
  .superRefine(rejectCoinWithTypes)
  .refine(({ nSigFigs, mantissa }) => mantissa === null || nSigFigs === 5, {
    path: ['mantissa'],
    message: 'is allowed only with nSigFigs 5',
  })
  .transform(({ type, coin, marketTypes, ...how }): ViewBody => {
    const { nSigFigs, mantissa, fast, interval = LEVELS_MS } = how
    const rounded = nSigFigs === null ? null : { nSigFigs, mantissa: mantissa ?? 1 }
    return {
      coins: coin === undefined ? null : [coin],
      types: coin === undefined ? marketTypesOf(marketTypes) : [],
      view: levelsView(sharedInterval(interval), fast ? FAST_DEPTH : DEPTH, rounded),
      echo: { type, ...(coin !== undefined && { coin }), ...(marketTypes && { marketTypes }), ...how },
    }
  })

/** Best levels of one market or of all markets, optionally rounded, at the requested interval. */
export const l2Book = defineViewChannel({
  type: 'l2Book',
  summary: "Best 20 or 5 levels per side, optionally rounded, in the public server's format",
  example: {
    request: { coin: 'BTC', nSigFigs: null, mantissa: null, fast: false },
    frame: {
      channel: 'l2Book',
      data: {
        coin: 'BTC',
        time: 1790000000000,
        levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], [{ px: '81308.0', sz: '1.2', n: 4 }]],
      },
    },
  },
  request: L2BookRequest,
  frame: z.object({
    channel: z.literal('l2Book'),
    data: z.object({
      coin: CoinName,
      time: Millis,
      levels: Levels,
      spread: Decimal.optional().describe('Best ask minus best bid, before rounding'),
      fast: z.literal(true).optional(),
    }),
  }),
  price: ({ coins }) => (coins === null ? WILDCARD : PER_COIN),
  by: 'coin or market type',
  isJoint: false,
  encode: ({ coin, time, text }, { echo }) => {
    const fast = echo.fast ? ',"fast":true' : ''
    return `{"channel":"l2Book","data":{"coin":${JSON.stringify(coin)},"time":${time},${text}${fast}}}`
  },
})

const Side = Level.nullable()

export const bbo = defineViewChannel({
  type: 'bbo',
  summary: "Best bid and ask of a market, in the public server's format",
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: 'bbo',
      data: {
        coin: 'BTC',
        time: 1790000000000,
        bbo: [
          { px: '81307.0', sz: '0.5', n: 2 },
          { px: '81308.0', sz: '1.2', n: 4 },
        ],
      },
    },
  },
  request: z
    .strictObject({
      type: z.literal('bbo'),
      coin: MARKET,
    })
    .transform((sent) => ({ coins: [sent.coin], types: [], view: BBO, echo: sent })),
  frame: z.object({
    channel: z.literal('bbo'),
    data: z.object({
      coin: CoinName,
      time: Millis,
      bbo: z
        .tuple([Side.describe('Best bid'), Side.describe('Best ask')])
        .describe('Best bid and best ask; null for an empty side'),
    }),
  }),
  price: ONE_CREDIT,
  by: 'coin',
  isJoint: false,
  encode: ({ coin, time, text }) =>
    `{"channel":"bbo","data":{"coin":${JSON.stringify(coin)},"time":${time},"bbo":${text}}}`,
})

const MIDS_MS = 1_000

const AllMidsRequest = z
  .strictObject({
    type: z.literal('allMids'),
    dex: z
      .string()
      .regex(/^[\x21-\x7e]{1,64}$/, 'must be a DEX name. Omit it for the main DEX')
      .optional(),
    interval: Interval.optional().describe('Minimum milliseconds between frames. Default: 1,000'),
  })
  .transform((sent): ViewBody => {
    const { dex, interval = MIDS_MS } = sent
    return { coins: null, types: MARKET_TYPES, view: MID, echo: sent, dex, everyMs: sharedInterval(interval) }
  })

/**
 * The main DEX includes spot and outcome markets. A one-sided coin shows its last trade, or is omitted before its first
 * trade.
 */
export const allMids = defineViewChannel({
  type: 'allMids',
  summary: "Mid price of every coin of a DEX, in the public server's format",
  example: {
    request: { dex: 'xyz' },
    frame: { channel: 'allMids', data: { dex: 'xyz', mids: { 'xyz:GOLD': '2650.5' } } },
  },
  request: AllMidsRequest,
  frame: z.object({
    channel: z.literal('allMids'),
    data: z.object({ dex: z.string().optional(), mids: z.record(z.string(), Decimal).describe('Mid price by coin') }),
  }),
  price: ONE_CREDIT,
  by: null,
  isJoint: true,
  encode: (pieces, { dex }) => {
    const own = pieces.filter(({ coin, text }) => text !== '' && dexOf(coin) === (dex ?? ''))
    const mids = midsText(own.map(({ coin, text }) => [coin, text]))
    return `{"channel":"allMids","data":{${dex === undefined ? '' : `"dex":${JSON.stringify(dex)},`}"mids":${mids}}}`
  },
})
