// Offers to the payer of a request: one per network.

import type { Quote } from '../checkout/prices.ts'
import type { Requirement } from './payment.ts'
import type { PaymentNetwork } from './settings.ts'

/** Wallets sign authorizations that are valid for this long. */
const TIMEOUT_SECONDS = 300

export interface Offer {
  readonly quote: Quote
  readonly requirement: Requirement
}

export function offerOn({ network, payTo, asset }: PaymentNetwork, quote: Quote): Offer {
  const { address, name, version } = asset
  return {
    quote,
    requirement: {
      scheme: 'exact',
      network: network as Requirement['network'],
      amount: String(quote.minor),
      asset: address,
      payTo,
      maxTimeoutSeconds: TIMEOUT_SECONDS,
      extra: { name, version },
    },
  }
}
