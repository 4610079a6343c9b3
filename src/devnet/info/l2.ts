// Public l2Book: the best 20 levels a side, optionally with prices rounded to significant figures.

import type { Level, Levels } from '../../feed/block.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import type { OrderBook, PriceLevel } from '../exchange/order-book.ts'

const DEPTH = 20

/** Levels merged at `figures` significant figures (and a step of `mantissa` in the last); all prices where null. */
export function l2Levels(book: OrderBook, figures: number | null, mantissa: number): Levels {
  if (figures === null) return book.levels(DEPTH)
  const step = (px: bigint) => {
    const digits = px.toString().length
    return digits > figures ? BigInt(mantissa) * 10n ** BigInt(digits - figures) : BigInt(mantissa)
  }
  const down = (px: bigint) => px - (px % step(px))
  const up = (px: bigint) => (px % step(px) === 0n ? px : down(px) + step(px))
  return [merge(book.side('B'), down), merge(book.side('A'), up)]
}

function merge(levels: readonly PriceLevel[], round: (px: bigint) => bigint): Level[] {
  const merged: { px: bigint; sz: bigint; n: number }[] = []
  for (let i = levels.length - 1; i >= 0; i--) {
    const { sz, orders } = levels[i]!
    const px = round(levels[i]!.px)
    const last = merged.at(-1)
    if (last?.px === px) {
      last.sz += sz
      last.n += orders.length
    } else if (merged.length === DEPTH) break
    else merged.push({ px, sz, n: orders.length })
  }
  return merged.map(({ px, sz, n }) => ({ px: formatAmount(px), sz: formatAmount(sz), n }))
}
