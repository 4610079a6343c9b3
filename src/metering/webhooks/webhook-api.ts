// RPC interface of a CreditMeter for its account's webhook. Types only.

import type { AccountId } from '../../core/ids.ts'
import type { Threshold } from './low-balance.ts'
import type { AlertType } from './webhook.ts'

export interface WebhookInput {
  /** The account is included in events, because an object does not know its own name. */
  readonly account: AccountId
  /** First key of the rotation chain of the key that sets it; null: set by the operator. */
  readonly by: string | null
  readonly url: string
  readonly thresholds: readonly Threshold[]
  /** Generates a new secret even if there is already one. */
  readonly newSecret: boolean
}

export interface Webhook {
  readonly url: string
  readonly thresholds: readonly string[]
  /** Thresholds below the current balance, which can therefore still fire. */
  readonly armed: readonly string[]
  /** Newest first, at most a hundred. */
  readonly events: readonly WebhookEvent[]
}

export interface WebhookEvent {
  readonly id: string
  readonly type: 'credits.low' | 'pipeline.paused' | 'top_up.stopped' | AlertType
  /** Null if the event is not about a balance. */
  readonly threshold: string | null
  readonly created: number
  readonly state: 'due' | 'delivered' | 'given_up'
  readonly attempts: number
  /** Unix ms of the next attempt; null: none. */
  readonly next: number | null
  /** Result of the last attempt; null before the first. */
  readonly last: string | null
}

export interface Delivery {
  readonly delivered: boolean
  /** HTTP status for the operator, or why there is no status. */
  readonly answer: string
}

export interface WebhookApi {
  /** `secret` is present only if it is new; it is shown once. */
  setWebhook(order: WebhookInput): Promise<Webhook & { readonly secret: string | null }>
  webhook(): Promise<Webhook | null>
  /** Returns the destination of events, and `by` from the input that set it. */
  webhookSetter(): Promise<Pick<WebhookInput, 'url' | 'by'> | null>
  /** Sends one test event, at most once per `everyMs`; null if there is no webhook. */
  testWebhook(everyMs?: number): Promise<Delivery | null>
  /** Also drops undelivered events. False if there is no webhook. */
  clearWebhook(): Promise<boolean>
}
