// The documentation in a real browser, with and without JavaScript, on the product as `npm start` runs it.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { COPY, SEARCH, TRY_IT } from '../../../src/console/docs/strings.ts'
import { THEMES } from '../../../src/console/site-strings.ts'
import { HISTORY } from '../../../src/console/status/history-strings.ts'
import { COMPONENT_NAMES } from '../../../src/console/status/strings.ts'
import { dev, isMissing, open, type Visit } from '../../browser/product.ts'
import { lookAt } from '../../browser/visit.ts'
import { ROOT } from '../../kit/program.ts'

const NASTY = '<img src=x onerror=alert(1)>'
/** The gateway of a test is too young for a history, so its components are added to the response. */
const FAKED_HISTORY = `
  const days = [
    { date: '2026-11-11', checks: 1440, failed: 1, p50Ms: 10, p99Ms: 250 },
    { date: '2026-11-12', checks: 0, failed: 0, p50Ms: null, p99Ms: null },
  ]
  const api = { name: 'api', state: 'up', uptimePercent: 99.93, checks: 1440, failed: 1, p50Ms: 10, p99Ms: 250, days }
  const { fetch } = window
  window.fetch = async (path, init) => {
    const response = await fetch(path, init)
    if (path !== '/status/history.json') return response
    return Response.json({ ...(await response.json()), components: [api] })
  }`

const gzippedBytes = (pattern: string) => {
  const [file, ...others] = globSync(`dist/console/${pattern}`, { cwd: ROOT })
  expect([pattern, others]).toEqual([pattern, []])
  return gzipSync(readFileSync(join(ROOT, file!))).length
}

it('loads at most 40 KB without the shared font, of which 9 KB are style and script, and 10 KB to search', () => {
  // The font is the console’s, from one cached file; the first paint does not wait for it.
  const loaded = gzippedBytes('assets/docs-*.css') + gzippedBytes('assets/docs.dom-*.js')
  const search = gzippedBytes('assets/search-panel.dom-*.js')
  const largest = Math.max(...['docs/reference/websocket', 'docs/types'].map((page) => gzippedBytes(`${page}.html`)))
  console.log(`documentation: ${loaded} B gzipped, ${search} B for the search, pages of ${largest} B`)
  expect(loaded).toBeLessThanOrEqual(9_000)
  expect(search).toBeLessThanOrEqual(10_000)
  expect(largest + loaded).toBeLessThanOrEqual(40_000)
})

describe.skipIf(isMissing)('a page', () => {
  it.each(['/docs', '/docs/info/clearinghouseState', '/docs/channels/l2BookDiff2', '/docs/guides/migrate'])(
    '%s is accessible and fits a phone',
    async (path) => {
      const { page, troubles } = await open(path)
      await lookAt(page, path.slice(1).replaceAll('/', '-'))
      expect(troubles).toEqual([])
    },
    60_000,
  )

  it('works without JavaScript: menu, three languages, list of all pages', async () => {
    const { page } = await open('/docs/info/l2Book', {
      javaScriptEnabled: false,
      viewport: { width: 360, height: 740 },
    })
    expect(await page.locator('#menu').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('#menu [aria-current]').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('pre[data-language=python]').isVisible()).toBe(false)
    await page.getByText('Python').first().click()
    await page.locator('pre[data-language=python]').waitFor()
    await page.getByText(/needs JavaScript/).waitFor()
    await page.locator('input[type=search]').fill('books')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
  })

  it('shows status, incidents as text, and days with the keyboard alone; programs get JSON and RSS', async () => {
    // Before the first visit, because the gateway keeps the history for 20 seconds.
    const posted = { kind: 'incident', title: NASTY, components: ['api'], state: 'investigating', message: NASTY }
    expect((await dev.gateway.admin('POST', '/incidents', posted)).status).toBe(201)
    const { page, troubles } = await open('/status', { before: FAKED_HISTORY })
    await page.getByRole('heading', { name: NASTY }).waitFor()
    await page.locator('.overall.partial').waitFor()
    await page.getByText(HISTORY.details).click()
    await page.getByText(/^The feed of/).waitFor()
    await page.getByText('node', { exact: true }).waitFor()
    expect(await (await fetch(`${dev.url}/status`)).json()).toMatchObject({ state: 'live' })
    const bars = page.getByRole('slider', { name: HISTORY.barsLabel(COMPONENT_NAMES.api) })
    await page.evaluate('document.querySelector(".component .days").focus()')
    expect(await bars.getAttribute('aria-valuetext')).toMatch(/^12 Nov 2026\. No data/)
    await page.keyboard.press('ArrowLeft')
    await page.locator('.tip').getByText('99.93% uptime').waitFor()
    expect(await bars.getAttribute('aria-valuetext')).toContain('1,440 checks, 1 failed')
    await page.keyboard.press('Escape')
    await page.locator('.tip').waitFor({ state: 'hidden' })
    await lookAt(page, 'status')
    expect(troubles).toEqual([])
    const feed = await fetch(`${dev.url}/status/incidents.rss`)
    expect([feed.status, feed.headers.get('content-type')]).toEqual([200, 'application/rss+xml; charset=utf-8'])
    expect(await feed.text()).toContain('<title>Investigating: &lt;img')
    const { bundle } = (await (await fetch(`${dev.url}/status/history.json`)).json()) as {
      bundle: { path: string } | null
    }
    if (bundle !== null) expect((await fetch(`${dev.url}${bundle.path}`)).status).toBe(200)
    expect((await fetch(`${dev.url}/status/history.ndjson?until=1`)).status).toBe(404)
  })

  // After the status page with an incident, because the history is cached for some seconds.
  it('of any kind has the chosen theme before anything else runs, and a switch', async () => {
    const noted = `document.addEventListener('readystatechange', () => {
      window.early ??= document.documentElement.dataset.theme
    })`
    const { page, troubles } = await open('/docs', { before: noted })
    await page.getByRole('button', { name: THEMES.names.dark }).click()
    for (const path of ['/', '/live', '/status', '/docs/guides/migrate', '/console', '/nope']) {
      await page.goto(dev.url + path)
      const themes = await page.evaluate<string[]>(
        '[window.early, getComputedStyle(document.documentElement).colorScheme]',
      )
      expect([path, ...themes]).toEqual([path, 'dark', 'dark'])
      const button = page.getByRole('button', { name: THEMES.names.dark })
      await button.waitFor()
      expect(await button.getAttribute('aria-pressed')).toBe('true')
    }
    // An address without a page has the status 404, which the browser reports.
    expect(troubles.filter((each) => !each.includes('404'))).toEqual([])
  })

  it('can be searched with the keyboard alone', async () => {
    const { page } = await open('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('l2book')
    await page.getByRole('option', { name: /^l2BookDiffSnapshot/ }).waitFor()
    await page.getByRole('group', { name: 'Reference' }).waitFor()
    await lookAt(page, 'docs-search')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^l2Book$/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('zzzz')
    await page.getByText(SEARCH.nothing('zzzz')).waitFor()
    await page.getByRole('option', { name: /^Authentication/ }).click()
    await page.getByRole('heading', { name: 'Authentication' }).waitFor()
  })

  it('shows the served address, keeps the language, and copies samples and pages', async () => {
    const { context, page } = await open('/docs/info/userFills', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByText('Python').first().click()
    await page.goto(new URL('/docs/info/l2Book', dev.url).href)
    const sample = page.locator('pre[data-language=python]')
    await sample.waitFor()
    expect(await sample.textContent()).toContain(`"${dev.url}/info",`)
    await sample.getByRole('button', { name: COPY.copy }).click()
    await sample.getByRole('button', { name: COPY.copied }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^import json/)
    await page.getByRole('button', { name: COPY.markdown }).click()
    await page.getByRole('button', { name: COPY.copied }).nth(1).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^# l2Book\n/)
    await context.close()
    const phone = await open('/docs/info/l2Book', {
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 844 },
    })
    const opacity = 'getComputedStyle(document.querySelector("pre .copy")).opacity'
    expect(await phone.page.evaluate(opacity)).toBe('1')
  })

  it('has short addresses, a sitemap and a feed', async () => {
    const short = await fetch(`${dev.url}/docs/authentication`, { redirect: 'manual' })
    expect([short.status, short.headers.get('location')]).toEqual([302, '/docs/reference/authentication'])
    expect(await (await fetch(`${dev.url}/docs/sitemap.xml`)).text()).toContain(
      `<loc>${dev.url}/docs/reference/pricing</loc>`,
    )
    expect(await (await fetch(`${dev.url}/docs/changelog.atom`)).text()).toContain('<feed')
  })

  it('sends requests with the session of the visitor, and shows their cost', async () => {
    const { page } = await open('/docs/info/l2Book')
    await page.getByRole('link', { name: TRY_IT.signIn }).waitFor()
    expect(await page.getByRole('button', { name: 'Send' }).isVisible()).toBe(false)
    await signInWithKey(page)
    await page.getByText(TRY_IT.owner('demo')).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByText(/"levels"/)
      .nth(1)
      .waitFor()
    expect(await page.locator('.try dl').textContent()).toMatch(/^Status200Time\d+ msCredits1Credits left\d/)
    await page.getByLabel('nSigFigs').fill('9')
    // The code samples follow the form.
    const sample = page.locator('pre[data-language=bash]').first()
    await expect.poll(() => sample.textContent()).toContain('"coin":"BTC","nSigFigs":9}')
    expect(await sample.textContent()).toContain(`${dev.url}/info`)
    await page.getByLabel('Edit as JSON').click()
    const body = page.getByLabel('Request body')
    expect(JSON.parse(await body.inputValue())).toEqual({ type: 'l2Book', coin: 'BTC', nSigFigs: 9 })
    await body.fill('{"type":"<img src=x onerror=alert(1)>","coin":"ETH"}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/unsupported_type/).waitFor()
    expect(await page.locator('.try pre img').count()).toBe(0)
    await page.getByLabel('Edit as JSON').click()
    expect(await page.getByLabel(/^coin/).inputValue()).toBe('ETH')
  })

  it('returns rows for the samples of a wallet and of a time', async () => {
    for (const [type, row] of [
      ['userFills', /"tid"/],
      ['candleSnapshot', /"T"/],
    ] as const) {
      const { page } = await open(`/docs/info/${type}`)
      await signInWithKey(page)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.answer').getByText(row).waitFor()
    }
  })
})

async function signInWithKey(page: Visit['page']): Promise<void> {
  await page.evaluate(
    `fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token: ${JSON.stringify(dev.key)} }) })`,
  )
  await page.reload()
}
