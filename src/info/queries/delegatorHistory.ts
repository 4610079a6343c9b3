// delegatorHistory: staking actions of a user, newest first. Same response as the exchange's API.
// `delta` has one key, its kind; more kinds may be added. Rows come from our own files; older ones come from an
// upstream source.

import * as z from 'zod'
import { kindsByKey, openEnum } from '../../core/open-kinds.ts'
import { Address, type LedgerEvent, TxHash } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { HASH, OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { rowsAnswer } from '../sources/own-rows.ts'

/** Maximum number of rows from our files. The exchange returns all rows. */
const ROWS_MAX = 10_000

const Delta = () =>
  kindsByKey({
    delegate: z.looseObject({
      validator: Address,
      amount: Decimal,
      isUndelegate: z.boolean().describe('Whether it is an undelegation'),
    }),
    cDeposit: z.looseObject({ amount: Decimal }).describe('Deposit to the staking balance'),
    withdrawal: z.looseObject({ amount: Decimal, phase: openEnum('initiated', 'finalized') }),
  })

export const delegatorHistory = defineQuery({
  type: 'delegatorHistory',
  summary: 'Staking actions of a user',
  example: {
    request: { user: USER },
    response: [
      { time: TIME, hash: HASH, delta: { delegate: { validator: OTHER_USER, amount: '100.5', isUndelegate: false } } },
    ],
  },
  request: z.object({ type: z.literal('delegatorHistory'), user: UserAddress }),
  response: () => z.array(z.looseObject({ time: z.int(), hash: TxHash, delta: Delta().describe('Movement') })),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve(request, from) {
    return rowsAnswer(
      {
        request,
        isWindowed: false,
        kind: 'staking',
        order: 'newest',
        limit: ROWS_MAX,
        rowsOf: ({ ledger = [] }) => ledger.map(rowOf),
        timeOf: ({ time }) => time,
        idOf: ({ time, hash, delta }) => `${time} ${hash} ${Object.keys(delta)[0]}`,
      },
      from,
    )
  },
})

function rowOf({ time, hash, delta: { type, ...fields } }: LedgerEvent) {
  return { time, hash, delta: { [type]: fields } }
}
