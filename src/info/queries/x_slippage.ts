// x_slippage: average price and slippage of a market order, from the full order book, now or after a past block. A size
// that the book cannot fill is reported as unfilled and never extrapolated.

import * as z from 'zod'
import type { Coin } from '../../core/coin.ts'
import { isZero, trimDecimal, UNSIGNED_DECIMAL } from '../../core/decimal.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { type Slippage, slippageOf } from '../../order-books/slippage.ts'
import { Height, type Levels } from '../../protocol/feed/block.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { Market, optional } from '../../protocol/info/request-fields.ts'
import type { Books, HistoricalBooks } from '../ports.ts'
import { defineQuery, HISTORY_PRICE, type InfoAnswer, NOT_KNOWN } from '../query.ts'

/** Levels read first. Only a size beyond them needs the whole book, which can have 800 KB. */
const FIRST_DEPTH = 100
const SIDE = z.enum(['B', 'A'])

const SlippageAnswer = () =>
  z.object({
    coin: z.string(),
    time: z.int(),
    height: z.int().describe('Block height of the book'),
    side: SIDE.describe('`B`: buy, from the asks; `A`: sell, to the bids'),
    sz: Decimal.describe('Requested size'),
    mid: Decimal.nullable().describe('Mean of the best bid and ask; null if a side is empty'),
    avgPx: Decimal.nullable().describe(
      'Average price of the filled size, to 12 significant digits; null if nothing is filled',
    ),
    worstPx: Decimal.nullable().describe('Price of the last level used; null if nothing is filled'),
    levels: z.int().describe('Number of levels used'),
    filledSz: Decimal.describe('Size that the book fills'),
    unfilledSz: Decimal.describe('Size beyond the whole book; `0.0` if the order is filled'),
    notional: Decimal.describe('Sum of price times size over the filled size, exact up to 18 decimals'),
    slippageBps: Decimal.nullable().describe(
      'Distance of `avgPx` from `mid` in basis points of `mid`, to 4 decimals, positive for a cost; null without both',
    ),
  })

interface Request {
  readonly coin: Coin
  readonly side: 'B' | 'A'
  readonly sz: string
  readonly height?: number | undefined
}

export const x_slippage = defineQuery({
  type: 'x_slippage',
  summary: 'Average price and slippage of a market order, from the full order book',
  example: {
    request: { coin: 'BTC', side: 'B', sz: '0.3' },
    response: {
      coin: 'BTC',
      time: TIME,
      height: 42,
      side: 'B',
      sz: '0.3',
      mid: '81308.0',
      avgPx: '81309.3333333',
      worstPx: '81311.0',
      levels: 2,
      filledSz: '0.3',
      unfilledSz: '0.0',
      notional: '24392.8',
      slippageBps: '0.164',
    },
  },
  request: z.object({
    type: z.literal('x_slippage'),
    coin: Market,
    side: SIDE.describe('`B`: buy, from the asks; `A`: sell, to the bids'),
    sz: z
      .string()
      .regex(UNSIGNED_DECIMAL, 'must be a decimal string')
      .refine((sz) => !isZero(sz), 'must be above 0')
      .transform(trimDecimal)
      .describe('Size of the order, in units of the coin'),
    height: optional(Height).describe(
      'Height of a past book, which is read from the archive and priced separately; absent: current book',
    ),
  }),
  response: SlippageAnswer,
  price: ({ height }) => (height === undefined ? ONE_CREDIT : HISTORY_PRICE),
  freshness: { class: 'block', freshMs: 500 },
  needs: ['books', 'historicalBooks'],
  holdsFirst: () => true,
  resolve: (request, { books, historicalBooks }) =>
    request.height === undefined ? fromCurrent(request, books) : fromPast(request, request.height, historicalBooks),
})

async function fromCurrent(request: Request, books: Books): Promise<Result<InfoAnswer, Failure>> {
  for (let depth: number | undefined = FIRST_DEPTH; ; depth = undefined) {
    const result: Result<BookSnapshot | null, Failure> = await books.snapshot(request.coin, depth)
    if (!result.ok) return result
    if (result.value === null) return rejected('coin', NOT_KNOWN)
    const cost = costIn(result.value, request)
    const isShort = depth !== undefined && cost.levels >= depth && !isZero(cost.unfilledSz)
    if (!isShort) return answerOf(result.value, request, cost)
  }
}

async function fromPast(
  request: Request,
  height: number,
  books: HistoricalBooks,
): Promise<Result<InfoAnswer, Failure>> {
  const result = await books.at(request.coin, { height })
  if (!result.ok) return err(withHeightField(result.error))
  if (result.value === null) return rejected('coin', `had no order book after block ${height}`)
  return answerOf(result.value, request, costIn(result.value, request))
}

function costIn({ levels }: BookSnapshot, { side, sz }: Request): Slippage {
  return slippageOf(JSON.parse(levels) as Levels, side, sz)
}

function answerOf(
  { height, time }: BookSnapshot,
  { coin, side, sz }: Request,
  cost: Slippage,
): Result<InfoAnswer, never> {
  return ok({ body: JSON.stringify({ coin, time, height, side, sz, ...cost }), height })
}

function rejected(path: string, message: string): Result<never, Failure> {
  return err({ kind: 'bad_field', issues: [{ path, message }] })
}

/** Failures of past books name the field `block_height` of the other types. */
function withHeightField(failure: Failure): Failure {
  if (failure.kind !== 'bad_field') return failure
  const issues = failure.issues.map((issue) => (issue.path === 'block_height' ? { ...issue, path: 'height' } : issue))
  return { ...failure, issues }
}
