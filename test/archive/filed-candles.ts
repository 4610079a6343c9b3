// Creates blocks of trades, computes their candles in a simple way, and splits them into files at positions that a
// test chooses.

import fc from 'fast-check'
import type { CandleParts, CandlesRequest, FileCandles } from '../../src/archive/candles.ts'
import { BASE_INTERVALS, type BaseInterval, baseOf, type Candle, spanOf } from '../../src/archive/candles.ts'
import { CandleRollup, candleCoinOf, candleKey, candleLines, partsOf } from '../../src/archive/files/candle-lines.ts'
import type { Level } from '../../src/archive/files/levels.ts'
import type { BlockEvents } from '../../src/archive/files/rows.ts'
import type { Interval } from '../../src/core/candle-interval.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import type { EventBlock, HeightAndTime } from '../../src/protocol/feed/durable-api.ts'
import { fillWith } from '../kit/fills.ts'

export type TradedBlock = BlockEvents & EventBlock
/** Whole numbers, the size in hundredths. */
export interface Traded {
  readonly px: number
  readonly sz: number
  readonly coin?: string
}

export const COIN = 'BTC'

const USERS = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]

/** Both sides of each trade, and a fill that is none. */
export function tradedBlock(height: number, time: number, trades: readonly Traded[]): TradedBlock {
  const fills = trades.flatMap(({ px, sz, coin = COIN }, at): UserFill[] => {
    const fill = fillWith({ coin, px: `${px}.0`, sz: (sz / 100).toFixed(2), time, oid: 7, tid: 100 * height + at })
    return [
      [USERS[0], { ...fill, side: 'A', crossed: false }],
      [USERS[1], { ...fill, side: 'B' }],
    ]
  })
  const alone = fillWith({ coin: COIN, px: '1000000.0', time, oid: 7, tid: 100 * height + 99 })
  return { height, time, fills: [...fills, [USERS[2], alone]], ledger: [], funding: [] }
}

const STEPS_MS = [0, 1, 4_000, 60_000, 1_900_000, 7 * 3_600_000, 3 * 86_400_000]
/** Times never fall. */
export const anyTrades = (most = 60) =>
  fc
    .array(
      fc.record({
        step: fc.constantFrom(...STEPS_MS),
        trades: fc.array(fc.record({ px: fc.integer({ min: 1, max: 99 }), sz: fc.integer({ min: 1, max: 999 }) }), {
          maxLength: 3,
        }),
      }),
      { minLength: 1, maxLength: most },
    )
    .map((blocks) => {
      let time = Date.UTC(2026, 9, 29, 22, 59, 50)
      return blocks.map(({ step, trades }, at) => {
        time += step
        return tradedBlock(at + 1, time, trades)
      })
    })

/** What all blocks at once come to, counted by hand. */
export function truth(blocks: readonly TradedBlock[], interval: Interval, coin = COIN): Candle[] {
  const spans = new Map<number, UserFill[1][]>()
  for (const { fills } of blocks)
    for (const [user, fill] of fills) {
      if (fill.coin !== coin || user !== USERS[1]) continue
      const { t } = spanOf(interval, fill.time)
      spans.set(t, [...(spans.get(t) ?? []), fill])
    }
  return [...spans].map(([t, trades]) => {
    const prices = trades.map(({ px }) => Number(px))
    const hundredths = trades.reduce((sum, { sz }) => sum + Math.round(Number(sz) * 100), 0)
    const volume = (hundredths / 100).toFixed(2).replace(/0$/, '')
    return {
      t,
      T: spanOf(interval, t).T,
      s: coin,
      i: interval,
      o: trades[0]!.px,
      c: trades.at(-1)!.px,
      h: `${Math.max(...prices)}.0`,
      l: `${Math.min(...prices)}.0`,
      v: volume,
      n: trades.length,
    }
  })
}

export interface Filed {
  /** A file of each, oldest first. */
  readonly files: readonly { readonly level: Level; readonly blocks: readonly TradedBlock[] }[]
  readonly gaps?: FileCandles['holes']
  readonly since?: HeightAndTime
}

/** What files are asked for candles, without a database. */
export function filedCandles({ files, gaps = [], since }: Filed, request: CandlesRequest): FileCandles | null {
  const blocks = files.flatMap((file) => file.blocks)
  const first = blocks[0]
  const last = blocks.at(-1)
  if (!first || !last) return null
  const { base } = baseOf(request.interval)
  const parts = files.flatMap((file) => partsOfFile(file, base, request.coin))
  return { from: first, to: last, holes: gaps, since: since ?? first, untilMs: null, parts }
}

function partsOfFile({ level, blocks }: Filed['files'][number], base: BaseInterval, coin: string): CandleParts[] {
  const height = blocks[0]?.height
  if (height === undefined) return []
  const lines = candleLines(blocks)
  if (level === 2 && base === BASE_INTERVALS[0])
    return [{ height, parts: (lines.get(candleKey(coin)) ?? []).flatMap(partsOf) }]
  const rollup = new CandleRollup(level)
  for (const [key, texts] of lines) if (candleCoinOf(key) === coin) rollup.add(key, texts)
  const wanted = level === 2 ? base : BASE_INTERVALS[0]
  return rollup.finish().flatMap((kept) => (kept.base === wanted ? [{ height, parts: kept.parts }] : []))
}
