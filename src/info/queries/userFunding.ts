// userFunding: the funding that a user paid (below zero) and got in a window, oldest first, at most 500. Wire-equal. Where there
// are files our own, an hour a row, and a source's for what is older, whose old rows stand for the `nSamples` hours of a day, with
// their mean size: a day is told in one of both ways, whichever window asks for it.

import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { type LedgerEvent, TxHash } from '../../protocol/feed/block.ts'
import { EXAMPLE_FUNDING, FUNDING_AMOUNTS } from '../../protocol/info/account-shapes.ts'
import { HASH, TIME, USER } from '../../protocol/info/examples.ts'
import { ANY_WINDOW, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import type { EventRead } from '../ports.ts'
import { defineQuery } from '../query.ts'
import { rowsAnswer } from '../sources/own-rows.ts'

const ROWS_MAX = 500
/** The node's line of an hour may come behind its block. */
const LATE_MS = 60_000

const FundingPayment = z.looseObject({
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
  summary: 'The funding that a user paid and got',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, hash: HASH, delta: { type: 'funding', ...EXAMPLE_FUNDING } }],
  },
  request: withOrderedWindow(z.object({ type: z.literal('userFunding'), user: UserAddress, ...ANY_WINDOW })),
  response: z.array(FundingPayment),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve(request, from) {
    return rowsAnswer<z.infer<typeof FundingPayment>>(
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

function paymentOf({ time, hash, delta }: LedgerEvent): z.infer<typeof FundingPayment> {
  return { time, hash, delta: delta as z.infer<typeof FundingPayment>['delta'] }
}

/** When the first day begins of which no hour is missing; before there is one, sources have not merged hours either. */
function firstDay({ since, head }: Pick<EventRead, 'since' | 'head'>): number {
  const dayMs = Math.ceil(since.time / DAY_MS) * DAY_MS
  return dayMs <= head.time ? dayMs : since.time
}
