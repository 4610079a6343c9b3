// l2Book: 20 levels per side from our own order books, optionally aggregated to significant figures, at most half a
// second old. Same shape as the exchange. Returns null for an unknown coin, as the exchange does.

import * as z from 'zod'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import { aggregateBook, spreadOf } from '../../order-books/rounded-levels.ts'
import type { Levels } from '../../protocol/feed/block.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import { BookLevels, Decimal } from '../../protocol/info/common-shapes.ts'
import { LEVELS, TIME } from '../../protocol/info/examples.ts'
import { Market, optional } from '../../protocol/info/request-fields.ts'
import type { Books } from '../ports.ts'
import { defineQuery, type InfoAnswer } from '../query.ts'

const DEPTH = 20
/** This many raw levels nearly always suffice for 20 aggregated levels. If they do not, the whole book is read. */
const RAW_DEPTH: Readonly<Record<number, number>> = { 5: 500, 4: 4_000 }

const L2Book = () =>
  z.object({
    coin: z.string(),
    time: z.int(),
    levels: BookLevels,
    spread: Decimal.optional().describe('Best ask minus best bid, before rounding'),
  })

export const l2Book = defineQuery({
  type: 'l2Book',
  summary: 'Order book of a coin, 20 levels per side, optionally aggregated',
  example: { request: { coin: 'BTC' }, response: { coin: 'BTC', time: TIME, levels: LEVELS } },
  request: z
    .object({
      type: z.literal('l2Book'),
      coin: Market,
      nSigFigs: optional(z.int().min(2, 'must be 2, 3, 4 or 5').max(5, 'must be 2, 3, 4 or 5')).describe(
        'Significant figures to which prices are rounded and grouped; absent or null: no rounding',
      ),
      mantissa: optional(z.literal([1, 2, 5], 'must be 1, 2 or 5')).describe(
        'Step of the last figure, only with `nSigFigs` 5; absent: 1',
      ),
    })
    .refine(({ nSigFigs, mantissa }) => mantissa === undefined || nSigFigs === 5, {
      path: ['mantissa'],
      message: 'is allowed only if nSigFigs is 5',
    })
    .transform(({ mantissa, ...rest }) => ({ ...rest, mantissa: mantissa === 1 ? undefined : mantissa })),
  response: () => L2Book().nullable(),
  freshness: { class: 'block', freshMs: 500 },
  needs: ['books'],
  holdsFirst: ({ nSigFigs }) => nSigFigs !== undefined,
  resolve: (request, { books }) =>
    request.nSigFigs === undefined
      ? plain(request.coin, books)
      : aggregated(request.coin, { nSigFigs: request.nSigFigs, mantissa: request.mantissa ?? 1 }, books),
})

async function plain(coin: Coin, books: Books): Promise<Result<InfoAnswer, Failure>> {
  const result = await books.snapshot(coin, DEPTH)
  if (!result.ok) return result
  return ok(result.value === null ? { body: 'null' } : bookAnswer(result.value, result.value.levels))
}

async function aggregated(
  coin: Coin,
  { nSigFigs, mantissa }: { readonly nSigFigs: number; readonly mantissa: number },
  books: Books,
): Promise<Result<InfoAnswer, Failure>> {
  for (let depth = RAW_DEPTH[nSigFigs]; ; depth = undefined) {
    const result = await books.snapshot(coin, depth)
    if (!result.ok) return result
    if (result.value === null) return ok({ body: 'null' })
    const raw = JSON.parse(result.value.levels) as Levels
    const merged = aggregateBook(raw, { nSigFigs, mantissa, limit: DEPTH })
    const short = (side: 0 | 1) => depth !== undefined && raw[side].length >= depth && !merged.complete[side]
    if (short(0) || short(1)) continue
    return ok(bookAnswer(result.value, JSON.stringify(merged.levels), spreadOf(raw)))
  }
}

function bookAnswer({ coin, time, height }: BookSnapshot, levels: string, spread?: string): InfoAnswer {
  const end = spread === undefined ? '}' : `,"spread":"${spread}"}`
  return { body: `{"coin":${JSON.stringify(coin)},"time":${time},"levels":${levels}${end}`, height }
}
