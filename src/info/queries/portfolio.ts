// portfolio: what an account was worth and has won, over a day, a week, a month and all time. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { USER } from '../shapes/examples.ts'
import { EXAMPLE_PORTFOLIO, Portfolio } from '../shapes/portfolio-shapes.ts'
import { UserAddress } from '../shapes/request-fields.ts'
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
