// Reads a raw book diff of the node. Diffs are checked by hand: a block has a few hundred, and a schema library would
// take longer than updating the order books.

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

/** Allows eight digits fewer than in a level, because a level is the sum of many orders. */
const DECIMAL = /^\d{1,30}(?:\.\d{1,18})?$/
const NAME = /^[\x21-\x7e]+$/

/** A plain unsigned decimal string, the form of order prices and sizes. */
export const isDecimal = (value: unknown): value is string => typeof value === 'string' && DECIMAL.test(value)

/** Same rule as CoinName: the gateway would always reject any other name. */
const isCoin = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= COIN_MAX_LENGTH && NAME.test(value)

/** The coin that a raw book diff names; null if there is none. */
export function coinOf(event: unknown): string | null {
  const coin = (event as { coin?: unknown } | null)?.coin
  return isCoin(coin) ? coin : null
}

/** Reads a raw book diff. Null if the event has a different shape. */
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
