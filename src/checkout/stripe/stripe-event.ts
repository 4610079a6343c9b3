// What Stripe tells of an order: its events, of which few fields are read. Law: what is none of ours, or says too little,
// is no news.

import * as z from 'zod'
import type { News } from '../order.ts'

const Order = z.looseObject({ order: z.string().max(64), account: z.string().max(64).optional() })
const Sum = { currency: z.string().max(8) }

const Session = z.looseObject({
  id: z.string().max(255),
  metadata: Order,
  amount_total: z.int(),
  ...Sum,
  payment_status: z.string(),
})
const Charge = z.looseObject({ metadata: Order, amount_refunded: z.int(), ...Sum })

export const StripeEvent = z.looseObject({
  id: z.string().regex(/^evt_\w{1,250}$/),
  type: z.string().regex(/^[a-z0-9_.]{1,100}$/),
  data: z.looseObject({ object: z.unknown() }),
})
export type StripeEvent = z.infer<typeof StripeEvent>

/** Null where it is nothing about an order. */
export function newsOf({ type, data: { object } }: StripeEvent): News | null {
  if (type === 'charge.refunded') return refundNews(object)
  const [, , what] = /^(checkout\.session)\.(\w+)$/.exec(type) ?? []
  const session = Session.safeParse(object)
  if (what === undefined || !session.success) return null
  const { id: reference, metadata, amount_total: minor, currency, payment_status: status } = session.data
  const about = { number: metadata.order, account: metadata.account ?? null, reference }
  switch (what) {
    case 'completed':
    case 'async_payment_succeeded':
      return { ...about, what: status === 'paid' ? { kind: 'paid', minor, currency } : { kind: 'pending' } }
    case 'async_payment_failed':
      return { ...about, what: { kind: 'failed' } }
    case 'expired':
      return { ...about, what: { kind: 'expired' } }
    default:
      return null
  }
}

function refundNews(object: unknown): News | null {
  const charge = Charge.safeParse(object)
  if (!charge.success) return null
  const { metadata, amount_refunded: minor, currency } = charge.data
  const about = { number: metadata.order, account: metadata.account ?? null, reference: null }
  return { ...about, what: { kind: 'refunded', minor, currency } }
}
