// How large the exchange is: what it lists, how deep its books are and how much happens in a block. Every size and rate
// that differs between the small exchange of `npm start` and one of the real size stands here, and nowhere else.

import * as z from 'zod'
import { ALL_MARKETS, DEX_NAMES, DEXES, MARKETS, type Market, TOKEN_NAMES, TOKENS } from './market.ts'
import type { Stream } from './node-block.ts'

/** Points `[share of draws, value]` of a distribution, share rising from 0 to 1. */
export type Quantiles = readonly (readonly [share: number, value: number])[]

/** The orders that hold the depth of a large exchange, and what moves among them. */
export interface CrowdScale {
  /** Wallets that own the crowd's orders; each has a position in every perp. */
  readonly wallets: number
  /** Resting orders and price levels of all coins together. */
  readonly orders: number
  readonly levels: number
  /** The first market's own. */
  readonly first: { readonly bids: Depth; readonly asks: Depth }
  /** Raw book diffs of a block: of all coins, and of the first market alone. */
  readonly diffs: Quantiles
  readonly firstDiffs: Quantiles
  /** Orders refused in a block for each raw book diff. */
  readonly refusedPerDiff: number
}

interface Depth {
  readonly orders: number
  readonly levels: number
}

/** As people type it. */
export const ScaleName = z.enum(['small', 'mainnet'], 'must be small or mainnet')

export interface Scale {
  readonly name: z.infer<typeof ScaleName>
  readonly markets: readonly Market[]
  readonly dexes: readonly string[]
  readonly tokens: readonly string[]
  /** From one block to the next. */
  readonly blockMs: number
  readonly fundingBlocks: number
  /** Files kept of each stream. */
  readonly keepMb: number
  /** From a block's time to its lines, in ms; null: at once. */
  readonly writeDelayMs: Quantiles | null
  /** Fills without a counterparty come: what is left of a token is turned into USDC. */
  readonly dusting: boolean
  /** Heights that are written again when the program begins again after a kill. */
  readonly rewritten: number
  /** Market makers with ladders on both sides; the crowd has their place on the large exchange. */
  readonly makers: boolean
  /** Chance per block, in millionths, of a taker's order: by market id for the first, then of every other market. */
  readonly takersPpm: readonly number[]
  readonly otherTakersPpm: number
  /** Chance per block and market, in millionths, that a burst begins and that the price jumps. */
  readonly burstPpm: number
  readonly jumpPpm: number
  /** Rows of history kept of each wallet. */
  readonly history: number
  /** Blocks of each stream read again for history by a program that begins again. */
  readonly recalled: Readonly<Partial<Record<Stream, number>>>
  readonly crowd: CrowdScale | null
}

/** What `npm start` shows. Funding comes every minute or so, soon enough to be seen. */
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
  // About twelve minutes of what is small, and less of the statuses, whose lines are long.
  recalled: { node_fills_by_block: 10_000, node_order_statuses_by_block: 2_000, misc_events_by_block: 10_000 },
  crowd: null,
}

/**
 * The real exchange as recorded from one node in May 2026: 51 consecutive blocks of the first market with its book, the
 * number of diffs of all coins in each, and the time from a block to its lines. Coins and totals are those of the autumn
 * of 2026. How depth is spread over the other coins has not been recorded.
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
  // Statuses are 350 KB a block, nearly all of them the crowd's.
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

/** The value at `share`, on straight lines between the points. */
export function quantile(points: Quantiles, share: number): number {
  const at = Math.max(
    1,
    points.findIndex(([to]) => to >= share),
  )
  const [from, low] = points[at - 1]!
  const [to, high] = points[at]!
  return low + ((high - low) * (share - from)) / (to - from)
}
