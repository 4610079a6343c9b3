// portfolio: what an account was worth and has won, over a day, a week, a month and all time. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_PORTFOLIO, Portfolio } from '../../protocol/info/portfolio-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const portfolio = passThroughQuery({
  type: 'portfolio',
  summary: 'What an account was worth and has won over time',
  example: { request: { user: USER }, response: EXAMPLE_PORTFOLIO },
  request: z.object({ type: z.literal('portfolio'), user: UserAddress }),
  response: Portfolio,
  freshness: { class: 'user' },
})
