// The blocks that the bench sends: texts with room for height and time, because building JSON is not what is measured.
// Law: a text differs from block to block only in height, time and the sizes of its levels.

import type { BookChange, Fill, Level, Levels } from '../../src/feed/block.ts'

/** Coin that the single-coin lines subscribe to; as deep as the real one. */
export const COIN = 'BTC'
export const COINS_PER_BLOCK = 60
/** Coins of the exchange in the bench. */
export const COINS = [COIN, ...Array.from({ length: 119 }, (_, i) => `C${i}`)]
/** Levels of the real BTC book, bids and asks; the others get 200 a side. */
const DEEP = [14_439, 6_939] as const
const USUAL = 200
/** Changed levels in the worst block that was recorded. */
export const WORST_CHANGES = 1_599
const VARIANTS = 8
const MID = 80_000

/** A kind of block: `single` changes COIN alone, `market` sixty coins with three fills, `worst` every coin. */
export type Kind = 'single' | 'market' | 'worst' | 'empty'

const px = (side: 0 | 1, at: number) => `${side === 0 ? MID - 1 - at : MID + 1 + at}.0`
const level = (side: 0 | 1, at: number, variant: number): Level => ({
  px: px(side, at),
  sz: `${1 + ((at * 7 + variant * 13) % 90)}.${10 + ((at + variant) % 80)}`,
  n: 1 + ((at + variant) % 9),
})
const side = (index: 0 | 1, count: number, variant: number) =>
  Array.from({ length: count }, (_, at) => level(index, at, variant))
const levels = (bids: number, asks: number, variant: number): Levels => [side(0, bids, variant), side(1, asks, variant)]

/** Whole books of every coin before the first block. */
export function seedBooks(): Omit<BookChange, 'new'>[] {
  return COINS.map((coin) => ({ coin, levels: coin === COIN ? levels(...DEEP, 0) : levels(USUAL, USUAL, 0) }))
}

/** Level changes of a kind: COIN has the 16 of an average real block, the other coins of `market` five each. */
function changes(kind: Kind, variant: number): BookChange[] {
  if (kind === 'empty') return []
  if (kind === 'single') return [{ coin: COIN, levels: levels(8, 8, variant) }]
  if (kind === 'market')
    return COINS.slice(0, COINS_PER_BLOCK).map((coin) => ({
      coin,
      levels: coin === COIN ? levels(8, 8, variant) : levels(3, 2, variant),
    }))
  const each = Math.floor(WORST_CHANGES / COINS.length)
  const rest = WORST_CHANGES - each * COINS.length
  return COINS.map((coin, i) => {
    const count = each + (i < rest ? 1 : 0)
    return { coin, levels: levels(count >> 1, count - (count >> 1), variant) }
  })
}

function fills(kind: Kind): [string, Fill][] {
  if (kind !== 'market' && kind !== 'worst') return []
  return [0, 1, 2].map((i) => [
    `0x${String(i).repeat(40)}`,
    {
      coin: COINS[i]!,
      px: '80000.0',
      sz: '0.5',
      side: i === 0 ? 'A' : 'B',
      time: 1_763_000_000_000,
      startPosition: '12.5',
      dir: 'Open Long',
      closedPnl: '0.0',
      hash: `0x${'ab'.repeat(32)}`,
      oid: 412_036_231_803 + i,
      crossed: i === 0,
      fee: '14.4',
      tid: 118_906_512_032_719 + i,
      cloid: null,
      feeToken: 'USDC',
      twapId: null,
    },
  ])
}

/** Block time of a height: thirteen digits, so that the height stands at a fixed place in every frame. */
export const timeOf = (height: number) => 1_763_000_000_000 + height * 69

/** Where the digits of the height begin in a client's frame. */
export const HEIGHT_AT = `{"channel":"l2BookDiff2","data":{"Updates":{"time":${timeOf(0)},"block_height":`.length
/** Which letter tells a frame of the book channel from acks and pongs. */
export const CHANNEL_AT = '{"channel":"'.length

/** Texts of one kind of block, made once. */
export class BlockTexts {
  readonly #feed: string[]
  readonly #client: { readonly coin: string; readonly levels: string }[][]

  constructor(kind: Kind) {
    const variants = Array.from({ length: VARIANTS }, (_, variant) => changes(kind, variant))
    this.#feed = variants.map((books) =>
      JSON.stringify({ fills: fills(kind), ledger: [], funding: [], books }).slice(1),
    )
    this.#client = variants.map((books) =>
      books.map((book) => ({ coin: book.coin, levels: JSON.stringify(book.levels) })),
    )
  }

  /** What a feeder sends. */
  feed(height: number): string {
    return `{"type":"block","height":${height},"time":${timeOf(height)},${this.#feed[height % VARIANTS]!}`
  }

  /** What a client of all its coins is sent by Weir, byte for byte but for the epoch: what the bare object is fed. */
  client(height: number): string {
    const diffs = this.#client[height % VARIANTS]!.map(
      ({ coin, levels }) =>
        `{"coin":${JSON.stringify(coin)},"seq":${height},"prev_seq":${height - 1},"levels":${levels}}`,
    )
    return `{"channel":"l2BookDiff2","data":{"Updates":{"time":${timeOf(height)},"block_height":${height},"epoch":"00000000-0000-4000-8000-000000000000","cursor":"${height}","book_diffs":[${diffs.join(',')}]}}}`
  }
}
