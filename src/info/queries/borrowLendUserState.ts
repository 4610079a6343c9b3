// borrowLendUserState: amounts borrowed and lent by a user, per token. `healthFactor` is null if there is no debt. Same
// response as the exchange's API.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const Part = () => z.looseObject({ basis: Decimal, value: Decimal.describe('Current amount') })

const BorrowLendUserState = () =>
  z.looseObject({
    tokenToState: z.array(
      z.tuple([
        z.int().describe('Token index'),
        z.looseObject({ borrow: Part(), supply: Part() }).describe('State of the token'),
      ]),
    ),
    health: openEnum('healthy', 'atRisk', 'marketLiquidatable', 'backstopLiquidatable'),
    healthFactor: Decimal.nullable().describe('Health factor; null if there is no debt'),
  })

export const borrowLendUserState = ofUserQuery({
  type: 'borrowLendUserState',
  summary: 'Amounts that a user borrowed and lent',
  example: {
    tokenToState: [[150, { borrow: { basis: '10.0', value: '10.5' }, supply: { basis: '100.0', value: '101.0' } }]],
    health: 'healthy',
    healthFactor: '2.5',
  },
  response: BorrowLendUserState,
})
