// userNonFundingLedgerUpdates: balance changes of a user except funding, oldest first, at most 500. Same response as
// the exchange's API. More kinds of `delta` may be added. Rows come from our own files; older ones come from an
// upstream source.

import * as z from 'zod'
import { LedgerUpdate } from '../../protocol/feed/ledger-update.ts'
import { HASH, TIME, USER } from '../../protocol/info/examples.ts'
import { ANY_WINDOW, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { RowCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import { defineQuery } from '../query.ts'
import { listAnswer } from '../sources/row-pages.ts'

const ROWS_MAX = 500

export const userNonFundingLedgerUpdates = defineQuery({
  type: 'userNonFundingLedgerUpdates',
  summary: "A user's balance changes, except funding",
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, hash: HASH, delta: { type: 'deposit', usdc: '100.5' } }],
  },
  request: withOwnCursor(
    withOrderedWindow(
      z.object({
        type: z.literal('userNonFundingLedgerUpdates'),
        user: UserAddress,
        ...ANY_WINDOW,
        cursor: RowCursor,
      }),
    ),
  ),
  response: () => z.array(LedgerUpdate),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  async resolve(request, from) {
    return listAnswer(
      {
        request,
        isWindowed: true,
        kind: 'ledger',
        order: 'oldest',
        limit: ROWS_MAX,
        rowsOf: ({ ledger = [] }) => ledger.map(({ time, hash, delta }) => ({ time, hash, delta })),
        timeOf: ({ time }) => time,
        idOf: ({ time, hash, delta }) => `${time} ${hash} ${delta.type}`,
      },
      from,
    )
  },
})
