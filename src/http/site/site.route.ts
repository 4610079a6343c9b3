// The pages for visitors and search engines: `/` and unknown addresses for browsers, robots.txt, sitemap.xml. The pages are
// static files, filled in by site-pages.ts.

import { Hono } from 'hono'
import { SingleFlight } from '../../core/single-flight.ts'
import { isBrowser, type PagesEnv, pageOf } from '../pages.client.ts'
import type { SiteLinks } from './site-links.ts'
import {
  commonParts,
  filledPage,
  landingParts,
  namedLinks,
  type Offer,
  type PageParts,
  robotsText,
} from './site-pages.ts'

/** How long an isolate shows the plans that it read. */
const PLANS_MS = 60_000
/** Callers do not wait for an older read, whose request may be gone. */
const READ_MAX_MS = 5_000

interface SiteDeps {
  readonly env: PagesEnv
  /** Public origin; empty: that of the request. */
  readonly publicUrl: string
  readonly links: SiteLinks
  readonly offer: Omit<Offer, 'plans'>
  readonly plans: () => Promise<Offer['plans']>
  readonly report: (error: unknown) => void
  readonly now: () => number
}

interface Site {
  readonly routes: Hono
  /** The static file at `path` with its marks filled; null if the Worker has no such file. */
  page(request: Request, path: string, parts: PageParts, status?: number): Promise<Response | null>
  /** The page for an address without one, with status 404; null if the caller is no browser. */
  notFound(request: Request): Promise<Response | null>
}

export function siteOf(deps: SiteDeps): Site {
  const { env, publicUrl, links, offer } = deps
  const originOf = (url: string) => publicUrl || new URL(url).origin
  const plans = cachedPlans(deps)

  const page: Site['page'] = async (request, path, parts, status = 200) => {
    const file = await pageOf(env, new Request(new URL(path, request.url)))
    if (file === null) return null
    const html = filledPage(await file.text(), { ...commonParts(originOf(request.url), links), ...parts })
    const headers = new Headers(file.headers)
    // The tag is that of the file, and the address has JSON for other clients.
    headers.delete('etag')
    headers.set('vary', 'accept')
    return new Response(html, { status, headers })
  }

  const routes = new Hono()
  routes.get('/', async (c, next) => {
    const { raw } = c.req
    if (!isBrowser(raw)) return next()
    return (await page(raw, '/', landingParts({ ...offer, plans: await plans() }))) ?? next()
  })
  // Pages that are static files read the links, which are settings of the gateway.
  routes.get('/site-links.json', (c) => c.json(namedLinks(links), 200, { 'cache-control': 'public, max-age=3600' }))
  routes.get('/robots.txt', (c) => c.text(robotsText(originOf(c.req.url))))
  routes.get('/sitemap.xml', async (c, next) => (await page(c.req.raw, '/sitemap.xml', {})) ?? next())
  return {
    routes,
    page,
    notFound: async (request) => (isBrowser(request) ? page(request, '/not-found', {}, 404) : null),
  }
}

/** Reads the plans at most once a minute. If that fails, the page shows the last ones, or none. */
function cachedPlans({ plans, report, now }: SiteDeps): () => Promise<Offer['plans']> {
  let cached: { readonly plans: Offer['plans']; readonly untilMs: number } = { plans: [], untilMs: 0 }
  const flight = new SingleFlight<Offer['plans']>(READ_MAX_MS)
  const read = async () => {
    const found = await plans().catch((error) => {
      report(error)
      return cached.plans
    })
    cached = { plans: found, untilMs: now() + PLANS_MS }
    return found
  }
  return async () => (cached.untilMs > now() ? cached.plans : flight.join(read, now()))
}
