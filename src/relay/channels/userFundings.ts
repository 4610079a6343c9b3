// userFundings: the funding that a user paid and got, of the last day first.

import * as z from 'zod'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_FUNDING, FUNDING_AMOUNTS } from '../../protocol/info/funding-shapes.ts'
import { fundingRows } from '../events/funding-payments.ts'
import { userRowsChannel } from '../events/user-rows.ts'

/** What is past begins so long ago, or a fifth of that where it is too much for an answer, and so on. */
const PAST_MS = 24 * 3_600_000
/** An answer holds so many payments, the oldest: one that is full lacks the newest. */
const ANSWER_ROWS = 500

export const userFundings = userRowsChannel({
  type: 'userFundings',
  summary: 'The funding that a user paid and got',
  list: 'fundings',
  row: z.looseObject({ time: z.int(), ...FUNDING_AMOUNTS }),
  example: { user: USER, row: { time: TIME, ...EXAMPLE_FUNDING } },
  rows: ({ late }) => late?.paid ?? [],
  late: 'paid',
  ask: (user, nowMs, tries) => ({ type: 'userFunding', user, startTime: Math.ceil(nowMs - PAST_MS / 5 ** tries) }),
  past: (answer) => {
    const rows = fundingRows(answer)
    if (rows.length >= ANSWER_ROWS) throw new Error('it does not reach to the present')
    return rows
  },
})
