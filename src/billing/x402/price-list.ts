// The price list of GET /x402: where wallets pay, and what a call costs without a key. Amounts are exact decimal strings.

import * as z from 'zod'
import { PRODUCTS } from '../../accounts/identity.ts'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { quoteForCall, usdText } from './price.ts'
import type { PaymentNetwork } from './settings.ts'

const Usd = z.string().regex(/^\d+(\.\d{1,6})?$/)
const Address = z.string().regex(/^0x[0-9a-f]{40}$/)

export const PriceList = z.object({
  x402Version: z.literal(2).describe('Version of the protocol'),
  networks: z
    .array(
      z.object({
        network: z.string().describe('CAIP-2 id of the chain'),
        scheme: z.literal('exact').describe('Scheme of x402'),
        asset: z
          .object({
            address: Address.describe('Contract of the token'),
            symbol: z.string().describe('Symbol'),
            decimals: z.literal(6).describe('Decimals'),
            name: z.string().describe('Name in the EIP-712 domain'),
            version: z.string().describe('Version in the EIP-712 domain'),
          })
          .describe('Token that is paid'),
        pay_to: Address.describe('Receiver of the payments'),
        credits_per_usd: z.string().describe('Credits for one US dollar'),
        least_usd: Usd.describe('Least price of a call'),
        multiple: z.string().describe('Price of a call without a key, as a multiple of its credits'),
        top_up: z
          .object({ least_usd: Usd.describe('Least amount'), most_usd: Usd.describe('Largest amount') })
          .describe('Amounts for which `POST /x402/credits` sells credits'),
      }),
    )
    .describe('Where wallets pay'),
  top_up: z.literal('POST /x402/credits?usd=5').describe('Sells credits and returns an API key'),
  key: z.literal('POST /x402/key').describe('Returns a new API key to a wallet that has paid'),
  docs: z.literal('/docs/guides/pay-per-call').describe('How to pay'),
  calls: z
    .array(
      z.object({
        product: z.enum(PRODUCTS).describe('Product'),
        type: z.string().describe('Type, method or operation; `*`: all others of the chain'),
        request: z.string().describe('Request, such as `POST /info`'),
        credits: z.string().describe('Credits with a key'),
        usd: z
          .record(z.string(), Usd)
          .describe('Price without a key on each network, in US dollars, if no field of the request raises it'),
        schema: z.string().describe('Where the request is described'),
      }),
    )
    .describe('Calls that wallets can pay for'),
})

/** A call with its price in credits; `credits` says more if fields of the request raise it. */
export interface PricedCall extends Omit<z.infer<typeof PriceList>['calls'][number], 'usd'> {
  readonly micro: MicroCredits
}

export function priceList(
  networks: readonly PaymentNetwork[],
  calls: readonly PricedCall[],
): z.infer<typeof PriceList> {
  return {
    x402Version: 2,
    networks: networks.map(({ network, asset, payTo, creditsPerUsd, leastUsd, multiple, topUp }) => ({
      network,
      scheme: 'exact',
      asset,
      pay_to: payTo,
      credits_per_usd: formatCredits(creditsPerUsd),
      least_usd: usdText(leastUsd),
      multiple: formatCredits(multiple),
      top_up: { least_usd: usdText(topUp.leastUsd), most_usd: usdText(topUp.mostUsd) },
    })),
    top_up: 'POST /x402/credits?usd=5',
    key: 'POST /x402/key',
    docs: '/docs/guides/pay-per-call',
    calls: calls.map(({ micro, ...call }) => ({
      ...call,
      usd: Object.fromEntries(networks.map((each) => [each.network, usdText(quoteForCall(micro, each).minor)])),
    })),
  }
}
