// positionsByCoin: perp positions of all wallets in a coin after any archived block, largest first, from their fills. A
// wallet is known from its first fill in the archive on.

import * as z from 'zod'
import { marketTypeOf } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok } from '../../core/result.ts'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { TradeLimit } from '../../protocol/info/history-shapes.ts'
import { AtHeight, ONE_POSITION, POSITION_FIELDS, PositionSide } from '../../protocol/info/position-shapes.ts'
import { Market, optional } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'
import { POSITION_CURSOR, placeOfCursor, positionPage } from '../sources/coin-positions.ts'
import { historyAnswer } from '../sources/own-history.ts'

const OTHER_HEIGHT: Failure = {
  kind: 'bad_field',
  issues: [{ path: 'cursor', message: 'is of another height. Send the height of its page, or leave height out' }],
}

const SideTotal = z.object({
  wallets: z.int().describe('Number of positions'),
  sz: Decimal.describe('Sum of their sizes, unsigned'),
})

export const positionsByCoin = defineQuery({
  type: 'positionsByCoin',
  summary: 'Perp positions of all wallets in a coin after any archived block, largest first, from their fills',
  example: {
    request: { coin: 'BTC' },
    response: {
      coin: 'BTC',
      height: 42,
      long: { wallets: 1, sz: '0.01' },
      short: { wallets: 0, sz: '0.0' },
      positions: [{ user: USER, ...ONE_POSITION }],
    },
  },
  request: z.object({
    type: z.literal('positionsByCoin'),
    coin: Market.refine((coin) => marketTypeOf(coin) === 'perp', 'must be a perp').describe(
      'Perp such as `BTC` or `xyz:GOLD`',
    ),
    side: optional(PositionSide).describe('Side of the positions that are listed; absent: both'),
    height: AtHeight,
    limit: TradeLimit.describe('Maximum rows per page'),
    cursor: optional(z.string().regex(POSITION_CURSOR, 'must be the next cursor of the previous page')).describe(
      'Reads the next page: `x-next-cursor` of the previous page, which also keeps its height; absent: first page',
    ),
  }),
  response: () =>
    z.object({
      coin: z.string(),
      height: z.int().describe('Block after which these are the positions'),
      long: SideTotal.describe('All known long positions'),
      short: SideTotal.describe('All known short positions'),
      positions: z.array(z.object({ user: Address, ...POSITION_FIELDS })).describe('Largest first'),
    }),
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ coin, side, height, limit, cursor }, { events }) {
    const place = cursor === undefined ? undefined : placeOfCursor(cursor)
    if (place && height !== undefined && place.height !== height) return err(OTHER_HEIGHT)
    const known = await events.positions(coin, place?.height ?? height)
    if (!known.ok) return known
    const { body, next } = positionPage(known.value, { side, from: place?.from ?? 0, limit })
    const { head, since } = known.value
    const read = { head: { ...head, height: body.height }, since }
    return ok(historyAnswer({ coin, ...body }, read, next === undefined ? {} : { nextCursor: next }))
  },
})
