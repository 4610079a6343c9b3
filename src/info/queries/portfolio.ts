// portfolio: account value and profit over a day, a week, a month and all time. Same response as the exchange's API.

import { EXAMPLE_PORTFOLIO, Portfolio } from '../../protocol/info/account-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const portfolio = ofUserQuery({
  type: 'portfolio',
  summary: 'Account value and profit over time',
  example: EXAMPLE_PORTFOLIO,
  response: () => Portfolio,
})
