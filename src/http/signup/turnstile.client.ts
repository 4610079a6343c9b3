// What Cloudflare Turnstile says of a visitor who asks for a link, and what the sign-up page needs for it. Invariants: a token
// counts for this host and this purpose alone; without a clear yes in time there is no link; the secret and the token go to
// Cloudflare alone.

import * as z from 'zod'
import { readJsonBody } from '../../core/body.ts'
import type { Failure } from '../../core/failure.ts'

const ORIGIN = 'https://challenges.cloudflare.com'
/** What the page's widget says it is for. */
const TURNSTILE_ACTION = 'sign-up'
/** As Cloudflare bounds them. */
export const TURNSTILE_TOKEN_MAX = 2_048

const SiteVerdict = z.object({
  success: z.boolean(),
  hostname: z.string().optional(),
  action: z.string().optional(),
  'error-codes': z.array(z.string()).default([]),
})

/** Codes that say that the operator's secret or Cloudflare is at fault, not the visitor. */
const NOT_THE_VISITOR = new Set(['missing-input-secret', 'invalid-input-secret', 'bad-request', 'internal-error'])

/** `broken`: the operator has to look. */
type ChallengeOutcome = 'passed' | 'failed' | 'broken'

/** `host`: of the page, without a port. */
function challengeOutcome(verdict: z.infer<typeof SiteVerdict>, host: string): ChallengeOutcome {
  if (verdict['error-codes'].some((code) => NOT_THE_VISITOR.has(code))) return 'broken'
  return verdict.success && verdict.hostname === host && verdict.action === TURNSTILE_ACTION ? 'passed' : 'failed'
}

/** The policy of a page that shows the widget: that of all pages, and the widget's script and frame. */
export const policyWithTurnstile = (policy: string): string =>
  `${policy.replace("script-src 'self'", `script-src 'self' ${ORIGIN}`)}; frame-src ${ORIGIN}`

/** Null: solved. `host`: of the page; `caller`: null where the address is not known. */
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
  issues: [{ path: 'challenge', message: 'was not solved, or over five minutes ago. Solve it again, then retry.' }],
}
const BROKEN: Failure = {
  kind: 'unavailable',
  what: 'The check that you are no robot',
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
    if (!verdict.success) throw new Error(`Turnstile answered ${response.status} in another form than it documents`)
    const outcome = challengeOutcome(verdict.data, host)
    if (outcome === 'broken') throw new Error(`Turnstile refuses: ${verdict.data['error-codes'].join(', ')}`)
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
