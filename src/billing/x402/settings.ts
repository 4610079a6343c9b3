// The variable X402: networks on which wallets pay, and what a credit costs there. Invariants: amounts are whole
// millionths, never floats; every asset has six decimals, so a millionth of a dollar is its smallest unit.

import * as z from 'zod'
import { JsonText } from '../../core/variables.ts'

const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: "0x" and 40 hex digits')
  .transform((address) => address.toLowerCase())

/** A positive decimal such as "0.005", as an integer of millionths. */
function Millionths(max: number) {
  const message = `must be a string such as "0.005", with at most 6 decimals, from 0.000001 to ${max}`
  return z
    .string(message)
    .regex(/^\d{1,9}(?:\.\d{1,6})?$/, message)
    .transform((text) => {
      const [whole = '', fraction = ''] = text.split('.')
      return Number(whole + fraction.padEnd(6, '0'))
    })
    .refine((value) => value > 0 && value <= max * 1e6, message)
}

const Public = z.url({ protocol: /^https$/ })
const Loopback = z.url({ protocol: /^http$/, hostname: /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/ })
const URL_MESSAGE = 'must be an https URL, or an http URL of this machine, at most 2,000 characters'

const SafeUrl = z
  .string(URL_MESSAGE)
  .max(2_000, URL_MESSAGE)
  .refine((url) => Public.safeParse(url).success || Loopback.safeParse(url).success, URL_MESSAGE)

const text = (max: number) => z.string().min(1).max(max)

const PaymentNetwork = z
  .strictObject({
    payTo: Address,
    /** CAIP-2 id of an EVM chain. */
    network: z.string().regex(/^eip155:[1-9]\d{0,15}$/, 'must be an EVM chain such as "eip155:8453"'),
    /** A token with ERC-3009. `name` and `version` are those of its EIP-712 domain. */
    asset: z.strictObject({
      address: Address,
      symbol: z.string().regex(/^[A-Za-z]{4,8}$/, 'must be 4 to 8 letters such as "USDC"'),
      decimals: z.literal(6, 'must be 6: other tokens are not supported'),
      name: text(64),
      version: text(16),
    }),
    facilitator: SafeUrl.transform((url) => url.replace(/\/+$/, '')),
    /** JSON-RPC node of the chain. A payment then counts only once the chain shows it. */
    rpcUrl: SafeUrl.optional(),
    creditsPerUsd: Millionths(1_000_000).refine((credits) => credits >= 1e6, 'must be at least "1"'),
    leastUsd: Millionths(1_000),
    /** Price of a call without a key, as a multiple of its credits. */
    multiple: Millionths(1_000),
    topUp: z
      .strictObject({ leastUsd: Millionths(100_000), mostUsd: Millionths(100_000) })
      .refine(({ leastUsd, mostUsd }) => leastUsd <= mostUsd, {
        path: ['mostUsd'],
        message: 'must be at least leastUsd',
      }),
    /** Plan of the accounts of wallets. */
    plan: text(64),
  })
  .refine(({ topUp, creditsPerUsd }) => BigInt(topUp.mostUsd) * BigInt(creditsPerUsd) <= 10n ** 21n, {
    path: ['topUp', 'mostUsd'],
    message: 'buys more than a billion credits',
  })
/** Amounts in USD and credits per USD are integers of millionths. */
export type PaymentNetwork = z.infer<typeof PaymentNetwork>

const PaymentNetworks = z
  .array(PaymentNetwork)
  .max(4)
  .refine((all) => new Set(all.map(({ network }) => network)).size === all.length, 'must name each network once')
  // The token of the facilitator must reach no other host.
  .refine((all) => new Set(all.map(({ facilitator }) => facilitator)).size <= 1, 'must have one facilitator')

/** Empty: no payments. Otherwise JSON of one network, or of a list of up to four. */
export const X402 = z
  .string()
  .transform((text) => (text.trim().startsWith('[') ? text : `[${text}]`))
  .pipe(JsonText(PaymentNetworks))

/** Variables of a Payer, the same as in the gateway. */
export const PayerSettings = z.object({ X402 })
