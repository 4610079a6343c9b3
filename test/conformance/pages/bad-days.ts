// Every page of the console on bad days: a gateway that fails, no data at all, long names in any script, a screen at 200 %
// zoom, a clock that is wrong. On the product as `npm start` runs it.

import { describe, expect, it } from 'vitest'
import { PARTS } from '../../../src/console/ui/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, open, signIn, type Visit } from '../../browser/product.ts'

/** 100 characters: right to left, combining, wide, emoji, and no space to wrap at. */
const LONG = `🔑${'مفتاح'.repeat(6)}${'ê̂'.repeat(9)}${'鍵'.repeat(25)}${'W'.repeat(50)}`.slice(0, 100)

/** Fails the requests of pages for data while `localStorage.broken` is set. */
const BREAKABLE = `{
  const real = window.fetch
  window.fetch = (path, init) =>
    localStorage.broken && /^\\/(platform|admin|live|status)\\b/.test(path)
      ? Promise.resolve(Response.json({ code: 'internal', msg: 'broken by the test' }, { status: 500 }))
      : real(path, init)
}`

/** A clock that differs from the gateway's. */
const shiftedClock = (shiftMs: number) => `{
  const Real = Date
  window.Date = class extends Real {
    constructor(...parts) {
      parts.length === 0 ? super(Real.now() + ${shiftMs}) : super(...parts)
    }
    static now() { return Real.now() + ${shiftMs} }
  }
}`

/** Text that only a missing or impossible value makes. */
const NONSENSE = /undefined|\bnull\b|NaN|Infinity|\[object|Invalid Date|1970-01-01/

/** Addresses of all pages in the navigation. */
const addresses = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('#rail nav li a')].map(({ href }) => href)`)

const settled = async (page: Page) => {
  await page.locator('main h1, main [role=alert], main .note').first().waitFor()
  await expect.poll(() => page.locator('main [aria-busy=true], main .skeleton').count()).toBe(0)
}

/** Without code and descriptions of fields, which have such words. */
const textOf = (page: Page) =>
  page.evaluate<string>(`{
    const copy = document.querySelector('main').cloneNode(true)
    for (const code of copy.querySelectorAll('pre, code, .explorer small')) code.replaceWith(' ')
    for (const block of copy.querySelectorAll('*')) block.append(' ')
    copy.textContent
  }`)

async function eachPage(
  visit: Visit,
  names: RegExp,
  look: (page: Page, address: string) => Promise<void>,
): Promise<void> {
  const all = (await addresses(visit.page)).filter((address) => names.test(address))
  expect(all.length).toBeGreaterThan(2)
  for (const address of all) {
    await visit.page.goto(address)
    await settled(visit.page)
    await look(visit.page, address.slice(dev.url.length))
  }
}

async function signedIn(token: string, before: string): Promise<Visit> {
  const visit = await open('/console', { before })
  await signIn(visit.page, token)
  return visit
}

describe.skipIf(isMissing)('on a bad day, every page', () => {
  it.each([
    ['an owner', () => dev.service_key],
    ['an operator', () => dev.admin_token],
  ])(
    'of %s has one message while its data fail, whose retry succeeds',
    async (_, token) => {
      const visit = await signedIn(token(), BREAKABLE)
      const { page } = visit
      const all = await addresses(page)
      for (const address of all) {
        await page.evaluate('void (localStorage.broken = "yes")')
        await page.goto(address)
        await page.locator('main [role=alert]').first().waitFor()
        await expect.poll(() => page.locator('main [role=alert]').count(), { message: address }).toBe(1)
        await page.evaluate('localStorage.clear()')
        await page.locator('main [role=alert]').getByRole('button', { name: PARTS.retry }).click()
        await expect.poll(() => page.locator('main [role=alert]').count(), { message: address }).toBe(0)
        expect(await textOf(page), address).not.toMatch(NONSENSE)
      }
      expect(visit.troubles.filter((each) => !each.includes('500'))).toEqual([])
    },
    120_000,
  )

  it.each([
    ['an hour fast', 3_600_000, /page=/],
    ['an hour slow', -3_600_000, /home|keys|usage/],
  ])(
    'with a clock %s shows an account without data, and a name of 100 characters, on a screen of half the size',
    async (_, shiftMs, names) => {
      const order = { label: LONG, kind: 'service', plan: 'entry' }
      const made = await (await dev.gateway.call('POST', '/admin/keys', dev.admin_token, order)).text()
      const { key } = JSON.parse(made)
      expect(key, made).toBeDefined()
      const visit = await signedIn(key, shiftedClock(shiftMs))
      await visit.page.setViewportSize({ width: 640, height: 400 })
      await eachPage(visit, names, async (page, address) => {
        const text = await textOf(page)
        expect(text, address).not.toMatch(NONSENSE)
        expect(text, address).not.toMatch(/\b(59|60) min ago|\b1 h ago|in (59|60) min|in 1 h\b/)
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect(overflow, `${address} is wider than its screen`).toBeLessThanOrEqual(0)
      })
      // Pages that are opened faster than any reader would share a limit, and repeat their requests.
      expect(visit.troubles.filter((each) => !each.includes('429'))).toEqual([])
    },
    120_000,
  )
})
