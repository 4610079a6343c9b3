// One raw book diff as the node writes it, checked by hand: a few hundred come per block, and a schema library
// would cost more than the whole order book does.

import { COIN_MAX_LENGTH } from '../core/coin.ts'

export type Side = 'B' | 'A'

export type RawDiff =
  | {
      readonly kind: 'new'
      readonly oid: number
      readonly coin: string
      readonly side: Side
      readonly px: string
      readonly sz: string
    }
  | {
      readonly kind: 'update'
      readonly oid: number
      readonly coin: string
      readonly side: Side
      readonly px: string
      readonly origSz: string
      readonly sz: string
    }
  | { readonly kind: 'remove'; readonly oid: number; readonly coin: string; readonly side: Side; readonly px: string }

/** Eight digits fewer than a level may have, which adds up many orders: one that the feed refuses would refuse its book. */
const DECIMAL = /^\d{1,30}(?:\.\d{1,18})?$/
const NAME = /^[\x21-\x7e]+$/

/** A plain unsigned decimal string, as prices and sizes of orders are. */
export const isDecimal = (value: unknown): value is string => typeof value === 'string' && DECIMAL.test(value)

/** As CoinName says it: a book of any other name would be refused for ever. */
const isCoin = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= COIN_MAX_LENGTH && NAME.test(value)

/** The coin that an event of the raw book diff stream names, null where it names none. */
export function coinOf(event: unknown): string | null {
  const coin = (event as { coin?: unknown } | null)?.coin
  return isCoin(coin) ? coin : null
}

/** The diff in an event of the raw book diff stream, null where it has another shape. */
export function readRawDiff(event: unknown): RawDiff | null {
  if (typeof event !== 'object' || event === null) return null
  const { oid, coin, side, px, raw_book_diff: change } = event as Record<string, unknown>
  if (!Number.isSafeInteger(oid) || !isCoin(coin) || (side !== 'B' && side !== 'A') || !isDecimal(px)) return null
  const at = { oid: oid as number, coin, side, px } as const
  if (change === 'remove') return { kind: 'remove', ...at }
  if (typeof change !== 'object' || change === null) return null
  const { new: added, update } = change as { new?: { sz?: unknown }; update?: { origSz?: unknown; newSz?: unknown } }
  if (isDecimal(added?.sz)) return { kind: 'new', ...at, sz: added.sz }
  if (isDecimal(update?.origSz) && isDecimal(update.newSz))
    return { kind: 'update', ...at, origSz: update.origSz, sz: update.newSz }
  return null
}
