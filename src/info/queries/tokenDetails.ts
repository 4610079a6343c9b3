// tokenDetails: spot token by id: supply, prices and deployment. Deployment fields are null for tokens created by the
// exchange. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { TokenId } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const TOKEN_ID = `0x${'6d'.repeat(16)}`
/** Rows of `[address, amount]`. */
const Balances = () => z.array(z.tuple([Address.describe('Wallet'), Decimal.describe('Amount')]))

const TokenDetails = () =>
  z.looseObject({
    name: z.string(),
    maxSupply: Decimal,
    totalSupply: Decimal,
    circulatingSupply: Decimal,
    szDecimals: z.int(),
    weiDecimals: z.int(),
    midPx: Decimal.describe('Mid price; null if there is no book'),
    markPx: Decimal,
    prevDayPx: Decimal,
    genesis: z
      .looseObject({
        userBalances: Balances(),
        existingTokenBalances: z.array(z.tuple([z.int().describe('Token index'), Decimal.describe('Amount')])),
        blacklistUsers: z.array(Address).optional(),
      })
      .nullable()
      .describe('Genesis distribution; null for tokens of the exchange'),
    deployer: Address.nullable(),
    deployGas: Decimal.nullable(),
    /** UTC without a time zone, millisecond precision. */
    deployTime: z.iso.datetime({ local: true }).nullable().describe('Deployment time, UTC'),
    seededUsdc: Decimal,
    nonCirculatingUserBalances: Balances(),
    futureEmissions: Decimal,
  })

const EXAMPLE = {
  name: 'PURR',
  maxSupply: '1000000000.0',
  totalSupply: '600000000.0',
  circulatingSupply: '500000000.0',
  szDecimals: 0,
  weiDecimals: 5,
  midPx: '0.21',
  markPx: '0.21',
  prevDayPx: '0.2',
  genesis: {
    userBalances: [[USER, '1000.0']],
    existingTokenBalances: [[1, '0.5']],
    blacklistUsers: [OTHER_USER],
  },
  deployer: USER,
  deployGas: '100.0',
  deployTime: '2024-06-05T10:50:59.434',
  seededUsdc: '0.0',
  nonCirculatingUserBalances: [[OTHER_USER, '100000000.0']],
  futureEmissions: '0.0',
}

export const tokenDetails = passThroughQuery({
  type: 'tokenDetails',
  summary: 'Supply, prices and genesis of a spot token',
  example: { request: { tokenId: TOKEN_ID }, response: EXAMPLE },
  request: z.object({
    type: z.literal('tokenDetails'),
    tokenId: TokenId.describe('Token id, from `spotMeta`'),
  }),
  response: TokenDetails,
  freshness: { class: 'tick' },
})
