// userPnlSummary: a wallet's profits, volume and activity in one object. The window is on close times, and on the times
// of fills for volume and days; `tradedPairs` and `accountAgeDays` are of all that is held.

import * as z from 'zod'
import { pnlSummary } from '../../archive/pnl-summary.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok } from '../../core/result.ts'
import { Address, type Fill } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { TradeDex } from '../../protocol/info/history-shapes.ts'
import { ANY_WINDOW, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import type { EventRead } from '../ports.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'
import { EVER, historyAnswer } from '../sources/own-history.ts'
import { tradesUpTo } from '../sources/own-trades.ts'

const PnlSummary = z.object({
  user: Address,
  totalPnl: Decimal.describe('Profit after fees and funding'),
  winRate: z.number(),
  lossRate: z.number(),
  totalTrades: z.int(),
  volumeTraded: Decimal.describe('Volume in the quote token'),
  totalFees: Decimal,
  totalFunding: Decimal.describe('Funding, negative when paid'),
  daysActive: z.int().describe('UTC days with a fill'),
  accountAgeDays: z.int().describe('Days since the first known fill'),
  tradedPairs: z.array(z.string()),
})

/** There is more than can be gone through, and it is asked for. */
function isShort({ ended, since }: EventRead, startTime: number): boolean {
  return (ended === 'enough' || ended === 'work') && since.time > startTime
}

/** A part would be taken for the whole: names the window that can be had, and leaves a tenth for fills that come meanwhile. */
function tooLong(fills: readonly Fill[]): Failure {
  const fromMs = fills[Math.ceil(fills.length / 10)]?.time ?? EVER
  const message = `must be at least ${fromMs}: from earlier on there are more fills than can be gone through`
  return { kind: 'bad_field', issues: [{ path: 'startTime', message }] }
}

/** Of a position that was closed in the window the beginning is further back than can be gone through. */
function openedBefore(closedMs: number): Failure {
  const message = `must be at least ${closedMs + 1}: a position that was closed before was opened by fills too far back to be read`
  return { kind: 'bad_field', issues: [{ path: 'startTime', message }] }
}

export const userPnlSummary = defineQuery({
  type: 'userPnlSummary',
  summary: 'Profits, volume and activity of a wallet',
  example: {
    request: { user: USER },
    response: {
      user: USER,
      totalPnl: '12.75',
      winRate: 0.6667,
      lossRate: 0.3333,
      totalTrades: 3,
      volumeTraded: '4065.35',
      totalFees: '1.829405',
      totalFunding: '-0.25',
      daysActive: 1,
      accountAgeDays: 0,
      tradedPairs: ['BTC', 'ETH'],
    },
  },
  request: withOrderedWindow(
    z.object({
      type: z.literal('userPnlSummary'),
      user: UserAddress,
      ...ANY_WINDOW,
      dex: TradeDex.describe('Perp DEX to limit the summary to'),
    }),
  ),
  response: PnlSummary,
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ user, ...scope }, from) {
    const { startTime = 0, endTime = EVER } = scope
    const last = await tradesUpTo({ user, toMs: EVER }, from)
    // More than can be gone through lies behind the window: it is seen better from its end.
    const isEnd = !last.ok || endTime === EVER || !isShort(last.value.read, startTime)
    const own = isEnd ? last : await tradesUpTo({ user, toMs: endTime }, from)
    if (!own.ok) return own
    if (isShort(own.value.read, startTime)) return err(tooLong(own.value.fills))
    const { read, trades, fills, missedMs } = own.value
    if (read.ended !== 'all' && missedMs >= startTime) return err(openedBefore(missedMs))
    return ok(historyAnswer(pnlSummary({ user, trades, fills, nowMs: read.head.time }, scope), read))
  },
})
