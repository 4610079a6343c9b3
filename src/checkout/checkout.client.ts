// The checkout of a gateway, as its variables and secrets have it.

import type { CheckoutPorts } from './checkout-service.client.ts'
import { CheckoutService } from './checkout-service.client.ts'
import { MANUAL, type Provider } from './provider.ts'
import { STRIPE_API, stripe } from './stripe/stripe.client.ts'

/** Stripe's are there where Stripe is used alone. */
export interface CheckoutEnv {
  readonly ACCOUNTS: D1Database
  readonly STRIPE_SECRET_KEY?: string
  readonly STRIPE_WEBHOOK_SECRET?: string
}

export interface CheckoutSettings {
  readonly CHECKOUT: 'off' | Provider['name']
  readonly CHECKOUT_PRICES: CheckoutPorts['prices']
  readonly PUBLIC_URL: string
}

export function checkoutOf(
  { ACCOUNTS: db, STRIPE_SECRET_KEY: secretKey = '' }: CheckoutEnv,
  { CHECKOUT: name, CHECKOUT_PRICES: prices, PUBLIC_URL: publicUrl }: CheckoutSettings,
  deps: Pick<CheckoutPorts, 'grant' | 'report' | 'nowMs'>,
): CheckoutService {
  const providers = { off: null, manual: MANUAL, stripe: stripe({ secretKey, apiUrl: STRIPE_API, publicUrl }) }
  return new CheckoutService({ db, prices, provider: providers[name], ...deps })
}
