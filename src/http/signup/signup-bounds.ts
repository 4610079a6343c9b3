// How many links of the sign-up a day has, and for whom. Invariants: one network (/24 or /48) has a part of the day's links;
// a network that had none today is held up by the bound of the day alone, so that few networks close neither the sign-up
// nor a domain for everybody; big public providers have no bound of their own; whoever has an account gets a link to it
// however many others ask. Of addresses: nothing in one can end a header or a line; what is asked for with an address is for
// that address alone; variants of one address share one trial.

import * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'

/** Links of the last day: in all, of the caller's network, of the mailbox's domain. */
export interface DailyLinks {
  readonly all: number
  readonly area: number
  readonly domain: number
}

/** So many there may be before the next one is refused. */
export interface LinkBounds {
  readonly day: number
  readonly area: number
  /** For networks that had a link today, as the reserve. */
  readonly domain: number
  readonly beforeReserve: number
}

/** Why a mailbox without an account gets no link now. */
export type LinkRefusal = 'day' | 'reserve' | 'area' | 'domain'

const AREA_PART = 1 / 10
const DOMAIN_PART = 1 / 4
const RESERVE_PART = 1 / 4
/** Small gateways, too, serve an office. */
const MIN_LINKS = 5

/** Of their mailboxes most people have one: a bound for all of them would be met by honest ones first. */
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

/** Null: there is a link. The store inserts by the same comparisons. */
export function linkRefusal({ all, area, domain }: DailyLinks, bounds: LinkBounds): LinkRefusal | null {
  if (all >= bounds.day) return 'day'
  if (area >= bounds.area) return 'area'
  if (area === 0) return null
  if (domain >= bounds.domain) return 'domain'
  return all >= bounds.beforeReserve ? 'reserve' : null
}

/** What the operator's log is to have where the day has so many links with the present one; null: nothing new. */
export function signUpAlert(all: number, perDay: number): string | null {
  if (all === perDay) return `sign-up: all ${perDay} links of the day are used; only owners of accounts get more`
  if (all !== beforeReserve(perDay)) return null
  return `sign-up: ${all} of ${perDay} links of the day are used; the rest is for networks that had none today`
}

const LENGTH_MAX = 254
/** Plain ASCII, with no quotes, spaces or brackets: what providers of mail give out. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`)

/** Dots in the names of these mean nothing, as their provider says, and both are the same. */
const GMAIL = ['gmail.com', 'googlemail.com']

export interface SignUpAddress {
  /** Where the link goes, and whose account it opens. */
  readonly address: string
  /** The same of all variants of an address: one trial each. */
  readonly base: string
}

/** The error says what is wrong with it. `refused`: domains, with what is below them. */
export function signUpAddress(sent: string, refused: readonly string[]): Result<SignUpAddress, string> {
  const address = sent.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const name = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || address.length > LENGTH_MAX || name.length > 64 || !LOCAL.test(name) || !DOMAIN.test(domain))
    return err('must be an e-mail address such as you@example.com')
  if (refused.some((each) => domain === each || domain.endsWith(`.${each}`)))
    return err('addresses of this domain are not taken here: use another one')
  const untagged = name.split('+')[0] || name
  const isGmail = GMAIL.includes(domain)
  const base = `${isGmail ? untagged.replaceAll('.', '') : untagged}@${isGmail ? GMAIL[0] : domain}`
  return ok({ address, base })
}

export const SignUpSettings = z.strictObject({
  /** Links of a day, to whomever. */
  perDay: z.int().min(1).max(100_000).default(200),
  /** Domains whose addresses are not taken, such as those of throw-away addresses. */
  refusedDomains: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in small letters, such as "example.com"'))
    .max(500)
    .default([]),
  /** Of a Turnstile widget: whoever asks for a link solves its challenge first. */
  turnstileSiteKey: z
    .string()
    .regex(/^[\w-]{10,100}$/, 'must be the site key of a Turnstile widget')
    .optional(),
  /** Takes `{from, to, subject, text}` with a bearer token, and answers 2xx when the mail is on its way. */
  mailer: z
    .strictObject({
      url: z.url({ protocol: /^https$/, error: 'must begin with https://' }),
      from: z
        .string()
        .max(254)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another header.
        .regex(/^[^\x00-\x1f\x7f]+@[^\x00-\x1f\x7f]+$/, 'must be like "Weir <keys@example.com>"'),
    })
    .optional(),
})
export type SignUpSettings = z.infer<typeof SignUpSettings>
