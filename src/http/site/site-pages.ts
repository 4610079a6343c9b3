// Fills the pages for visitors with the address of the gateway, its prices and links. The pages are static files with
// marks: `<!--weir:name-->` is replaced by HTML, and the text between `<!--weir:name?-->` and `<!--/weir:name-->` is left
// out if the part is empty. Invariant: everything that an operator or a caller can set is escaped.

import { moneyText } from '../../billing/checkout/money.ts'
import type { CheckoutPrices } from '../../billing/checkout/prices.ts'
import { formatCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { ListedPlan } from '../../metering/plans/plan.ts'
import { CHEAPEST_MINUTE, ONE_CREDIT } from '../../metering/tariff.ts'
import { escaped } from '../docs/site/layout.ts'
import type { SiteLinks } from './site-links.ts'

/** HTML by the name of its mark. */
export type PageParts = Readonly<Record<string, string>>

const BLOCK = /<!--weir:([a-z-]+)\?-->([\s\S]*?)<!--\/weir:\1-->/g
const MARK = /<!--weir:([a-z-]+)-->/g

/** The page with its marks filled; a part that is missing is empty. */
export function filledPage(html: string, parts: PageParts): string {
  const kept = html.replaceAll(BLOCK, (_, name: string, inside: string) => (parts[name] ? inside : ''))
  return kept.replaceAll(MARK, (_, name: string) => parts[name] ?? '')
}

/** The operator's own pages with their names. */
export function namedLinks({ terms, privacy, imprint, support }: SiteLinks): { name: string; href: string }[] {
  const named = { Terms: terms, Privacy: privacy, Imprint: imprint, Support: support }
  return Object.entries(named).flatMap(([name, href]) => (href === undefined ? [] : [{ name, href }]))
}

/** Parts of every page. `origin`: public address of the gateway. */
export function commonParts(origin: string, links: SiteLinks): PageParts {
  const shown = namedLinks(links).map(({ name, href }) => `<a href="${escaped(href)}">${name}</a>`)
  return {
    origin: escaped(origin),
    'stream-origin': escaped(origin.replace(/^http/, 'ws')),
    legal: shown.join('\n'),
  }
}

export interface Offer {
  readonly plans: readonly Pick<ListedPlan, 'name' | 'terms' | 'limits' | 'custom'>[]
  /** Null if credits are not sold here. */
  readonly prices: Pick<CheckoutPrices, 'currency' | 'packages' | 'lots'> | null
  readonly hasSignUp: boolean
  readonly takesWallets: boolean
  /** Coin of the order book on the page; null if visitors may see none. */
  readonly liveCoin: string | null
  /** Numbers of info types and channels. */
  readonly types: number
  readonly channels: number
}

export function landingParts(offer: Offer): PageParts {
  const trial = offer.hasSignUp ? offer.plans.find(({ name }) => name === TRIAL) : undefined
  return {
    types: String(offer.types),
    channels: String(offer.channels),
    'call-price': credits(ONE_CREDIT),
    'minute-price': formatCredits(CHEAPEST_MINUTE),
    'sign-up': offer.hasSignUp ? 'on' : '',
    'no-sign-up': offer.hasSignUp ? '' : 'on',
    trial: trial === undefined ? '' : escaped(trialText(trial.terms)),
    'live-coin': offer.liveCoin === null ? '' : escaped(offer.liveCoin),
    wallets: offer.takesWallets ? 'on' : '',
    packages: offer.prices === null ? '' : packagesHtml(offer.prices),
    plans: offer.plans.length === 0 ? '' : plansHtml(offer.plans, offer.hasSignUp),
  }
}

type Plan = Offer['plans'][number]

const credits = (micro: number) => `${groupedText(formatCredits(micro))} ${micro === ONE_CREDIT ? 'credit' : 'credits'}`
/** An exact decimal string with thousands separators. */
const groupedText = (text: string) => text.replace(/^\d+/, (whole) => inGroups(Number(whole)))

function trialText({ micro, days }: Plan['terms']): string {
  return `${credits(micro)}${days === null ? '' : ` for ${days} days`}. No card needed.`
}

/** Prices are compared for 10,000 credits. */
const UNIT = 10_000 * ONE_CREDIT

function packagesHtml({ currency, packages, lots }: NonNullable<Offer['prices']>): string {
  const price = (minor: number) => `${groupedText(moneyText(minor, currency))} ${currency.toUpperCase()}`
  const cards = packages.map(({ credits: micro, minor }) => {
    const unit = `${price(Math.round((minor * UNIT) / micro))} per ${credits(UNIT)}`
    return `<li><b>${escaped(credits(micro))}</b><span>${escaped(price(minor))}</span><small>${escaped(unit)}</small></li>`
  })
  const custom =
    lots === undefined
      ? []
      : [`<li><b>Any amount</b><span>${escaped(`${price(lots.minor)} per ${credits(lots.credits)}`)}</span></li>`]
  return [...cards, ...custom].join('\n')
}

/** Only a trial, which visitors can start themselves, has a price here: the terms of the others are not part of a plan. */
function plansHtml(plans: readonly Plan[], hasSignUp: boolean): string {
  const sorted = plans.toSorted((a, b) => orderOf(a) - orderOf(b))
  return sorted
    .map((plan) => {
      const limits = limitTexts(plan.limits).map((text) => `<li>${text}</li>`)
      const start = hasSignUp && plan.name === TRIAL ? START : ''
      return `<li>\n<h4>${escaped(plan.name)}</h4>\n<p>${creditsHtml(plan)}</p>\n<ul>${limits.join('')}</ul>\n${start}</li>`
    })
    .join('\n')
}

const TRIAL = 'trial'
const START = '<p class="start"><b>Free</b> <a class="main" href="/console">Start free</a></p>\n'

/** Trials first, then by credits; those by agreement last. */
const orderOf = ({ terms, custom }: Plan) =>
  custom ? Number.POSITIVE_INFINITY : terms.period === 'once' ? 0 : terms.micro

function creditsHtml({ terms, custom }: Plan): string {
  if (custom && terms.micro === 0) return '<b>Custom credits</b>'
  const amount = `<b>${credits(terms.micro)}</b>`
  if (terms.period === 'month') return `${amount} a month`
  return terms.days === null ? amount : `${amount} for ${terms.days} days`
}

function limitTexts(limits: Plan['limits']): string[] {
  const { requestsPerSecond: rest } = limits
  return [
    rest === null ? 'Unlimited REST requests' : `${inGroups(rest)} REST requests per second`,
    `${inGroups(limits.infoRequestsPerSecond)} info requests per second`,
    `${inGroups(limits.streamConnections)} stream connections`,
    `${inGroups(limits.streamSubscriptions)} stream subscriptions`,
  ]
}

/** Search engines may index the pages, but none of the API. */
export const robotsText = (origin: string) => `User-agent: *
Disallow: /admin/
Disallow: /alerts/
Disallow: /checkout/
Disallow: /console
Disallow: /k/
Disallow: /live/
Disallow: /platform/
Disallow: /signup
Disallow: /v1/

Sitemap: ${origin}/sitemap.xml
`
