// Spot: what a user holds, which pairs and tokens there are. Outcome shares are balances without a token index.

import * as z from 'zod'
import { Address } from '../../feed/block.ts'
import { AmountByToken, Decimal } from './common-shapes.ts'

/** `spotHold` to `supplied` are of accounts with portfolio margin. */
const Balance = z.looseObject({
  coin: z.string(),
  token: z.int().optional(),
  total: Decimal,
  hold: Decimal,
  entryNtl: Decimal,
  spotHold: Decimal.optional(),
  ltv: Decimal.optional(),
  borrowed: Decimal.optional(),
  supplied: Decimal.optional(),
})

/** Balances of one user; what an account does not use is left out. */
export const SpotState = z
  .looseObject({
    portfolioMarginEnabled: z.boolean().optional(),
    balances: z.array(Balance),
    evmEscrows: z.array(z.looseObject({ coin: z.string(), token: z.int(), total: Decimal })).optional(),
    portfolioMarginRatio: Decimal.optional(),
    tokenToPortfolioBorrowRatio: AmountByToken.optional(),
    tokenToPortfolioSupplyRatio: AmountByToken.optional(),
    tokenToAvailableAfterMaintenance: AmountByToken.optional(),
  })
  .meta({ id: 'SpotState' })

const Pair = z.looseObject({
  tokens: z.tuple([z.int(), z.int()]),
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
  evmContract: z.looseObject({ address: Address, evm_extra_wei_decimals: z.int() }).nullable(),
  fullName: z.string().nullable(),
  deployerTradingFeeShare: Decimal,
})

/** Pairs and tokens; look both up by `index`, which is not the place in the list. */
export const SpotMeta = z.looseObject({ universe: z.array(Pair), tokens: z.array(Token) }).meta({ id: 'SpotMeta' })
