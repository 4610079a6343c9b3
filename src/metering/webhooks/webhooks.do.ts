// Webhook delivery of a CreditMeter. Invariant: charging never waits for a receiver. A decision writes the event, the
// alarm claims it, and the attempt runs in the background.

import type { Egress } from '../../core/egress.client.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import { deliverEvent } from './webhook.client.ts'
import { type Attempt, type NewSecret, WebhookStore } from './webhook.store.ts'
import { isSafeUrl, testBody } from './webhook.ts'
import type { Delivery } from './webhook-api.ts'
import { type SecretSealer, WebhookSecrets } from './webhook-secrets.client.ts'

/** Pause after a failure of the outbox itself, so that the alarm does not fire in a loop. */
const PAUSE_MS = 60_000

export class Webhooks extends WebhookStore {
  readonly #ctx: DurableObjectState
  readonly #egress: Egress
  readonly #secrets: WebhookSecrets
  #pausedUntilMs = 0
  #testedMs = Number.NEGATIVE_INFINITY

  constructor(ctx: DurableObjectState, egress: Egress, sealer: () => SecretSealer) {
    super(ctx.storage.sql)
    this.#ctx = ctx
    this.#egress = egress
    this.#secrets = new WebhookSecrets(sealer)
  }

  /** Time of the next alarm; infinite if none is needed. */
  override get nextMs(): number {
    return Math.max(super.nextMs, this.#pausedUntilMs)
  }

  generateSecret(account: AccountId): Promise<NewSecret> {
    return this.#secrets.generate(account)
  }

  /** `everyMs`: minimum interval between tests. */
  async test(everyMs: number): Promise<Delivery | null> {
    const target = this.target()
    if (target === null) return null
    const now = Date.now()
    if (now - this.#testedMs < everyMs)
      return { delivered: false, answer: `not sent: wait ${everyMs / 1_000} s between tests` }
    this.#testedMs = now
    const id = `evt_${crypto.randomUUID()}`
    return this.#send({ id, body: testBody(id, target.account, now), target }, now)
  }

  /** Starts due attempts, which need not be awaited. Never throws, because the caller still has other work to do. */
  deliver(nowMs: number): readonly Promise<void>[] {
    if (nowMs < this.nextMs) return []
    try {
      const attempts = this.#ctx.storage.transactionSync(() => this.claim(nowMs, Math.random))
      return attempts.map((attempt) => {
        const work = this.#attempt(attempt, nowMs)
        this.#ctx.waitUntil(work)
        return work
      })
    } catch (error) {
      logEvent('webhook_claim_failed', { error })
      this.#pausedUntilMs = nowMs + PAUSE_MS
      return []
    }
  }

  async #attempt(attempt: Attempt, nowMs: number): Promise<void> {
    const delivery = await this.#send(attempt, nowMs)
    if (!delivery.delivered) logEvent('webhook_undelivered', { id: attempt.id, answer: delivery.answer })
    this.recordAttempt(attempt.id, delivery)
  }

  /** Never rejects. */
  async #send({ id, body, target }: Attempt, nowMs: number): Promise<Delivery> {
    if (!isSafeUrl(target.url)) return { delivered: false, answer: 'the URL must begin with https://' }
    const secret = await this.#secrets.open(target)
    if (!secret.ok) return { delivered: false, answer: secret.error }
    return deliverEvent({ id, body, url: target.url, secret: secret.value }, this.#egress, nowMs)
  }
}
