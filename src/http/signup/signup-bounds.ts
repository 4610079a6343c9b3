// Daily limits of sign-up links. Invariants: one network (/24 or /48) gets a fraction of the day's links; a network without
// a link today is limited only by the daily total, so that a few networks cannot block everybody; big public mail
// providers have no domain limit; an existing account always gets its link.

import * as z from 'zod'

/** Number of links sent in the last 24 hours: in total, to the caller's network and to the mail domain. */
export interface DailyLinks {
  readonly all: number
  readonly area: number
  readonly domain: number
}

/** Maximum counts. If a count has reached its maximum, the next link is rejected. */
export interface LinkBounds {
  readonly day: number
  readonly area: number
  /** Applies, like `beforeReserve`, only to networks that already had a link today. */
  readonly domain: number
  readonly beforeReserve: number
}

/** Why a mailbox without an account gets no link. */
export type LinkRefusal = 'day' | 'reserve' | 'area' | 'domain'

const AREA_PART = 1 / 10
const DOMAIN_PART = 1 / 4
const RESERVE_PART = 1 / 4
/** Minimum for the limits of a network and a domain, so that a small gateway can still serve an office. */
const MIN_LINKS = 5

/** Providers without a domain limit: most honest users have a mailbox there. */
const PUBLIC_PROVIDERS = new Set(
  [
    'gmail.com outlook.com hotmail.com live.com msn.com yahoo.com yahoo.co.jp icloud.com me.com mac.com aol.com',
    'proton.me protonmail.com pm.me gmx.com gmx.net gmx.de web.de mail.com zoho.com fastmail.com hey.com',
    'qq.com foxmail.com 163.com 126.com sina.com naver.com daum.net hanmail.net mail.ru yandex.com yandex.ru',
  ].flatMap((line) => line.split(' ')),
)

export function linkBounds(perDay: number, domain: string): LinkBounds {
  return {
    day: perDay,
    area: Math.max(MIN_LINKS, Math.ceil(perDay * AREA_PART)),
    domain: PUBLIC_PROVIDERS.has(domain) ? perDay : Math.max(MIN_LINKS, Math.ceil(perDay * DOMAIN_PART)),
    beforeReserve: beforeReserve(perDay),
  }
}

const beforeReserve = (perDay: number) => Math.ceil(perDay * (1 - RESERVE_PART))

/** Null: allowed. The SQL insert uses the same comparisons. */
export function linkRefusal({ all, area, domain }: DailyLinks, bounds: LinkBounds): LinkRefusal | null {
  if (all >= bounds.day) return 'day'
  if (area >= bounds.area) return 'area'
  if (area === 0) return null
  if (domain >= bounds.domain) return 'domain'
  return all >= bounds.beforeReserve ? 'reserve' : null
}

/** Log line for the operator when a threshold of the day's links is reached; null: none. */
export function signUpAlert(all: number, perDay: number): string | null {
  if (all === perDay)
    return `sign-up: all ${perDay} links of the day are used; only existing accounts still receive links`
  if (all !== beforeReserve(perDay)) return null
  return `sign-up: ${all} of ${perDay} links of the day are used; the rest is reserved for networks without a link today`
}

export const SignUpSettings = z.strictObject({
  /** Maximum links per day, across all recipients. */
  perDay: z.int().min(1).max(100_000).default(200),
  /** Blocked mail domains, such as disposable ones. */
  refusedDomains: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in lower case, such as "example.com"'))
    .max(500)
    .default([]),
  /** Site key of a Turnstile widget whose challenge precedes each link. */
  turnstileSiteKey: z
    .string()
    .regex(/^[\w-]{10,100}$/, 'must be the site key of a Turnstile widget')
    .optional(),
  /** Mail API: accepts `{from, to, subject, text}` with a bearer token and returns 2xx when it accepts the mail. */
  mailer: z
    .strictObject({
      url: z.url({ protocol: /^https$/, error: 'must begin with https://' }),
      from: z
        .string()
        .max(254)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would start another header.
        .regex(/^[^\x00-\x1f\x7f]+@[^\x00-\x1f\x7f]+$/, 'must have the form "Weir <keys@example.com>"'),
    })
    .optional(),
})
export type SignUpSettings = z.infer<typeof SignUpSettings>
