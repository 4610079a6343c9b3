// One delivery attempt: subject to the egress rules, signed as in Standard Webhooks, limited in time, and without
// following redirects.

import type { Egress } from '../../core/egress.client.ts'
import { hmac } from '../../core/signature.client.ts'
import { secretBytes, signedText } from './webhook.ts'
import type { Delivery } from './webhook-api.ts'

const TIMEOUT_MS = 10_000

/** An event to send. `secret` is the decrypted secret. */
interface SignedEvent {
  readonly id: string
  readonly body: string
  readonly url: string
  readonly secret: string
}

/** Never rejects: every failure is returned as a result. */
export async function deliverEvent(
  { id, body, url, secret }: SignedEvent,
  egress: Egress,
  nowMs: number,
): Promise<Delivery> {
  const seconds = Math.floor(nowMs / 1000)
  // AbortSignal.timeout is not used, because its timer would keep the object in memory after the response.
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
  try {
    const { hostname, protocol } = new URL(url)
    const refusal = await egress.refusal(hostname, protocol === 'https:')
    if (refusal !== null) return { delivered: false, answer: refusal }
    const signature = await hmac(secretBytes(secret), signedText(id, seconds, body))
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'weir-webhook/1',
        'webhook-id': id,
        'webhook-timestamp': `${seconds}`,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      redirect: 'manual',
      signal: late.signal,
    })
    // The response body is irrelevant and may be endless.
    await response.body?.cancel().catch(() => {})
    const isRedirect = response.status >= 300 && response.status < 400
    return { delivered: response.ok, answer: `${response.status}${isRedirect ? ': redirects are not followed' : ''}` }
  } catch {
    const answer = late.signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : 'could not be reached'
    return { delivered: false, answer }
  } finally {
    clearTimeout(timer)
  }
}
