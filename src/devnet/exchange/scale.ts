// The size of the exchange: its markets, the depth of its books, and the activity per block. All sizes and rates that
// differ between the small exchange of `npm start` and a full-size one are defined here.

import * as z from 'zod'
import { ALL_MARKETS, DEX_NAMES, DEXES, MARKETS, type Market, TOKEN_NAMES, TOKENS } from './market.ts'
import type { Stream } from './node-block.ts'

/** A distribution as points `[share, value]`: this share of draws is at most the value. Shares rise from 0 to 1. */
export type Quantiles = readonly (readonly [share: number, value: number])[]

/** The crowd's orders, which give a large exchange its depth, and their changes. */
export interface CrowdScale {
  /** Wallets that own the crowd's orders; each has a position in every perp. */
  readonly wallets: number
  /** Total number of resting orders and of price levels, over all coins. */
  readonly orders: number
  readonly levels: number
  /** Depth of the first market, included in the totals. */
  readonly first: { readonly bids: Depth; readonly asks: Depth }
  /** Number of raw book diffs per block, of all coins and of the first market. */
  readonly diffs: Quantiles
  readonly firstDiffs: Quantiles
  /** Rejected orders per raw book diff. */
  readonly refusedPerDiff: number
}

interface Depth {
  readonly orders: number
  readonly levels: number
}

/** Name of a scale on the command line. */
export const ScaleName = z.enum(['small', 'mainnet'], 'must be small or mainnet')

export interface Scale {
  readonly name: z.infer<typeof ScaleName>
  readonly markets: readonly Market[]
  readonly dexes: readonly string[]
  readonly tokens: readonly string[]
  /** Time between two blocks. */
  readonly blockMs: number
  readonly fundingBlocks: number
  /** Maximum size of a stream's files, MB. */
  readonly keepMb: number
  /** Delay between a block's time and the writing of its lines, in ms; null if there is none. */
  readonly writeDelayMs: Quantiles | null
  /** True if small remainders of tokens are converted to USDC, which creates fills that have no counterparty. */
  readonly dusting: boolean
  /** Number of heights that are written again at a restart after a kill. */
  readonly rewritten: number
  /** True if there are market makers with ladders on both sides. The large exchange has the crowd instead. */
  readonly makers: boolean
  /** Chance per block, in millionths, of a taker's order: for the first markets, by id, and for every other market. */
  readonly takersPpm: readonly number[]
  readonly otherTakersPpm: number
  /** Chances per block per market, in millionths: that a burst starts, and that the price jumps. */
  readonly burstPpm: number
  readonly jumpPpm: number
  /** Rows of history kept per wallet. */
  readonly history: number
  /** True if charts have a day before the first block. It would take too much memory for hundreds of markets. */
  readonly hasPast: boolean
  /** Number of blocks per stream that are loaded into the history after a restart. */
  readonly recalled: Readonly<Partial<Record<Stream, number>>>
  readonly crowd: CrowdScale | null
}

/** The exchange of `npm start`. Funding is paid about every minute, often enough to be observed. */
export const SMALL: Scale = {
  name: 'small',
  markets: MARKETS,
  dexes: DEXES,
  tokens: TOKENS,
  blockMs: 70,
  fundingBlocks: 857,
  keepMb: 64,
  writeDelayMs: null,
  dusting: false,
  rewritten: 0,
  makers: true,
  takersPpm: [350_000, 250_000, 200_000],
  otherTakersPpm: 40_000,
  burstPpm: 600,
  jumpPpm: 100,
  history: 2_000,
  hasPast: true,
  // About twelve minutes of most streams, and less of the statuses, whose lines are long.
  recalled: { node_fills_by_block: 10_000, node_order_statuses_by_block: 2_000, misc_events_by_block: 10_000 },
  crowd: null,
}

/**
 * The real exchange as recorded from one node in May 2026: 51 consecutive blocks of the first market with its book, the
 * number of diffs of all coins in each block, and the delay between a block and its lines. The coins and totals are
 * those of autumn 2026. The depth of the other coins was not recorded and is estimated.
 */
export const MAINNET: Scale = {
  name: 'mainnet',
  markets: ALL_MARKETS,
  dexes: DEX_NAMES,
  tokens: TOKEN_NAMES,
  blockMs: 69,
  fundingBlocks: 52_200,
  keepMb: 256,
  writeDelayMs: [
    [0, 324],
    [0.5, 370],
    [0.9, 403],
    [1, 578],
  ],
  dusting: true,
  rewritten: 5,
  makers: false,
  takersPpm: [150_000, 100_000, 60_000],
  otherTakersPpm: 1_500,
  burstPpm: 5,
  jumpPpm: 1,
  history: 200,
  hasPast: false,
  // Statuses take 350 KB per block, nearly all of them the crowd's.
  recalled: { node_fills_by_block: 2_000, misc_events_by_block: 2_000 },
  crowd: {
    wallets: 500,
    orders: 780_000,
    levels: 650_000,
    first: { bids: { orders: 34_593, levels: 14_439 }, asks: { orders: 16_758, levels: 6_939 } },
    diffs: [
      [0, 10],
      [0.5, 322],
      [0.9, 843],
      [1, 1_599],
    ],
    firstDiffs: [
      [0, 0],
      [0.5, 12],
      [0.75, 28],
      [0.9, 61],
      [0.97, 110],
      [1, 221],
    ],
    refusedPerDiff: 0.6,
  },
}

export const SCALES = { small: SMALL, mainnet: MAINNET } as const

/** The value at `share`, interpolated linearly. */
export function quantile(points: Quantiles, share: number): number {
  const at = Math.max(
    1,
    points.findIndex(([to]) => to >= share),
  )
  const [from, low] = points[at - 1]!
  const [to, high] = points[at]!
  return low + ((high - low) * (share - from)) / (to - from)
}
