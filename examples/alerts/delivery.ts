// Delivers queued alerts to a webhook in order, one request at a time, at a limited rate. A failed request is repeated
// with growing waits; the alerts stay in the queue until the webhook accepts them.

import { bodyOf, type Format } from './messages.ts'
import type { Outbox } from './outbox.ts'

export type Webhook = { url: string; format: Format }
/** `retryAfterMs`: how long the service asks to wait. */
export type Reply = { isAccepted: boolean; problem: string; retryAfterMs: number }

/** Slack accepts about one message a second, Discord and Telegram about as many. */
const BETWEEN_MS = 1_000
const IDLE_MS = 250
const LONGEST_WAIT_MS = 60_000
/** Queued alerts share a message, so that a burst does not take minutes. */
const PER_MESSAGE = 10

export class Delivery {
  readonly #outbox: Outbox
  readonly #webhook: Webhook
  readonly #post: (body: string) => Promise<Reply>
  readonly #onProblem: (text: string) => void
  #failures = 0

  constructor(
    outbox: Outbox,
    webhook: Webhook,
    post: (body: string) => Promise<Reply>,
    onProblem: (text: string) => void,
  ) {
    this.#outbox = outbox
    this.#webhook = webhook
    this.#post = post
    this.#onProblem = onProblem
  }

  /** Sends at most one request. Returns the time to wait before the next call. */
  async step(): Promise<number> {
    const queued = this.#outbox.first(PER_MESSAGE)
    const last = queued.at(-1)
    if (!last) return IDLE_MS
    const { dropped } = this.#outbox
    const alerts = queued.map(({ alert }) => alert)
    const reply = await this.#post(bodyOf(this.#webhook.format, alerts, dropped, this.#webhook.url))
    if (reply.isAccepted) {
      this.#outbox.delivered(last.id, dropped)
      this.#failures = 0
      return BETWEEN_MS
    }
    const backoffMs = Math.min(BETWEEN_MS * 2 ** this.#failures++, LONGEST_WAIT_MS)
    const waitMs = Math.max(backoffMs, reply.retryAfterMs)
    this.#onProblem(
      `the webhook did not accept ${alerts.length} alerts: ${reply.problem}. Next attempt in ${waitMs} ms`,
    )
    return waitMs
  }
}

/** Posts to a webhook. Neither a reply nor an error shows its URL, because the URL is a secret. */
export async function postTo(url: string, body: string): Promise<Reply> {
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(10_000)
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    const seconds = Number(response.headers.get('retry-after') ?? 0)
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : 0
    return { isAccepted: response.ok, problem: `HTTP ${response.status}`, retryAfterMs }
  } catch (error) {
    const { cause, name } = error as { cause?: { code?: string }; name: string }
    return { isAccepted: false, problem: cause?.code ?? name, retryAfterMs: 0 }
  }
}
