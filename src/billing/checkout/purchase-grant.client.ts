// Grants the credits of a paid purchase. Invariant: the purchase number is the grant id, so a repetition grants nothing.

import type { MicroCredits } from '../../core/amount.ts'
import type { AccountId } from '../../core/ids.ts'
import { ok, type Result } from '../../core/result.ts'
import type { PaidCall } from '../../metering/meter-api.ts'
import type { CheckoutError } from './checkout-api.ts'
import type { Purchase } from './purchase.ts'
import type { PurchaseStore } from './purchases.store.ts'

export interface GrantPorts {
  /** Adds credits, once per id. `call`: charges the same amount for it. */
  grant(
    account: AccountId,
    id: string,
    micro: MicroCredits,
    call?: PaidCall | null,
  ): Promise<Result<unknown, CheckoutError>>
  report(error: unknown): void
  nowMs(): number
}

/** Records a grant that can never succeed; rejects on a temporary failure. */
export async function grantPurchase(
  { grant, report, nowMs }: GrantPorts,
  store: PurchaseStore,
  order: Purchase,
  call: PaidCall | null = null,
): Promise<Result<Purchase, CheckoutError>> {
  const granted = await grant(order.account, order.number, order.micro, call)
  if (granted.ok) return ok(await store.noteGrant(order.number, nowMs()))
  report(`checkout ${order.number}: its credits were refused (${granted.error.kind})`)
  await store.change(order, { note: 'paid, but its credits could not be granted: grant them manually' })
  return granted
}
