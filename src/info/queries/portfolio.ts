// portfolio: what an account was worth and has won, over a day, a week, a month and all time. Wire-equal.

import { EXAMPLE_PORTFOLIO, Portfolio } from '../../protocol/info/account-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const portfolio = ofUserQuery({
  type: 'portfolio',
  summary: 'What an account was worth and has won over time',
  example: EXAMPLE_PORTFOLIO,
  response: Portfolio,
})
