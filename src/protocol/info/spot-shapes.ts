// Spot balances, pairs and tokens. Outcome shares are balances without a token index.

import * as z from 'zod'
import { Address } from '../feed/block.ts'
import { AmountByToken, Decimal } from './common-shapes.ts'

/** Only portfolio margin accounts have the fields `spotHold` to `supplied`. */
const Balance = z.looseObject({
  coin: z.string(),
  token: z.int().optional().describe('Index of the spot token'),
  total: Decimal.describe('Balance, including the part held by orders'),
  hold: Decimal.describe('Amount held by open orders'),
  entryNtl: Decimal,
  spotHold: Decimal.optional().describe('Amount held by spot orders'),
  ltv: Decimal.optional(),
  borrowed: Decimal.optional(),
  supplied: Decimal.optional(),
})

/** Balances of one user. Fields of features that the user does not use are omitted. */
export const SpotState = z
  .looseObject({
    portfolioMarginEnabled: z.boolean().optional(),
    balances: z.array(Balance),
    evmEscrows: z
      .array(
        z.looseObject({
          coin: z.string(),
          token: z.int().describe('Index of the spot token'),
          total: Decimal.describe('Balance, including the part held by orders'),
        }),
      )
      .optional()
      .describe('Transfers to the EVM in progress'),
    portfolioMarginRatio: Decimal.optional(),
    tokenToPortfolioBorrowRatio: AmountByToken.optional().describe('Borrow ratio by token'),
    tokenToPortfolioSupplyRatio: AmountByToken.optional().describe('Supply ratio by token'),
    tokenToAvailableAfterMaintenance: AmountByToken.optional().describe(
      'Amount available above maintenance margin, by token',
    ),
  })
  .meta({ id: 'SpotState' })

const Pair = z.looseObject({
  tokens: z.tuple([z.int().describe('Base token index'), z.int().describe('Quote token index')]),
  name: z.string(),
  index: z.int(),
  isCanonical: z.boolean(),
})

const Token = z.looseObject({
  name: z.string(),
  szDecimals: z.int(),
  weiDecimals: z.int(),
  index: z.int(),
  tokenId: z.string().regex(/^0x[0-9a-f]{32}$/),
  isCanonical: z.boolean(),
  evmContract: z
    .looseObject({ address: Address, evm_extra_wei_decimals: z.int() })
    .nullable()
    .describe('EVM contract; null: none'),
  fullName: z.string().nullable(),
  deployerTradingFeeShare: Decimal,
})

/** Pairs and tokens. Look them up by `index`, because it differs from the position in the list. */
export const SpotMeta = z
  .looseObject({ universe: z.array(Pair).describe('Markets in index order'), tokens: z.array(Token) })
  .meta({ id: 'SpotMeta' })
