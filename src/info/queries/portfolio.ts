// portfolio: what an account was worth and has won, over a day, a week, a month and all time. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_PORTFOLIO, Portfolio } from '../../protocol/info/portfolio-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const PortfolioRequest = z.object({ type: z.literal('portfolio'), user: UserAddress })

export const portfolio = defineQuery({
  type: 'portfolio',
  summary: 'What an account was worth and has won over time',
  example: { request: { user: USER }, response: EXAMPLE_PORTFOLIO },
  request: PortfolioRequest,
  response: Portfolio,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
