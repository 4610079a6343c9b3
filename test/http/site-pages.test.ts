// The page `/` and its neighbors: filled marks, prices and links.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { CheckoutPrices } from '../../src/billing/checkout/prices.ts'
import { linkParts } from '../../src/http/mail/link-page.ts'
import { isBrowser } from '../../src/http/pages.client.ts'
import { siteOf } from '../../src/http/site/site.route.ts'
import { commonParts, filledPage, landingParts, type Offer } from '../../src/http/site/site-pages.ts'
import { PLANS } from '../../src/metering/plans/plan.ts'

const page = (name: string) => readFileSync(join(import.meta.dirname, `../../src/console/${name}.html`), 'utf8')
const OFFER: Offer = {
  plans: [PLANS.enterprise, PLANS.professional, PLANS.entry, PLANS.trial],
  prices: CheckoutPrices.parse({
    packages: [{ name: 'small', credits: 100_000, minor: 1_900 }],
    lots: { credits: 10_000, minor: 200, most: 1_000 },
  }),
  hasSignUp: true,
  takesWallets: true,
  liveCoin: 'BTC',
  types: 76,
  channels: 35,
}
const LINKS = { terms: 'https://example.com/terms?a=1&b=2', support: 'mailto:help@example.com' }
const index = (offer: Partial<Offer> = {}, origin = 'https://api.example.com') =>
  filledPage(page('index'), { ...commonParts(origin, LINKS), ...landingParts({ ...OFFER, ...offer }) })

describe('the page of a gateway', () => {
  it('has its address, prices, plans and links', () => {
    const html = index()
    for (const text of [
      'curl https://api.example.com/info',
      'wss://api.example.com/ws?key=',
      '>Start free<',
      '25,000 credits for 14 days',
      '<b>100,000 credits</b><span>19.00 USD</span><small>1.90 USD per 10,000 credits</small>',
      '<b>Any amount</b><span>2.00 USD per 10,000 credits</span>',
      '<b>1 credit</b>',
      '<b>0.13 credits</b>',
      '<h4>entry</h4>\n<p><b>10,000 credits</b> a month</p>',
      '<h4>enterprise</h4>\n<p><b>Custom credits</b></p>',
      '<li>50 REST requests per second</li>',
      '<li>Unlimited REST requests</li>',
      '<b>Free</b> <a class="main" href="/console">Start free</a>',
      '<a href="https://example.com/terms?a=1&amp;b=2">Terms</a>',
      '<a href="mailto:help@example.com">Support</a>',
      '<span data-coin>BTC</span>',
      'pay-per-call',
    ])
      expect(html).toContain(text)
    expect(html).not.toMatch(/<!--|Privacy|Imprint|Open the console/)
    expect([...html.matchAll(/<h4>(\w+)<\/h4>/g)].map(([, name]) => name)).toEqual([
      'trial',
      'entry',
      'professional',
      'enterprise',
    ])
  })

  it('promises nothing that is off', () => {
    const html = index({ plans: [], prices: null, hasSignUp: false, takesWallets: false, liveCoin: null })
    expect(html).not.toMatch(/Start free|No card|Credit packages|class="plans|pay-per-call|order-book"|data-coin/)
    expect(html).toContain('>Open the console<')
  })

  it('escapes what operators and callers set', () => {
    const evil = `<img src=x onerror="alert(1)">`
    const html = index({ plans: [{ ...PLANS.entry, name: evil }], liveCoin: evil }, `https://a${evil}`)
    expect(html).not.toContain('<img')
    // A part with the text of a mark is not filled again, and `$&` has no meaning.
    expect(filledPage('<!--weir:a-->', { a: '<!--weir:b-->$&', b: 'x' })).toBe('<!--weir:b-->$&')
    expect(filledPage('a<!--weir:b?-->c<!--weir:b--><!--/weir:b-->d<!--weir:e-->', { b: '' })).toBe('ad')
  })

  it('loads the script of the theme before its styles, as do all pages', () => {
    for (const name of ['index', 'not-found', 'console', 'live', 'status'])
      expect(page(name)).toMatch(
        /<head>[\s\S]*<script src="\/site\.js"><\/script>[\s\S]*<link rel="stylesheet"[\s\S]*<body>/,
      )
  })

  it('uses only marks that have a part', () => {
    const parts = { ...commonParts('', {}), ...landingParts(OFFER), ...linkParts('confirm', 'acme') }
    const known = Object.keys(parts)
    for (const name of ['index', 'not-found', 'alert-link'])
      for (const [, mark] of page(name).matchAll(/<!--\/?weir:([a-z-]+)\??-->/g)) expect(known).toContain(mark)
  })
})

describe('its routes', () => {
  let nowMs = 1_000
  let reads = 0
  let isDown = false
  const reported: unknown[] = []
  const files: Record<string, string> = {
    '/': page('index'),
    '/not-found': page('not-found'),
    '/sitemap.xml': '<loc><!--weir:origin-->/docs</loc>',
  }
  const ASSETS = {
    fetch: async (request: Request) => {
      const file = files[new URL(request.url).pathname]
      return new Response(file ?? null, { status: file === undefined ? 404 : 200, headers: { etag: '"1"' } })
    },
  }
  const site = siteOf({
    env: { ASSETS },
    publicUrl: '',
    links: LINKS,
    offer: OFFER,
    plans: async () => {
      reads++
      if (isDown) throw new Error('no database')
      return OFFER.plans
    },
    report: (error) => reported.push(error),
    now: () => nowMs,
  })
  const app = new Hono().route('/', site.routes)
  const browser = { headers: { accept: 'text/html,*/*;q=0.8' } }

  it('serve the page to browsers, with plans that are at most a minute old', async () => {
    const open = async () => (await app.request('https://one.example/', browser)).text()
    const answer = await app.request('https://one.example/', browser)
    expect([answer.status, answer.headers.get('vary'), answer.headers.get('etag')]).toEqual([200, 'accept', null])
    expect(await answer.text()).toContain('curl https://one.example/info')
    await open()
    expect(reads).toBe(1)
    isDown = true
    nowMs += 60_000
    expect(await open()).toContain('Custom credits')
    expect([reads, reported.length]).toEqual([2, 1])
    expect((await app.request('https://one.example/')).status).toBe(404)
  })

  it('tell search engines where the pages are', async () => {
    const robots = await (await app.request('https://one.example/robots.txt')).text()
    expect(robots).toMatch(/^User-agent: \*\nDisallow: \/admin\/\n/)
    expect(robots).toContain('\nSitemap: https://one.example/sitemap.xml\n')
    const map = await (await app.request('https://one.example/sitemap.xml')).text()
    expect(map).toBe('<loc>https://one.example/docs</loc>')
  })

  it('give the operator’s links to pages that are static files', async () => {
    const answer = await app.request('https://one.example/site-links.json')
    expect(await answer.json()).toEqual([
      { name: 'Terms', href: LINKS.terms },
      { name: 'Support', href: LINKS.support },
    ])
  })

  it('show unknown addresses to browsers only', async () => {
    const asked = (headers: Record<string, string>) =>
      site.notFound(new Request('https://one.example/docs/nope', { headers }))
    const answer = await asked(browser.headers)
    expect([answer?.status, await answer?.text()]).toEqual([404, expect.stringContaining('action="/docs/all"')])
    expect(await asked({ accept: '*/*' })).toBeNull()
    expect(isBrowser(new Request('https://one.example'))).toBe(false)
  })
})
