// The live page in a real browser, on the product as `npm start` runs it. Recovery from disconnects is tested in console.ts.

import { describe, expect, it, vi } from 'vitest'
import * as strings from '../../../src/console/live/strings.ts'
import { BOOK_STATES, REPLAY_STATES } from '../../../src/console/live/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { browser, dev, isMissing, open, signIn } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'
import type { IssuedKey } from '../../kit/gateway.ts'

const WAIT = { timeout: 30_000 }

/** Opens the page in a browser in which `before` ran first. */
const visit = (query: string, before?: string) => open(`/live${query}`, before === undefined ? {} : { before })

/** The value of one field of the popover, whether or not it is open. */
const fact = (page: Page, name: string) => page.locator(`#health dl div:has(dt:text-is("${name}")) dd`).textContent()
/** The first blocks are archived at the end of their minute. */
const ARCHIVED = { timeout: 90_000, interval: 500 }
const bookIs = (page: Page, state: string, wait = WAIT) => page.locator(`.health:text-is("${state}")`).waitFor(wait)
const REPLAYED_MS = 5_000

/** Time from which the archive has books, to the second. */
async function archivedBooksMs(): Promise<number> {
  type Status = { archive: { checkpoint: { timeMs: number } | null } }
  let ms = 0
  const isArchived = async () => {
    const { checkpoint } = (await dev.gateway.status<Status>()).archive
    const coverage = await dev.gateway.call('GET', '/v1/hyperliquid/history/coverage', dev.key)
    const { data } = (await coverage.json()) as { data: { to: { time_ms: number } | null } }
    ms = Math.ceil(((checkpoint?.timeMs ?? 0) + 1) / 1_000) * 1_000
    expect([checkpoint !== null, ms + REPLAYED_MS < (data.to?.time_ms ?? 0)]).toEqual([true, true])
  }
  await vi.waitFor(isArchived, ARCHIVED)
  return ms
}
/** A caller stops after 200 rejected requests. */
const ATTACK_CALLS = 5_000
const rows = (page: Page, panel: string) => page.locator(`.${panel} tbody tr:not(.no-row)`)
/** Sums the shifts of the layout that no visitor caused by a click or a key. */
const WATCH_SHIFTS = `globalThis.shifts = 0
  new PerformanceObserver((seen) => {
    for (const { hadRecentInput, value } of seen.getEntries()) if (!hadRecentInput) globalThis.shifts += value
  }).observe({ type: 'layout-shift', buffered: true })`
/** Good layout stability by the usual measure, and half of it again. */
const SHIFTS_MAX = 0.05

describe.skipIf(isMissing)('the pages for visitors', () => {
  it('show a live order book at the root, without moving anything', async () => {
    const { page, troubles } = await open('/', { before: WATCH_SHIFTS })
    await page.getByRole('link', { name: 'Start free' }).first().waitFor()
    await expect.poll(() => page.locator('[data-price]').textContent(), WAIT).toMatch(/^[\d,]+$/)
    expect(await page.locator('[data-levels] td:text-matches("\\\\d")').count()).toBe(20)
    await lookAt(page, 'landing')
    expect(await page.evaluate<number>('shifts')).toBeLessThan(SHIFTS_MAX)
    expect(troubles).toEqual([])
  }, 60_000)

  it('help at an unknown address', async () => {
    const { page } = await open('/docs/nope')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await lookAt(page, 'not-found')
    await page.getByRole('searchbox').fill('l2book')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
  }, 60_000)
})

describe.skipIf(isMissing)('the live page', () => {
  it('shows any visitor a verified live market, without a key anywhere', async () => {
    const { page, troubles } = await visit('?coin=BTC', WATCH_SHIFTS)
    await bookIs(page, BOOK_STATES['in step'])
    expect(await rows(page, 'book').count()).toBeGreaterThan(10)
    await rows(page, 'markets').nth(5).waitFor(WAIT)
    await rows(page, 'trades').first().waitFor(WAIT)
    await page.locator('.chart canvas').first().waitFor(WAIT)
    const height = await fact(page, strings.statusHeight)
    const checks = await fact(page, strings.statusChecks)
    await expect.poll(() => fact(page, strings.statusHeight), WAIT).not.toBe(height)
    await expect.poll(() => fact(page, strings.statusChecks), WAIT).not.toBe(checks)
    // A day of candles is there from the start.
    for (const name of [strings.dayChange, strings.dayHigh, strings.dayLow, strings.dayVolume, strings.fundingRate])
      await expect
        .poll(() => page.locator('.day div', { hasText: name }).locator('dd').textContent(), WAIT)
        .toMatch(/\d/)
    await expectNoSecret(page, ['cqt_', 'cqs_', 'cqe_'])
    await page.getByLabel(strings.marketLabel, { exact: true }).selectOption('ETH')
    await bookIs(page, BOOK_STATES['in step'])
    expect(page.url()).toMatch(/\?coin=ETH/)
    await expect.poll(() => page.title(), WAIT).toMatch(/^[\d,.]+ · ETH · Weir$/)
    expect(await page.evaluate<number>('shifts')).toBeLessThan(SHIFTS_MAX)
    // One price of each side is in the tab order; arrow keys reach the others.
    expect(await page.locator('.book .copy[tabindex="0"]').count()).toBe(2)
    await page.evaluate(`document.querySelector('.book .copy[tabindex="0"]').focus()`)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByText(/^Copied [\d.]+$/).waitFor(WAIT)
    expect(troubles).toEqual([])
  }, 120_000)

  it('bills a signed-in owner', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const paths: string[] = []
    page.on('request', (request: { url(): string }) => void paths.push(new URL(request.url()).pathname))
    await page.goto(`${dev.url}/console`)
    await signIn(page, dev.service_key)
    await page.goto(`${dev.url}/live?coin=BTC`)
    await bookIs(page, BOOK_STATES['in step'])
    expect(paths).toContain('/platform/stream-tokens')
    expect(paths).not.toContain('/live/token')
  }, 60_000)

  // The first of these waits for most of a minute, so they run in parallel.
  it.concurrent('continues on the live account after the session ended', async () => {
    const { key, hash } = await dev.gateway.ask<IssuedKey>('POST', '/keys', { kind: 'service' })
    const context = await browser.newContext()
    const page = await context.newPage()
    const paths: string[] = []
    page.on('request', (request: { url(): string }) => void paths.push(new URL(request.url()).pathname))
    await page.goto(`${dev.url}/console`)
    await signIn(page, key)
    await page.goto(`${dev.url}/live?coin=BTC`)
    await bookIs(page, BOOK_STATES['in step'])
    expect(paths).not.toContain('/live/token')
    await dev.gateway.ask('DELETE', `/keys/${hash}`)
    // The gateway closes the socket within a minute.
    await vi.waitFor(() => expect(paths).toContain('/live/token'), { timeout: 90_000, interval: 200 })
    await bookIs(page, BOOK_STATES['in step'])
  }, 150_000)

  it.concurrent('replays, pauses, and returns to live', async () => {
    const { page } = await visit('?coin=BTC')
    await bookIs(page, BOOK_STATES['in step'])
    const from = new Date(await archivedBooksMs()).toISOString().slice(0, 19)
    await page.getByLabel(strings.replayFrom).fill(from)
    await page.getByLabel(strings.replaySpeed).selectOption('1')
    await page.getByRole('button', { name: strings.replayPlay }).click()
    await vi.waitFor(
      async () => expect(await page.locator('.health').textContent()).toMatch(/^Replay \d\d:\d\d:\d\d UTC · \d+×$/),
      WAIT,
    )
    await page.getByRole('button', { name: strings.replayPause }).click()
    await bookIs(page, REPLAY_STATES.paused)
    // No value of today is left, and the chart has only candles of the past.
    await vi.waitFor(async () => expect(await page.locator('.day dd').count()).toBe(0), WAIT)
    await page.locator('.chart .legend').waitFor(WAIT)
    await page.getByRole('button', { name: strings.replayLive }).click()
    await bookIs(page, BOOK_STATES['in step'])
  }, 240_000)

  it.concurrent('uses the clock of the gateway if that of the device is an hour off', async () => {
    const wrong = 'const now = Date.now; Date.now = () => now() + 3600000'
    const { page } = await visit('?coin=BTC', wrong)
    await bookIs(page, BOOK_STATES['in step'])
    await page.locator('.happened').getByText(strings.statusClock('1.0 h', 'fast')).waitFor(WAIT)
    expect(await fact(page, strings.statusAge)).toMatch(/^\d+(\.\d)? m?s$/)
  }, 60_000)

  it.concurrent('reports an unknown market, and renders names as text', async () => {
    const gone = await visit('?coin=NOPE')
    await gone.page.getByText(strings.statusUnknownMarket('"NOPE"')).waitFor(WAIT)
    const evil = await visit(`?coin=${encodeURIComponent('"><img src=x onerror="window.stolen=1">')}`)
    await evil.page.getByText(/^Order book of .* rejected/).waitFor(WAIT)
    expect(await evil.page.evaluate('window.stolen ?? null')).toBeNull()
    expect(await evil.page.locator('main img').count()).toBe(0)
  }, 90_000)

  it.concurrent('reports a reconnect, not high demand, after a disconnect', async () => {
    const deaf =
      'const Real = WebSocket; globalThis.WebSocket = class extends Real { constructor(url) { super(url.replace("/ws", "/nowhere")) } }'
    const { page } = await visit('?coin=BTC', deaf)
    await page.getByText(strings.statusReconnecting).first().waitFor(WAIT)
    await rows(page, 'book').first().waitFor(WAIT)
    expect(await page.getByText(strings.statusBusy.trim()).count()).toBe(0)
  }, 60_000)

  // Runs last, because it uses up the visitor budget for minutes.
  it('bounds what visitors can cost the operator', async () => {
    // Credits held by isolates count as taken: earlier visits hold some and report them later.
    const taken = async () => {
      const { spent, held } = await dev.gateway.ask<{ spent: string; held: string }>('GET', '/accounts/live')
      return Number(spent) + Number(held)
    }
    const beganMs = Date.now()
    const before = await taken()
    const tokenFor = async () => {
      const answer = await dev.gateway.call('POST', '/live/token', null, {}, { origin: dev.url })
      return ((await answer.json()) as { token: string }).token
    }
    const tokens = await Promise.all(Array.from({ length: 40 }, tokenFor))
    const sockets = Array.from({ length: 120 }, (_, i) => {
      const socket = new WebSocket(`${dev.url.replace('http', 'ws')}/ws?token=${tokens[i % 40]}`)
      socket.onopen = () => {
        for (const type of ['trades', 'l2BookDiff2'])
          socket.send(JSON.stringify({ method: 'subscribe', subscription: { type, coin: 'BTC' } }))
      }
      return socket
    })
    const statuses = new Map<number, number>()
    let next = 0
    const caller = async () => {
      while (next < ATTACK_CALLS && (statuses.get(429) ?? 0) < 200) {
        const { status } = await dev.gateway.info(tokens[next++ % 40]!, { type: 'allMids' })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: 50 }, caller))
    for (const socket of sockets) socket.close()
    const took = (await taken()) - before
    // The budget refills once per second; one refill may be due at the start.
    const seconds = (Date.now() - beganMs) / 1_000 + 1
    console.log(`visitors took ${took} credits in ${seconds} s: ${JSON.stringify([...statuses])}`)
    expect(took).toBeLessThanOrEqual(1_000 + seconds * 1.4)
    expect(statuses.get(429)).toBeGreaterThan(0)
  }, 120_000)
})
