// What the live page shows, as a visitor uses it: a real browser on the product as `npm start` runs it. How it comes through
// breaks stands in console.ts.

import { describe, expect, it } from 'vitest'
import type { Page } from '../../browser/browser.ts'
import { browser, dev, isMissing, open, signIn } from '../../browser/product.ts'
import { expectNoSecret } from '../../browser/visit.ts'
import type { IssuedKey } from '../../kit/gateway.ts'

const WAIT = { timeout: 30_000 }

/** Somebody opens the page, in a browser in which `before` ran first. */
const visit = (query: string, before?: string) => open(`/live${query}`, before === undefined ? {} : { before })

/** What the page says of the link, of the book, … */
const fact = (page: Page, name: string) => page.locator(`.status dl div:has(dt:text-is("${name}")) dd`)
/** What is younger than the last archived minute waits for the next. */
const ARCHIVED = { timeout: 90_000 }
const bookIs = (page: Page, state: string, wait = WAIT) =>
  page.locator(`.status dl div:has(dt:text-is("Book")) dd:text-is("${state}")`).waitFor(wait)
/** A caller gives up once 200 of them were refused. */
const ATTACK_CALLS = 5_000
const rows = (page: Page, panel: string) => page.locator(`.${panel} tbody tr`)

describe.skipIf(isMissing)('the live page', () => {
  it('shows whoever opens it a market that moves and is checked, without a key anywhere', async () => {
    const { page, troubles } = await visit('?coin=BTC')
    await bookIs(page, 'in step')
    expect(await rows(page, 'book').count()).toBeGreaterThan(10)
    await rows(page, 'markets').nth(5).waitFor(WAIT)
    await rows(page, 'trades').first().waitFor(WAIT)
    await page.locator('.chart canvas').first().waitFor(WAIT)
    const height = await fact(page, 'Height').textContent()
    const checks = await fact(page, 'Checks').textContent()
    await page.locator(`.status dl div:has(dt:text-is("Height")) dd:not(:text-is("${height}"))`).waitFor(WAIT)
    await page.locator(`.status dl div:has(dt:text-is("Checks")) dd:not(:text-is("${checks}"))`).waitFor(WAIT)
    await expectNoSecret(page, ['cqt_', 'cqs_', 'cqe_'])
    await page.locator('.markets a').nth(1).click()
    await bookIs(page, 'in step')
    expect(page.url()).toMatch(/\?coin=/)
    expect(troubles).toEqual([])
  }, 120_000)

  it('is paid by the account of who is signed in', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request: { url(): string }) => void asked.push(new URL(request.url()).pathname))
    await page.goto(`${dev.url}/console`)
    await signIn(page, dev.service_key)
    await page.goto(`${dev.url}/live?coin=BTC`)
    await bookIs(page, 'in step')
    expect(asked).toContain('/platform/stream-tokens')
    expect(asked).not.toContain('/live/token')
  }, 60_000)

  // The two that wait for a minute's end wait beside each other.
  it.concurrent('goes on as for anybody where the session of who is signed in has ended', async () => {
    const { key, hash } = await dev.gateway.ask<IssuedKey>('POST', '/keys', { kind: 'service' })
    const context = await browser.newContext()
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request: { url(): string }) => void asked.push(new URL(request.url()).pathname))
    await page.goto(`${dev.url}/console`)
    await signIn(page, key)
    await page.goto(`${dev.url}/live?coin=BTC`)
    await bookIs(page, 'in step')
    expect(asked).not.toContain('/live/token')
    await dev.gateway.ask('DELETE', `/keys/${hash}`)
    // Its socket is closed within a minute.
    await expect.poll(() => asked.includes('/live/token'), { timeout: 90_000 }).toBe(true)
    await bookIs(page, 'in step')
  }, 150_000)

  it.concurrent('plays what was, pauses, and comes back to now', async () => {
    const { page } = await visit('?coin=BTC')
    await bookIs(page, 'in step')
    const from = new Date(Date.now() - 3_000).toISOString().slice(0, 19)
    await page.getByLabel(/Replay from/).fill(from)
    await page.getByLabel('Speed').selectOption('1')
    await page.getByRole('button', { name: 'Play' }).click()
    await bookIs(page, 'replay: playing', ARCHIVED)
    await page.getByRole('button', { name: 'Pause' }).click()
    await bookIs(page, 'replay: paused')
    await page.getByRole('button', { name: 'Back to now' }).click()
    await bookIs(page, 'in step')
  }, 240_000)

  it('tells ages by the gateway’s clock where the visitor’s is an hour wrong', async () => {
    const wrong = 'const now = Date.now; Date.now = () => now() + 3600000'
    const { page } = await visit('?coin=BTC', wrong)
    await bookIs(page, 'in step')
    await page.getByText(/The clock of this device is 1.0 h fast/).waitFor(WAIT)
    expect(await fact(page, 'Age').textContent()).toMatch(/^\d+(\.\d)? m?s$/)
  }, 60_000)

  it('says so where there is no such market, and draws names as text', async () => {
    const gone = await visit('?coin=NOPE')
    await gone.page.getByText(/There is no market "NOPE" here/).waitFor(WAIT)
    const evil = await visit(`?coin=${encodeURIComponent('"><img src=x onerror="window.stolen=1">')}`)
    await evil.page.getByText(/The book of .* is refused/).waitFor(WAIT)
    expect(await evil.page.evaluate('window.stolen ?? null')).toBeNull()
    expect(await evil.page.locator('main img').count()).toBe(0)
  }, 90_000)

  it('says that it reconnects, and not that it is busy, where only its link is broken', async () => {
    const deaf =
      'const Real = WebSocket; globalThis.WebSocket = class extends Real { constructor(url) { super(url.replace("/ws", "/nowhere")) } }'
    const { page } = await visit('?coin=BTC', deaf)
    await page.getByText('Reconnecting: until then').waitFor(WAIT)
    await rows(page, 'book').first().waitFor(WAIT)
    expect(await page.getByText('Busy:').count()).toBe(0)
  }, 60_000)

  // The last one: for minutes visitors have little to spend.
  it('costs the operator an hour’s sixth at most where visitors take all they can get', async () => {
    // What isolates hold is taken from the budget as what is spent is: earlier visits hold some, and report it later.
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
    // It flows in by whole seconds, of which one may have begun before.
    const seconds = (Date.now() - beganMs) / 1_000 + 1
    console.log(`visitors took ${took} credits in ${seconds} s: ${JSON.stringify([...statuses])}`)
    expect(took).toBeLessThanOrEqual(1_000 + seconds * 1.4)
    expect(statuses.get(429)).toBeGreaterThan(0)
  }, 120_000)
})
