// Gateway variables, parsed once per isolate. The ambient type Cloudflare.Env describes bindings and secrets.

import * as z from 'zod'
import { TOKEN_COINS_MAX } from '../accounts/stream-token.ts'
import { INVOICE, taxedPriceError } from '../billing/checkout/invoice-terms.ts'
import { CheckoutPrices } from '../billing/checkout/prices.ts'
import { X402 } from '../billing/x402/settings.ts'
import { Count, JsonText, LiveSettings, readVariables, Switch } from '../core/variables.ts'
import { RELAY_REGIONS, type RelayRegion } from '../relay/sockets/region.ts'
import { RpcChains } from '../rpc/chains.ts'
import { parseSources } from '../upstream/sources.ts'
import { SignUpSettings } from './signup/signup-bounds.ts'
import { SiteLinks } from './site/site-links.ts'

const AccountName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be an account name, or empty for none')
const COINS_MESSAGE = `must be at most ${TOKEN_COINS_MAX} coins separated by commas, or empty for all`
const CoinList = z
  .string(COINS_MESSAGE)
  .regex(/^([\x21-\x2b\x2d-\x7e]{1,64}(,(?!$)|$))*$/, COINS_MESSAGE)
  .transform((list) => (list === '' ? null : list.split(',')))
  .refine((coins) => (coins?.length ?? 0) <= TOKEN_COINS_MAX, COINS_MESSAGE)

const REGIONS_MESSAGE = `must be regions separated by commas, such as "apac-ne,weur,enam", from ${RELAY_REGIONS.join(', ')}, or empty for all`
const isRelayRegion = (name: string): name is RelayRegion => RELAY_REGIONS.some((one) => one === name)

export const GatewaySettings = LiveSettings.extend({
  RELAYS_PER_REGION: Count(256),
  /** Regions in which relays are created. Callers of other regions are served by the nearest one. Null: all regions. */
  RELAY_REGIONS: z.string(REGIONS_MESSAGE).transform((list, context): readonly RelayRegion[] | null => {
    const regions = list === '' ? [] : list.split(',')
    if (regions.every(isRelayRegion) && new Set(regions).size === regions.length)
      return regions.length === 0 ? null : regions
    context.addIssue({ code: 'custom', message: REGIONS_MESSAGE })
    return z.NEVER
  }),
  PATH_KEYS: Switch,
  /** Off: keys without the keyed checksum, for example imported ones, are accepted. */
  KEY_CHECK: Switch,
  METER_FAILURE: z.enum(['closed', 'open'], 'must be "closed" or "open"'),
  /** On: the platform or the operator's proxy sets `cf-connecting-ip`, so the caller cannot forge it. */
  TRUST_PROXY: Switch,
  /** Whether a period without trades has no candle, or a flat candle with the previous close. */
  EMPTY_CANDLES: z.enum(['none', 'flat'], 'must be "none" or "flat"'),
  /** US dollars per million credits, exact to the millionth. Empty: operator reports show no dollar amounts. */
  MILLION_CREDITS_USD: z
    .string('must be a string such as "49.5"')
    .regex(/^(?:\d{1,6}(?:\.\d{1,6})?)?$/, 'must be an amount in US dollars such as "49.5", or empty')
    .transform((text) => (text === '' ? null : Math.round(Number(text) * 1e6))),
  /** Account that pays for visitors to /live who have no key. Null: such visitors are not admitted. */
  LIVE_ACCOUNT: z.union([z.literal(''), AccountName]).transform((account) => account || null),
  /** Hourly spending limit of all those visitors together, and their socket limit per relay. */
  LIVE_CREDITS_PER_HOUR: Count(1_000_000),
  LIVE_SOCKETS: Count(10_000),
  /** Coins shown to them. Null: all. */
  LIVE_COINS: CoinList,
  UPSTREAMS: z.string("must be a string: JSON in triple quotes, '''[…]'''").transform((text, context) => {
    const sources = parseSources(text)
    if (sources.ok) return sources.value
    context.addIssue({ code: 'custom', message: sources.error })
    return z.NEVER
  }),
  RPC_CHAINS: RpcChains,
  /** Payment provider for credits. */
  CHECKOUT: z.enum(['off', 'manual', 'stripe'], 'must be "off", "manual" or "stripe"'),
  CHECKOUT_PRICES: JsonText(CheckoutPrices),
  /** Seller, tax and terms of invoices. Null: orders have no invoices. */
  INVOICE,
  /** Networks on which wallets pay. Empty: none. */
  X402,
  /** Delivery of sign-up links: the gateway's log or the operator's mailer. */
  SIGNUP: z.enum(['off', 'log', 'http'], 'must be "off", "log" or "http"'),
  SIGNUP_SETTINGS: JsonText(SignUpSettings),
  /** The operator's own pages, such as terms and support. */
  SITE_LINKS: JsonText(SiteLinks),
})
export type GatewaySettings = z.infer<typeof GatewaySettings>

export function gatewaySettings(env: object): GatewaySettings {
  const settings = readVariables(GatewaySettings, env)
  const missing = missingDependencies(settings)
  if (missing.length > 0) throw new Error(missing.join('; '))
  return settings
}

/** Missing variables that other settings require, and contradictions between settings, one sentence each. */
export function missingDependencies({
  CHECKOUT,
  CHECKOUT_PRICES,
  INVOICE: terms,
  SIGNUP,
  SIGNUP_SETTINGS,
  X402: networks,
  PUBLIC_URL,
}: GatewaySettings): string[] {
  // A facilitator of this machine is that of a simulated exchange.
  const isSelling = networks.some(({ facilitator }) => facilitator.startsWith('https:'))
  const tooHigh = taxedPriceError(CHECKOUT_PRICES, terms)
  return [
    ...(tooHigh === null ? [] : [tooHigh]),
    // Wallets sign for its host, which a request could forge.
    ...(isSelling && !PUBLIC_URL ? ['PUBLIC_URL: required when X402 has a network'] : []),
    ...(CHECKOUT === 'stripe' && !PUBLIC_URL ? ['PUBLIC_URL: required when CHECKOUT is "stripe"'] : []),
    ...(SIGNUP === 'http' && !PUBLIC_URL ? ['PUBLIC_URL: required when SIGNUP is "http"'] : []),
    ...(SIGNUP === 'http' && !SIGNUP_SETTINGS.mailer
      ? ['SIGNUP_SETTINGS: mailer is required when SIGNUP is "http"']
      : []),
  ]
}
