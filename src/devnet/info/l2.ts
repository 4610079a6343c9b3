// Public l2Book: the best 20 levels a side, optionally with prices rounded to significant figures.

import type { Level, Levels } from '../../feed/block.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import type { Side } from '../exchange/order.ts'
import type { OrderBook } from '../exchange/order-book.ts'

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
  return [merge(book, 'B', down), merge(book, 'A', up)]
}

function merge(book: OrderBook, side: Side, round: (px: bigint) => bigint): Level[] {
  const merged: { px: bigint; sz: bigint; n: number }[] = []
  for (const { px: exact, sz, n } of book.levelsOf(side)) {
    const px = round(exact)
    const last = merged.at(-1)
    if (last?.px === px) {
      last.sz += sz
      last.n += n
    } else if (merged.length === DEPTH) break
    else merged.push({ px, sz, n })
  }
  return merged.map(({ px, sz, n }) => ({ px: formatAmount(px), sz: formatAmount(sz), n }))
}
