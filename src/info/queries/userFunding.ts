// userFunding: funding paid (negative) and received by a user in a time window, oldest first, at most 500. Same
// response as the exchange's API. Rows come from our own files, one per hour; older ones come from an upstream source.
// Old upstream rows merge the hours of a day (`nSamples`, mean size), so each day comes entirely from one of the two
// sources, for any window.

import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { type LedgerEvent, TxHash } from '../../protocol/feed/block.ts'
import { EXAMPLE_FUNDING, FUNDING_AMOUNTS } from '../../protocol/info/account-shapes.ts'
import { HASH, TIME, USER } from '../../protocol/info/examples.ts'
import { ANY_WINDOW, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { RowCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import type { EventRead } from '../ports.ts'
import { defineQuery } from '../query.ts'
import { listAnswer } from '../sources/row-pages.ts'

const ROWS_MAX = 500
/** The node may write the funding of an hour some time after its block. */
const LATE_MS = 60_000

const FundingPayment = () =>
  z.looseObject({
    time: z.int(),
    hash: TxHash,
    delta: z
      .looseObject({
        type: z.literal('funding').describe('Kind of movement; more kinds may be added'),
        ...FUNDING_AMOUNTS,
      })
      .describe('Movement'),
  })

export const userFunding = defineQuery({
  type: 'userFunding',
  summary: 'Funding that a user paid and received',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, hash: HASH, delta: { type: 'funding', ...EXAMPLE_FUNDING } }],
  },
  request: withOwnCursor(
    withOrderedWindow(
      z.object({ type: z.literal('userFunding'), user: UserAddress, ...ANY_WINDOW, cursor: RowCursor }),
    ),
  ),
  response: () => z.array(FundingPayment()),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve(request, from) {
    return listAnswer<z.infer<ReturnType<typeof FundingPayment>>>(
      {
        request,
        isWindowed: true,
        kind: 'funding',
        order: 'oldest',
        limit: ROWS_MAX,
        rowsOf: ({ ledger = [] }) => ledger.filter(({ delta }) => delta.type === 'funding').map(paymentOf),
        timeOf: ({ time }) => time,
        idOf: ({ time, delta }) => `${time} ${delta.coin}`,
        ownFrom: firstDay,
        lateMs: LATE_MS,
      },
      from,
    )
  },
})

function paymentOf({ time, hash, delta }: LedgerEvent): z.infer<ReturnType<typeof FundingPayment>> {
  return { time, hash, delta: delta as z.infer<ReturnType<typeof FundingPayment>>['delta'] }
}

/** Start of the first complete day. If there is none, upstream sources have not merged hours yet either. */
function firstDay({ since, head }: Pick<EventRead, 'since' | 'head'>): number {
  const dayMs = Math.ceil(since.time / DAY_MS) * DAY_MS
  return dayMs <= head.time ? dayMs : since.time
}
