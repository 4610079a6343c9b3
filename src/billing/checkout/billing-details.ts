// Billing details of an account, which appear on its invoices as the buyer.

import * as z from 'zod'
import type { ChangeAuthor } from '../../accounts/members.ts'
import type { AccountId } from '../../core/ids.ts'
import { COUNTRIES } from './countries.ts'
import { ADDRESS_LINES, Address, PartyName, TaxId } from './party.ts'

export const BillingDetails = z.strictObject({
  name: PartyName.describe('Name of the buyer'),
  address: Address.describe(`Address without the country, 1 to ${ADDRESS_LINES} lines`),
  country: z
    .string()
    .refine((code) => COUNTRIES.includes(code), 'must be an ISO 3166-1 alpha-2 country code such as "DE"')
    .describe('ISO 3166-1 alpha-2 country code'),
  tax_id: TaxId.nullable().default(null).describe('Tax or VAT ID; null: none'),
  email: z
    .email('must be an e-mail address')
    .max(254)
    .nullable()
    .default(null)
    .describe('E-mail address for invoices; null: none'),
})
export type BillingDetails = z.infer<typeof BillingDetails>

/** Maximum number of changes per account per day. */
export const BILLING_CHANGES_MAX = 20

export interface BillingChange {
  readonly details: BillingDetails
  /** Unix ms. */
  readonly at: number
  /** Prefix of the first key in the rotation chain of the key that made the change; null: the operator. */
  readonly by: string | null
  /** Id of the member who made the change; null: none. */
  readonly member: string | null
}

export interface Billing {
  /** The last changes, newest first. The first one has the current details. */
  changes(account: AccountId, limit: number): Promise<readonly BillingChange[]>
  /** `author`: null is the operator. Returns false if the account changed them too often today. */
  set(account: AccountId, details: BillingDetails, author: ChangeAuthor | null): Promise<boolean>
}
