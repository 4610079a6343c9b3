// Pages behind the links in e-mails about alerts: GET shows a button, POST does what it says. Invariants: opening a link
// changes nothing, because mail servers open links; guesses are rate limited, and reach neither D1 nor a meter.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-limiter.ts'
import { sha256 } from '../../accounts/digest.client.ts'
import { AccountId } from '../../core/ids.ts'
import type { AlertsApi } from '../../metering/alerts/alerts-api.ts'
import type { AlertMails } from './alert-mails.client.ts'
import { type LinkPage, linkParts } from './link-page.ts'

export interface AlertLinkDeps {
  readonly mails: Pick<AlertMails, 'isConfirmationToken' | 'isUnsubscribeToken'>
  readonly meterOf: (account: AccountId) => Pick<AlertsApi, 'confirmAlertAddress' | 'unsubscribeAlertAddress'>
  /** Null if the account exists. */
  readonly missingFailure: (account: AccountId) => Promise<unknown>
  /** The page at `path` with its parts filled; null if there are no pages. */
  readonly page: (
    request: Request,
    path: string,
    parts: ReturnType<typeof linkParts>,
    status: number,
  ) => Promise<Response | null>
  /** Counts a wrong link. */
  readonly wrongToken: (request: Request) => AddressVerdict
}

const Link = z.object({
  account: AccountId,
  address: z.string().regex(/^adr_[0-9a-f-]{36}$/),
  token: z.string().regex(/^[\w-]{43,65}$/),
})
type Link = z.infer<typeof Link>

const FILE = '/alert-link'

export function alertLinkRoutes(deps: AlertLinkDeps): Hono {
  const page = async (request: Request, name: LinkPage, account: AccountId, status = 200) => {
    const parts = linkParts(name, account)
    const response = (await deps.page(request, FILE, parts, status)) ?? new Response(parts.text, { status })
    response.headers.set('cache-control', 'no-store')
    return response
  }
  const linkOf = (request: Request) => Link.safeParse(Object.fromEntries(new URL(request.url).searchParams)).data
  const show = (request: Request, name: LinkPage) => {
    const link = linkOf(request)
    return link === undefined ? page(request, 'unusable', '', 404) : page(request, name, link.account)
  }
  /** `isSigned`: whether the gateway made the token. `use`: false if the link does not work. */
  const handle = async (
    request: Request,
    done: LinkPage,
    isSigned: AlertLinkDeps['mails']['isUnsubscribeToken'],
    use: (link: Link) => Promise<boolean>,
  ) => {
    const link = linkOf(request)
    const isValid = link !== undefined && (await isSigned(link.account, link.address, link.token))
    const isKnown = isValid && (await deps.missingFailure(link.account)) === null
    if (isKnown && (await use(link))) return page(request, done, link.account)
    const isOften = deps.wrongToken(request).waitMs > 0
    return isOften ? page(request, 'often', '', 429) : page(request, 'unusable', '', 404)
  }
  const app = new Hono()
  app.get('/alerts/confirm', (c) => show(c.req.raw, 'confirm'))
  app.get('/alerts/unsubscribe', (c) => show(c.req.raw, 'unsubscribe'))
  const { mails, meterOf } = deps
  app.post('/alerts/confirm', (c) =>
    handle(
      c.req.raw,
      'confirmed',
      (...link) => mails.isConfirmationToken(...link),
      async ({ account, address, token }) => meterOf(account).confirmAlertAddress(address, await sha256(token)),
    ),
  )
  app.post('/alerts/unsubscribe', (c) =>
    handle(
      c.req.raw,
      'unsubscribed',
      (...link) => mails.isUnsubscribeToken(...link),
      ({ account, address }) => meterOf(account).unsubscribeAlertAddress(address),
    ),
  )
  return app
}
