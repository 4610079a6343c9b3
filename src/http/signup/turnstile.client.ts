// Verifies Cloudflare Turnstile challenges of sign-up visitors. Invariants: a token is valid only for this host and
// action; without a positive verdict in time no link is sent; the secret and the token go only to Cloudflare.

import * as z from 'zod'
import { readJsonBody } from '../../core/body.ts'
import type { Failure } from '../../core/failure.ts'

const ORIGIN = 'https://challenges.cloudflare.com'
/** Action that the page's widget declares. */
const TURNSTILE_ACTION = 'sign-up'
/** Maximum token length, defined by Cloudflare. */
export const TURNSTILE_TOKEN_MAX = 2_048

const SiteVerdict = z.object({
  success: z.boolean(),
  hostname: z.string().optional(),
  action: z.string().optional(),
  'error-codes': z.array(z.string()).default([]),
})

/** Error codes caused by the operator's secret or Cloudflare, not the visitor. */
const NOT_THE_VISITOR = new Set(['missing-input-secret', 'invalid-input-secret', 'bad-request', 'internal-error'])

/** `broken`: needs the operator's attention. */
type ChallengeOutcome = 'passed' | 'failed' | 'broken'

/** `host`: host name of the page, without port. */
function challengeOutcome(verdict: z.infer<typeof SiteVerdict>, host: string): ChallengeOutcome {
  if (verdict['error-codes'].some((code) => NOT_THE_VISITOR.has(code))) return 'broken'
  return verdict.success && verdict.hostname === host && verdict.action === TURNSTILE_ACTION ? 'passed' : 'failed'
}

/** Content security policy of a page with the widget: also allows its script and frame. */
export const policyWithTurnstile = (policy: string): string =>
  `${policy.replace("script-src 'self'", `script-src 'self' ${ORIGIN}`)}; frame-src ${ORIGIN}`

/** Null: solved. `host`: host name of the page; `caller`: null if the address is unknown. */
export type Challenge = (token: string | undefined, host: string, caller: string | null) => Promise<Failure | null>

export interface TurnstilePorts {
  readonly secret: string
  readonly report: (error: unknown) => void
  readonly verifyUrl?: string
  readonly timeoutMs?: number
}

const VERIFY_URL = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const TIMEOUT_MS = 5_000
const ANSWER_MAX_BYTES = 16_384
const FAILED: Failure = {
  kind: 'bad_field',
  issues: [
    { path: 'challenge', message: 'was not solved, or was solved over five minutes ago. Solve it again, then retry.' },
  ],
}
const BROKEN: Failure = {
  kind: 'unavailable',
  what: 'The bot check',
  retryAfterMs: 10_000,
  hint: 'No link was sent. Try again in a moment.',
}

export function turnstile({
  secret,
  report,
  verifyUrl = VERIFY_URL,
  timeoutMs = TIMEOUT_MS,
}: TurnstilePorts): Challenge {
  const outcomeOf = async (token: string, host: string, caller: string | null): Promise<ChallengeOutcome> => {
    const response = await fetch(verifyUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret, response: token, ...(caller && { remoteip: caller }) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const body = await readJsonBody({ chunks: response.body, contentLength: null }, ANSWER_MAX_BYTES)
    const verdict = SiteVerdict.safeParse(body.ok ? body.value : null)
    if (!verdict.success) throw new Error(`Turnstile returned ${response.status} with an unexpected body`)
    const outcome = challengeOutcome(verdict.data, host)
    if (outcome === 'broken')
      throw new Error(`Turnstile rejected the request: ${verdict.data['error-codes'].join(', ')}`)
    return outcome
  }
  return async (token, host, caller) => {
    if (token === undefined) return FAILED
    try {
      return (await outcomeOf(token, host, caller)) === 'passed' ? null : FAILED
    } catch (error) {
      report(error)
      return BROKEN
    }
  }
}
