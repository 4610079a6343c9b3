// userPnlSummary: profit, volume and activity of a wallet. The time window applies to close times, and to fill times
// for volume and active days; `tradedPairs` and `accountAgeDays` cover the whole known history.

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
import { lastCloseMs, tradesUpTo } from '../sources/own-trades.ts'

const PnlSummary = () =>
  z.object({
    user: Address,
    totalPnl: Decimal.describe('Profit after fees and funding'),
    winRate: z.number(),
    lossRate: z.number(),
    totalTrades: z.int(),
    omittedTrades: z
      .int()
      .describe('Closed positions that are not counted, because their opening or a change of their size is unknown'),
    volumeTraded: Decimal.describe('Volume in the quote token'),
    totalFees: Decimal,
    totalFunding: Decimal.describe('Funding, negative when paid'),
    daysActive: z.int().describe('UTC days with a fill'),
    accountAgeDays: z.int().describe('Days since the first known fill'),
    tradedPairs: z.array(z.string()),
  })

/** True if the window starts before the part of the history that fits into one read. */
function isShort({ ended, since }: EventRead, startTime: number): boolean {
  return (ended === 'enough' || ended === 'work') && since.time > startTime
}

/** Rejects an incomplete result and names a possible window, with a margin of a tenth for new fills. */
function tooLong(fills: readonly Fill[]): Failure {
  const fromMs = fills[Math.ceil(fills.length / 10)]?.time ?? EVER
  const message = `must be at least ${fromMs}: an earlier window has too many fills`
  return { kind: 'bad_field', issues: [{ path: 'startTime', message }] }
}

/** Rejects a window with a position that was opened further back than one read reaches. */
function openedBefore(closedMs: number): Failure {
  const message = `must be at least ${closedMs + 1}: a position closed earlier was opened too far back`
  return { kind: 'bad_field', issues: [{ path: 'startTime', message }] }
}

export const userPnlSummary = defineQuery({
  type: 'userPnlSummary',
  summary: 'Profit, volume and activity of a wallet',
  example: {
    request: { user: USER },
    response: {
      user: USER,
      totalPnl: '12.75',
      winRate: 0.6667,
      lossRate: 0.3333,
      totalTrades: 3,
      omittedTrades: 0,
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
      dex: TradeDex.describe('Perp DEX that the summary covers'),
    }),
  ),
  response: PnlSummary,
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ user, ...scope }, from) {
    const { startTime = 0, endTime = EVER } = scope
    const last = await tradesUpTo({ user, toMs: EVER }, from)
    // If the history after the window is too long, read back from the end of the window instead.
    const isEnd = !last.ok || endTime === EVER || !isShort(last.value.read, startTime)
    const own = isEnd ? last : await tradesUpTo({ user, toMs: endTime }, from)
    if (!own.ok) return own
    if (isShort(own.value.read, startTime)) return err(tooLong(own.value.fills))
    const { read, trades, omitted, fills } = own.value
    const omittedMs = lastCloseMs(omitted)
    if (read.ended !== 'all' && omittedMs >= startTime) return err(openedBefore(omittedMs))
    return ok(historyAnswer(pnlSummary({ user, trades, omitted, fills, nowMs: read.head.time }, scope), read))
  },
})
