// Spot: what a user holds, which pairs and tokens there are. Outcome shares are balances without a token index.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

const Balance = z.looseObject({
  coin: z.string(),
  token: z.int().optional(),
  hold: Decimal,
  total: Decimal,
  entryNtl: Decimal,
})

/** Balances of one user. */
export const SpotState = z
  .looseObject({
    balances: z.array(Balance),
    tokenToAvailableAfterMaintenance: z.array(z.tuple([z.int(), Decimal])).optional(),
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
  tokenId: z.string(),
  isCanonical: z.boolean(),
  evmContract: z.looseObject({ address: z.string(), evm_extra_wei_decimals: z.int() }).nullish(),
  fullName: z.string().nullish(),
  deployerTradingFeeShare: Decimal.optional(),
})

/** Pairs and tokens; look both up by `index`, which is not the place in the list. */
export const SpotMeta = z.looseObject({ universe: z.array(Pair), tokens: z.array(Token) }).meta({ id: 'SpotMeta' })
