// RPC interface of a CreditMeter for the alerts of its account, and of the gateway for their e-mails. Types only.

import type { AccountId } from '../../core/ids.ts'
import type { AlertType } from '../webhooks/webhook.ts'
import type { Delivery } from '../webhooks/webhook-api.ts'
import type { AlertRule } from './alert-rule.ts'

export interface StoredRule extends AlertRule {
  readonly id: string
  readonly isFiring: boolean
  /** Unix ms; null: never. */
  readonly firedMs: number | null
}

export interface StoredAddress {
  readonly id: string
  /** Encrypted by the gateway under the id. */
  readonly sealed: string
  readonly state: 'pending' | 'confirmed' | 'unsubscribed'
  /** Time of the last confirmation mail. */
  readonly requestedMs: number
}

/** `to`: id of an address; null: the webhook. */
export interface AlertDelivery {
  readonly to: string | null
  readonly state: 'due' | 'delivered' | 'given_up'
  readonly attempts: number
  readonly last: string | null
}

export interface AlertRecord {
  readonly id: string
  readonly rule: string
  readonly name: string
  readonly type: AlertType
  readonly message: string
  readonly createdMs: number
  readonly deliveries: readonly AlertDelivery[]
}

export interface AlertsView {
  readonly rules: readonly StoredRule[]
  readonly addresses: readonly StoredAddress[]
  readonly hasWebhook: boolean
  /** Newest first, at most a hundred. */
  readonly history: readonly AlertRecord[]
}

/** Why a rule was not stored. */
export type RuleRefusal = 'unknown' | 'too_many' | 'too_many_keys' | 'unknown_address' | 'no_webhook'

export interface NewAddress {
  readonly id: string
  readonly sealed: string
  /** Keyed hash of the address, which is the same each time. */
  readonly digest: string
  /** SHA-256 of the token of the confirmation link. */
  readonly token: string
}

export type AddressRefusal =
  | 'too_many'
  | 'exists'
  | 'unknown'
  | 'confirmed'
  | 'unsubscribed'
  | 'too_soon'
  | 'mail_limit'

export interface AlertsApi {
  alerts(): Promise<AlertsView>
  /** `id`: null for a new rule. The account is included, because an object does not know its own name. */
  putAlertRule(account: AccountId, id: string | null, rule: AlertRule): Promise<StoredRule | RuleRefusal>
  /** False: there is no such rule. */
  removeAlertRule(id: string): Promise<boolean>
  /** Sends a test to the channels of a rule and waits for the results. Null: no such rule; a number: wait in ms. */
  testAlertRule(id: string): Promise<AlertRecord | number | null>
  /** Stores an address that is to be confirmed, and counts the mail for that. */
  addAlertAddress(address: NewAddress): Promise<AddressRefusal | null>
  /** Replaces the token of an address that is not confirmed, and counts the mail. Returns the encrypted address. */
  renewAlertAddress(id: string, token: string): Promise<{ readonly sealed: string } | AddressRefusal>
  /** False: there is no such address, or the link is used, replaced or older than seven days. */
  confirmAlertAddress(id: string, token: string): Promise<boolean>
  /** False: there is no such address. */
  unsubscribeAlertAddress(id: string): Promise<boolean>
  removeAlertAddress(id: string): Promise<boolean>
}

/** E-mail with an alert. */
export interface AlertMail {
  readonly v: number
  readonly account: AccountId
  /** Id of the address, and the encrypted address. */
  readonly address: string
  readonly sealed: string
  /** Body of the event. */
  readonly body: string
}

/** Gateway method for meters; only the gateway has KEY_SECRET and the mailer. */
export interface AlertMailer {
  sendAlertMail(mail: AlertMail): Promise<Delivery>
}
