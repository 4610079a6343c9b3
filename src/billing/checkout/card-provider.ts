// A payment provider that saves cards and charges them. Types only.

import type { AccountId } from '../../core/ids.ts'
import type { Result } from '../../core/result.ts'
import type { Charge, SavedCard } from './auto-top-up.ts'
import type { Purchase } from './purchase.ts'

export interface CardSetup {
  readonly session: string
  readonly url: string
}

/** An error is a sentence for the operator, and says nothing about the charge. */
export type ChargeResult = Result<Charge, string>

export interface CardProvider {
  /** A page on which the owner saves a card. */
  openSetup(account: AccountId): Promise<Result<CardSetup, string>>
  /** The card that was saved there; null: none yet, or it is not a page of this account. */
  savedCard(session: string, account: AccountId): Promise<Result<SavedCard | null, string>>
  /** After it, the card can never be charged again. */
  detach(method: string): Promise<Result<void, string>>
  /** Charges the card of the order. Repeating it within a day yields the same charge. */
  charge(order: Purchase): Promise<ChargeResult>
  /** Null: the provider has no such charge, or no longer. */
  look(reference: string): Promise<Result<Charge | null, string>>
  /** The charge of an order whose response was lost; null: there is none. */
  find(order: Purchase): Promise<Result<Charge | null, string>>
  /** True: the charge can no longer succeed. */
  cancel(reference: string): Promise<boolean>
}
