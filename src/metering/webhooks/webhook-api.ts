// What a CreditMeter answers about the webhook of its account. Types alone.

import type { AccountId } from '../../core/ids.ts'
import type { Threshold } from './low-balance.ts'

export interface WebhookInput {
  /** Told to the receiver: an object does not know its own name. */
  readonly account: AccountId
  /** The first key in the chain of rotations of the key that sets it; null: the operator does. */
  readonly by: string | null
  readonly url: string
  readonly thresholds: readonly Threshold[]
  /** Draws another secret where there is one already. */
  readonly newSecret: boolean
}

export interface Webhook {
  readonly url: string
  readonly thresholds: readonly string[]
  /** Thresholds that the balance is above: the next to be told. */
  readonly armed: readonly string[]
  /** Newest first, at most a hundred. */
  readonly events: readonly WebhookEvent[]
}

export interface WebhookEvent {
  readonly id: string
  readonly type: 'credits.low' | 'pipeline.paused'
  /** Null: the event is about no balance. */
  readonly threshold: string | null
  readonly created: number
  readonly state: 'due' | 'delivered' | 'given_up'
  readonly attempts: number
  /** Unix ms of the next attempt, null where none follows. */
  readonly next: number | null
  /** What came of the last attempt, null before the first. */
  readonly last: string | null
}

export interface Delivery {
  readonly delivered: boolean
  /** For the operator: a status, or why there was none. */
  readonly answer: string
}

export interface WebhookApi {
  /** `secret` is there where it was drawn: it is shown this once. */
  setWebhook(order: WebhookInput): Promise<Webhook & { readonly secret: string | null }>
  webhook(): Promise<Webhook | null>
  /** Where events go, and who set that, as `by` of its order. */
  webhookSetter(): Promise<Pick<WebhookInput, 'url' | 'by'> | null>
  /** Sends a test event now, once, and not within `everyMs` of the last one; null where there is no webhook. */
  testWebhook(everyMs?: number): Promise<Delivery | null>
  /** Also drops what has not been delivered; false where there was none. */
  clearWebhook(): Promise<boolean>
}
