// A facilitator of x402 over HTTP: checks payments, and sends them to the chain. `HTTPFacilitatorClient` of `@x402/core` is
// not used, because it follows redirects with the token, and reads a response of any size. Invariant: an outcome is what
// the facilitator said in the protocol's own form; everything else rejects, so nothing is known.

import type { PaymentPayload, SettleRequest, VerifyRequest } from '@x402/core/types'
import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { post } from '../../upstream/post.client.ts'
import type { Outcome, PaymentOrder } from './payment.ts'
import type { Verdict } from './payments.ts'

const VERIFY_TIMEOUT_MS = 10_000
const SETTLE_TIMEOUT_MS = 25_000
const RESPONSE_MAX_BYTES = 64 * 1024
const REASON_MAX_CHARS = 200

const Reason = z.string().nullish()
const Verified = z.object({ isValid: z.boolean(), invalidReason: Reason })
const Settled = z.object({ success: z.boolean(), errorReason: Reason, transaction: z.string().nullish() })

/** Facilitators name reasons differently. */
const USED = /nonce_?(?:already_?)?used|already_?used|nonce_?invalid|authorization_nonce/i
/** The transaction may still be taken by the chain. */
const OPEN = /pending|time_?d?_?out|unexpected|internal/i
const TRANSACTION = /^0x[0-9a-f]{64}$/i

export interface Facilitator {
  /** Rejects if there is no answer. */
  verify(order: PaymentOrder): Promise<Verdict>
  settle(order: PaymentOrder): Promise<Outcome>
}

/** `token`: bearer token; empty: none. */
export function facilitatorAt(url: string, token: string): Facilitator {
  const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) }
  const call = async <T>(path: string, order: PaymentOrder, timeoutMs: number, schema: z.ZodType<T>): Promise<T> => {
    const body = JSON.stringify(requestOf(order))
    const reply = await post({ url: `${url}${path}`, headers, body, timeoutMs, maxBytes: RESPONSE_MAX_BYTES })
    if ('failed' in reply) throw new Error(`the facilitator did not answer ${path}: ${reply.failed}`)
    const answer = schema.safeParse(parseJson(reply.text))
    // A server in trouble does not know what has happened.
    const isKnown = reply.status === 200 || (reply.status >= 400 && reply.status < 500 && reply.status !== 429)
    if (isKnown && answer.success) return answer.data
    throw new Error(`the facilitator answered ${path} with status ${reply.status}`)
  }
  return {
    verify: async (order) => {
      const { isValid, invalidReason } = await call('/verify', order, VERIFY_TIMEOUT_MS, Verified)
      if (isValid) return { kind: 'valid' }
      return isUsed(invalidReason) ? { kind: 'used' } : { kind: 'invalid', why: reasonText(invalidReason) }
    },
    settle: async (order) => {
      const { success, errorReason, transaction } = await call('/settle', order, SETTLE_TIMEOUT_MS, Settled)
      if (success)
        return TRANSACTION.test(transaction ?? '')
          ? { kind: 'settled', transaction: (transaction ?? '').toLowerCase() }
          : { kind: 'unknown' }
      if (isUsed(errorReason)) return { kind: 'used' }
      return OPEN.test(errorReason ?? '') ? { kind: 'unknown' } : { kind: 'failed', why: reasonText(errorReason) }
    },
  }
}

const isUsed = (reason: string | null | undefined) => USED.test(reason ?? '')

/** A code of the protocol. Other text could be anything, and is not passed on. */
function reasonText(reason: string | null | undefined): string {
  return /^[\w .:-]+$/.test(reason ?? '') ? (reason ?? '').slice(0, REASON_MAX_CHARS) : 'no reason given'
}

function requestOf({ requirement, authorization, signature }: PaymentOrder): VerifyRequest & SettleRequest {
  const paymentRequirements = { ...requirement, extra: { ...requirement.extra } }
  const paymentPayload: PaymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: { signature, authorization },
  }
  return { x402Version: 2, paymentPayload, paymentRequirements }
}
