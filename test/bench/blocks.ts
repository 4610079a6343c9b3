// The blocks that the benchmarks send, as strings in which only height and time are filled in, because building JSON
// is not measured. Also what Weir sends of them on each channel, which is the input of the bare object. Invariant:
// the strings of two blocks differ only in height, time and the sizes of their levels.

import type { BookChange, Fill, Level, Levels } from '../../src/protocol/feed/block.ts'

export const EXCHANGE_BLOCKS_PER_SECOND = 14.5
/** Coin that the single-coin lines subscribe to; as deep as the real one. */
export const COIN = 'BTC'
/** A coin whose whole book is small. */
export const SHALLOW = 'C0'
export const COINS_PER_BLOCK = 60
/** Coins of the exchange. */
export const COINS = [COIN, SHALLOW, ...Array.from({ length: 298 }, (_, i) => `C${i + 1}`)]
/** Levels of the real BTC book, bids and asks; the others get 200 a side. */
const DEEP = [14_439, 6_939] as const
const USUAL = 200
/** Changed levels in the worst block that was recorded. */
export const WORST_CHANGES = 1_599
const VARIANTS = 12
const MID = 80_000
/**
 * One in so many changed coins of `market` has another best level. Of 26 recorded blocks of BTC 25 changed 653 levels, and
 * 21 a best one: one for 31 levels, so ten of the 311 of a block. BTC, which trades at its best level, has one more often.
 */
const BEST_OF = 6

/**
 * A kind of block: `single` changes COIN alone, `traded` SHALLOW, in which there is a trade, `market` sixty coins with two
 * trades, `worst` every coin.
 */
export type Kind = 'single' | 'traded' | 'market' | 'worst' | 'empty'

/** Has fills in each block with trades. */
export const TRADER = `0x${'0'.repeat(40)}`

const px = (side: 0 | 1, at: number) => `${side === 0 ? MID - 1 - at : MID + 1 + at}.0`
const level = (side: 0 | 1, at: number, variant: number): Level => ({
  px: px(side, at),
  sz: `${1 + ((at * 7 + variant * 13) % 90)}.${10 + ((at + variant) % 80)}`,
  n: 1 + ((at + variant) % 9),
})
const side = (index: 0 | 1, count: number, variant: number, from: number) =>
  Array.from({ length: count }, (_, at) => level(index, from + at, variant))
const levels = (bids: number, asks: number, variant: number, from = 0): Levels => [
  side(0, bids, variant, from),
  side(1, asks, variant, from),
]

/** Whole books of every coin before the first block. */
export function seedBooks(): Omit<BookChange, 'new'>[] {
  return COINS.map((coin) => ({ coin, levels: coin === COIN ? levels(...DEEP, 0) : levels(USUAL, USUAL, 0) }))
}

/** The best level of the coin in this place of `market` changes. */
const isBest = (at: number, variant: number) => (at === 0 ? variant % BEST_OF !== 0 : (at + variant) % BEST_OF === 0)

/** Level changes of a kind: COIN has the 16 of an average real block, the other coins of `market` five each. */
function changes(kind: Kind, variant: number): BookChange[] {
  if (kind === 'empty') return []
  if (kind === 'single' || kind === 'traded')
    return [{ coin: kind === 'single' ? COIN : SHALLOW, levels: levels(8, 8, variant) }]
  if (kind === 'market')
    return COINS.slice(0, COINS_PER_BLOCK).map((coin, at) => {
      const [bids, asks] = coin === COIN ? [8, 8] : [3, 2]
      return { coin, levels: levels(bids, asks, variant, isBest(at, variant) ? 0 : 1) }
    })
  const each = Math.floor(WORST_CHANGES / COINS.length)
  const rest = WORST_CHANGES - each * COINS.length
  return COINS.map((coin, i) => {
    const count = each + (i < rest ? 1 : 0)
    return { coin, levels: levels(count >> 1, count - (count >> 1), variant) }
  })
}

/** Both sides of each trade; times and numbers of trades are put in later. */
function fills(kind: Kind): [string, Fill][] {
  if (kind !== 'market' && kind !== 'worst' && kind !== 'traded') return []
  return [0, 1, 2, 3].slice(0, kind === 'traded' ? 2 : 4).map((i) => [
    `0x${String(i).repeat(40)}`,
    {
      coin: kind === 'traded' ? SHALLOW : COINS[i >> 1]!,
      px: '80000.0',
      sz: '0.5',
      side: i % 2 === 0 ? 'A' : 'B',
      time: 0,
      startPosition: '12.5',
      dir: 'Open Long',
      closedPnl: '0.0',
      hash: `0x${'ab'.repeat(32)}`,
      oid: 412_036_231_803 + i,
      crossed: i % 2 === 0,
      fee: '14.4',
      tid: -1 - (i >> 1),
      cloid: null,
      feeToken: 'USDC',
      twapId: null,
    },
  ])
}

const TIME_ZERO_MS = 1_763_000_000_000
const BLOCK_MS = 69
/** Block time of a height. */
export const timeOf = (height: number) => TIME_ZERO_MS + height * BLOCK_MS
/** The height of a block time. */
export const heightOf = (time: number) => (time - TIME_ZERO_MS) / BLOCK_MS

/** Text around the places where a time belongs. */
type Timed = readonly string[]
const timed = (value: unknown): Timed => JSON.stringify(value).split('"time":0')
/** A trade has a number that no other has. */
const at = (text: Timed, height: number) =>
  text.join(`"time":${timeOf(height)}`).replaceAll('"tid":-', `"tid":${height}`)

interface Variant {
  readonly feed: Timed
  readonly books: readonly { readonly coin: string; readonly levels: string; readonly best: string | null }[]
  readonly fillsOfTrader: Timed
}

/** Texts of one kind of block, made once. */
export class BlockTexts {
  readonly #variants: readonly Variant[]

  constructor(kind: Kind) {
    const isTraders = ([user]: [string, Fill]) => user === TRADER
    this.#variants = Array.from({ length: VARIANTS }, (_, variant) => {
      const books = changes(kind, variant)
      return {
        feed: timed({ fills: fills(kind), ledger: [], funding: [], books }),
        books: books.map(({ coin, levels: [bids, asks] }) => {
          const isOfBest = bids[0]?.px === px(0, 0) && asks[0]?.px === px(1, 0)
          return {
            coin,
            levels: JSON.stringify([bids, asks]),
            best: isOfBest ? JSON.stringify([bids[0], asks[0]]) : null,
          }
        }),
        fillsOfTrader: timed(fills(kind).filter(isTraders)),
      }
    })
  }

  #of(height: number): Variant {
    return this.#variants[height % VARIANTS]!
  }

  /** What a feeder sends. */
  feed(height: number): string {
    return `{"type":"block","height":${height},"time":${timeOf(height)},${at(this.#of(height).feed, height).slice(1)}`
  }

  /** Byte for byte, but for the epoch: the frame of `l2BookDiff2` to a client of all coins of this block, or of COIN alone. */
  diffs(height: number, of: 'all' | 'COIN' = 'all'): string[] {
    const books = this.#of(height).books.filter(({ coin }) => of === 'all' || coin === COIN)
    if (books.length === 0) return []
    const entries = books.map(
      ({ coin, levels }) => `{"coin":"${coin}","seq":${height},"prev_seq":${height - 1},"levels":${levels}}`,
    )
    return [
      `{"channel":"l2BookDiff2","data":{"Updates":{"time":${timeOf(height)},"block_height":${height},"epoch":"00000000-0000-4000-8000-000000000000","cursor":"${height}","book_diffs":[${entries.join(',')}]}}}`,
    ]
  }

  /** Of `userFills` to who names TRADER. */
  fills(height: number): string[] {
    const fills = at(this.#of(height).fillsOfTrader, height)
    return fills === '[]' ? [] : [`{"channel":"userFills","fills":${fills}}`]
  }

  /** Of `bbo` to who wants it of each coin. */
  bests(height: number): string[] {
    return this.#of(height).books.flatMap(({ coin, best }) =>
      best === null ? [] : [`{"channel":"bbo","data":{"coin":"${coin}","time":${timeOf(height)},"bbo":${best}}}`],
    )
  }
}
