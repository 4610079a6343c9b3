// What Cloudflare Turnstile says of a visitor who asks for a link, and what the sign-up page needs for it. Invariant: a
// token counts for this host and this purpose alone, whatever else its site key is used for.

import * as z from 'zod'

const ORIGIN = 'https://challenges.cloudflare.com'
/** What the page's widget says it is for. */
const TURNSTILE_ACTION = 'sign-up'
/** As Cloudflare bounds them. */
export const TURNSTILE_TOKEN_MAX = 2_048

export const SiteVerdict = z.object({
  success: z.boolean(),
  hostname: z.string().optional(),
  action: z.string().optional(),
  'error-codes': z.array(z.string()).default([]),
})

/** Codes that say that the operator's secret or Cloudflare is at fault, not the visitor. */
const NOT_THE_VISITOR = new Set(['missing-input-secret', 'invalid-input-secret', 'bad-request', 'internal-error'])

/** `broken`: the operator has to look. */
export type ChallengeOutcome = 'passed' | 'failed' | 'broken'

/** `host`: of the page, without a port. */
export function challengeOutcome(verdict: z.infer<typeof SiteVerdict>, host: string): ChallengeOutcome {
  if (verdict['error-codes'].some((code) => NOT_THE_VISITOR.has(code))) return 'broken'
  return verdict.success && verdict.hostname === host && verdict.action === TURNSTILE_ACTION ? 'passed' : 'failed'
}

/** The policy of a page that shows the widget: that of all pages, and the widget's script and frame. */
export const policyWithTurnstile = (policy: string): string =>
  `${policy.replace("script-src 'self'", `script-src 'self' ${ORIGIN}`)}; frame-src ${ORIGIN}`
