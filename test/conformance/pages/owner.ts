// The owner page in a real browser, on the product as `npm start` runs it: its numbers match the ledger to the micro-credit,
// keys work from creation to revocation, and names given by owners are only ever text.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import * as explorerStrings from '../../../src/console/explorer/explorer-strings.ts'
import * as liveStrings from '../../../src/console/live/strings.ts'
import { microOf } from '../../../src/console/owner/account-view.ts'
import * as alertStrings from '../../../src/console/owner/alert-strings.ts'
import { AUTO } from '../../../src/console/owner/auto-top-up-strings.ts'
import * as billingStrings from '../../../src/console/owner/billing-strings.ts'
import * as dataStrings from '../../../src/console/owner/data-strings.ts'
import { DAY } from '../../../src/console/owner/last-day-strings.ts'
import * as wizardStrings from '../../../src/console/owner/pipeline-wizard-strings.ts'
import * as pipelinesStrings from '../../../src/console/owner/pipelines-strings.ts'
import * as strings from '../../../src/console/owner/strings.ts'
import * as graphqlStrings from '../../../src/console/playground/playground-strings.ts'
import { REQUEST } from '../../../src/console/request-strings.ts'
import { THEMES } from '../../../src/console/site-strings.ts'
import { CONSOLE, SHELL } from '../../../src/console/strings.ts'
import { SECRET, TABLE } from '../../../src/console/ui/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, open, signIn, state, type Visit } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'
import { startServer } from '../../kit/http-server.ts'

async function ask(key: string, method: string, path: string, body?: unknown) {
  const response = await dev.gateway.call(method, path, key, body)
  const json = JSON.parse(await response.text())
  return { status: response.status, data: json.data, json }
}
const info = (key: string, body: unknown) => ask(key, 'POST', '/info', body)

/** Polls data that arrives some seconds late. */
const until = <T>(look: () => Promise<T | undefined>): Promise<T> =>
  vi.waitFor(
    async () => {
      const seen = await look()
      expect(seen).toBeDefined()
      return seen!
    },
    { timeout: 30_000, interval: 500 },
  )

describe('invoice, usage and ledger', () => {
  it('agree to the micro-credit, after charged and free requests', async () => {
    const { data: made } = await ask(dev.service_key, 'POST', '/platform/keys/', { label: 'adds up' })
    for (let i = 0; i < 7; i++) await info(made.key, { type: 'allMids' })
    await info(made.key, { type: 'noSuchType' })
    const paid = await until(async () => {
      const { data } = await ask(made.key, 'GET', '/platform/usage/')
      const own = data.by_key.find(({ label }: { label: string }) => label === 'adds up')
      return own?.calls === 7 ? own : undefined
    })
    expect(paid.credits).toBe('7')
    const { data: log } = await ask(made.key, 'GET', `/platform/logs/?key=${made.prefix}`)
    expect(log).toMatchObject({ matching: 8, left_out: expect.any(Number), next: null })
    const results = log.calls.map(({ type, status, code, credits }: Record<string, unknown>) =>
      [type, status, code, credits].join(' '),
    )
    expect(results.sort()).toEqual(['noSuchType 400 unsupported_type 0', ...Array(7).fill('allMids 200  1')].sort())
    const month = new Date().toISOString().slice(0, 7)
    await until(async () => {
      const [{ data: invoice }, { data: usage }, { data: account }] = await Promise.all([
        ask(dev.service_key, 'GET', `/platform/invoices/${month}`),
        ask(dev.service_key, 'GET', '/platform/usage/?stack=key'),
        ask(dev.service_key, 'GET', '/platform/account/'),
      ])
      const sum = (amounts: readonly string[]) => amounts.reduce((all, each) => all + microOf(each), 0n)
      const lines = sum(invoice.lines.map(({ credits }: { credits: string }) => credits))
      expect(lines).toBe(microOf(invoice.charged) + microOf(invoice.written_off))
      expect(
        microOf(invoice.opening) + microOf(invoice.granted) - microOf(invoice.expired) - microOf(invoice.charged),
      ).toBe(microOf(invoice.closing))
      // Another request of the account may have been charged in between.
      if (invoice.closing !== account.balance || invoice.charged !== account.spent) return undefined
      const used = microOf(usage.totals.credits)
      const parts = usage.by_day.flatMap(({ parts }: { parts: { credits: string }[] }) => parts)
      expect(sum(parts.map(({ credits }: { credits: string }) => credits))).toBe(used)
      return used === lines ? true : undefined
    })
  })

  it('lists a rejected request by its id a few seconds later, whatever it contained', async () => {
    const type = '<script>alert(1)</script>\u202e'
    const refused = await info(dev.key, { type })
    const { data } = await until(async () => {
      const answer = await ask(dev.service_key, 'GET', '/platform/refusals/')
      const has = answer.data.refusals.some(
        ({ request_id: id }: { request_id: string }) => id === refused.json.request_id,
      )
      return has ? answer : undefined
    })
    const own = data.refusals.find(({ request_id: id }: { request_id: string }) => id === refused.json.request_id)
    expect(own).toMatchObject({ code: 'unsupported_type', product: 'info', prefix: dev.key.slice(0, 12) })
    expect(own.message).not.toMatch(/[\p{C}]/u)
  })

  it('lists a rejected subscription', async () => {
    const socket = new WebSocket(`${dev.url.replace('http', 'ws')}/ws?key=${dev.key}`)
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    socket.send('{"method":"subscribe","subscription":{"type":"trades","coin":"NO-SUCH"}}')
    socket.send('{"method":"subscribe","subscription":{"type":"l2BookDiff","coin":"BTC"}}')
    const refusal = await until(async () => {
      const { data } = await ask(dev.service_key, 'GET', '/platform/refusals/')
      return data.refusals.find(({ product }: { product: string }) => product === 'stream')
    })
    expect(refusal).toMatchObject({ type: 'trades', request_id: '', prefix: dev.key.slice(0, 12) })
    const { data } = await ask(dev.service_key, 'GET', '/platform/streams/')
    expect(data.streams).toContainEqual(
      expect.objectContaining({
        type: 'l2BookDiff',
        body: '{"type":"l2BookDiff","coin":"BTC"}',
        credits_a_minute: '0.13',
      }),
    )
    socket.close()
    const events = await until(async () => {
      const { data: log } = await ask(dev.service_key, 'GET', '/platform/logs/?product=stream')
      return log.calls.some(({ type }: { type: string }) => type === 'close') ? log.calls : undefined
    })
    const results = events.map(({ type, status, code }: Record<string, unknown>) => [type, status, code].join(' '))
    expect(results).toEqual(
      expect.arrayContaining(['connect 101 ', 'trades 404 not_found', 'l2BookDiff 200 ', 'close 200 ']),
    )
  })
})

/** Signs in at a section, and waits for its data. */
async function visit(key: string, section = 'keys', before = ''): Promise<Visit> {
  const visited = await open(`/console?page=${section}`, { before })
  await signIn(visited.page, key)
  await loaded(visited.page)
  return visited
}

/**
 * A script that answers these requests of the page instead of the gateway, by method and path. A change has its first
 * answer, then the next; a read has as many answers before it as there were changes of its path. The last answer stays.
 */
const answering = (answers: Readonly<Record<string, readonly unknown[]>>) => `{
  const answers = ${JSON.stringify(answers)}
  const own = window.fetch.bind(window)
  window.fetch = async (path, options = {}) => {
    const method = options.method ?? 'GET'
    const known = answers[method + ' ' + path]
    if (known === undefined) return own(path, options)
    const counter = method === 'GET' ? 'changes ' + path : method + ' ' + path
    const count = Number(sessionStorage[counter] ?? 0)
    if (method !== 'GET') {
      sessionStorage[counter] = count + 1
      for (const read of Object.keys(answers))
        if (read.startsWith('GET ') && path.startsWith(read.slice(4)))
          sessionStorage['changes ' + read.slice(4)] = Number(sessionStorage['changes ' + read.slice(4)] ?? 0) + 1
      if (options.body) sessionStorage.sent ??= options.body
    }
    const data = known[Math.min(count, known.length - 1)]
    return Response.json({ data, error: false, error_message: null, error_code: null })
  }
}`

const loaded = async (page: Page) => {
  await page.locator('h1').first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'hidden' })
}

/** Closes the dialog of a secret, which asks whether it is saved. */
async function closeSecret(page: Page): Promise<void> {
  await page.getByLabel(SECRET.saved).click()
  await page.getByRole('button', { name: SECRET.done }).click()
  await expect.poll(() => page.locator('dialog').count()).toBe(0)
}

/** Links of the e-mails about alerts in the log of the gateway whose subject begins so. */
const mails = (subject: string) =>
  readFileSync(join(state, 'log/gateway.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"event":"alert_mail"') && line.includes(`"subject":"${subject}`))
    .map((line) => /"link":"([^"]+)"/.exec(line)![1]!)

/** The sum of all layout shifts since the page was opened. */
const layoutShift = (page: Page) =>
  page.evaluate<number>(
    `new Promise((resolve) => {
      let sum = 0
      new PerformanceObserver((seen) => {
        for (const { value, hadRecentInput } of seen.getEntries()) if (!hadRecentInput) sum += value
      }).observe({ type: 'layout-shift', buffered: true })
      requestAnimationFrame(() => setTimeout(() => resolve(sum)))
    })`,
  )

describe.skipIf(isMissing)('the owner’s page', () => {
  it('creates a key shown once, edits, rotates and revokes it', async () => {
    const { page, troubles } = await visit(dev.service_key)
    const label = '<img src=x onerror="document.title=1">'
    await page.getByRole('button', { name: strings.keysCreate }).click()
    await page.getByLabel(strings.keyFormLabel).fill(label)
    await page.getByText(strings.keyFormLimits).click()
    await page.getByLabel(strings.keyFormCap).fill('0.5')
    await page.getByRole('dialog').getByRole('button', { name: strings.keysCreate }).click()
    await page.getByRole('heading', { name: /^Save your/ }).waitFor()
    const key = (await page.locator('dialog code').first().textContent())!.trim()
    expect(key).toMatch(/^cqt_\w{26}$/)
    // Nothing but its own button closes it, and the button waits until the key is saved.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('button', { name: SECRET.done }).getAttribute('disabled')).not.toBeNull()
    // The browser asks before it leaves the page.
    expect(await page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))')).toBe(false)
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByText('import httpx').waitFor()
    await closeSecret(page)
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    await expectNoSecret(page, [key])
    // The spending limit is too low for one request.
    expect((await info(key, { type: 'allMids' })).status).toBe(402)
    const name = key.slice(0, 12)
    await page.getByRole('button', { name: `${strings.keysActions.change} ${name}` }).click()
    await page.getByLabel(strings.keyFormCap).fill('5')
    await page.getByRole('button', { name: strings.keyFormSave, exact: true }).click()
    await page.getByRole('button', { name: strings.keyFormSave, exact: true }).waitFor({ state: 'hidden' })
    await expect.poll(async () => (await info(key, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `${strings.keysActions.rotate} ${name}` }).click()
    await page.getByRole('button', { name: strings.rotateSubmit, exact: true }).click()
    await page.getByRole('heading', { name: /^Save your/ }).waitFor()
    const successor = (await page.locator('dialog code').first().textContent())!.trim()
    await closeSecret(page)
    expect((await info(successor, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `${strings.keysActions.revoke} ${successor.slice(0, 12)}` }).click()
    await page.getByLabel(/to confirm/).fill(successor.slice(0, 12))
    await page.getByRole('button', { name: strings.revokeSubmit }).click()
    await page.getByRole('button', { name: strings.revokeSubmit }).waitFor({ state: 'hidden' })
    await until(async () => ((await info(successor, { type: 'allMids' })).status === 401 ? true : undefined))
    expect(await page.title()).toBe('Keys · demo · Weir')
    expect(troubles).toEqual([])
    await lookAt(page, 'owner')
  })

  it('keeps filters in the URL, and is read-only for an API key', async () => {
    const { page } = await visit(dev.key)
    await page
      .getByText(/service key/)
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: strings.keysCreate }).count()).toBe(0)
    await page.getByLabel(strings.keysFind).fill('npm')
    await expect.poll(() => page.url()).toContain('key=npm')
    await page.reload()
    await page.getByText(/^\d+ keys?$/).waitFor()
    expect(await page.getByLabel(strings.keysFind).inputValue()).toBe('npm')
    // Alerts are for service keys, so the page says so instead of asking for it.
    for (const [name, text] of [
      [strings.pagesAlerts, alertStrings.needsService],
      [strings.pagesPipelines, pipelinesStrings.pipelinesNeedService],
    ] as const) {
      await page.getByRole('link', { name }).click()
      await page.getByText(text).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }
  })

  it('reports a plan change, even if the old plan was removed', async () => {
    const admin = (method: string, path: string, body?: unknown) => ask(dev.admin_token, method, `/admin${path}`, body)
    await admin('PUT', '/plans/fleeting', { credits: 50, rest_requests_per_second: 20 })
    await admin('PUT', '/accounts/mover', { plan: 'fleeting' })
    const crabs = '🦀'.repeat(50)
    const made = await admin('POST', '/keys', { account: 'mover', kind: 'service', label: crabs })
    // Account ids accept plain characters only.
    const named = await admin('PUT', `/accounts/${encodeURIComponent(crabs.repeat(4))}`, {})
    expect([named.status, named.json.error_message]).toEqual([400, expect.stringMatching(/^id: /)])
    const { page, troubles } = await visit(made.json.key)
    await page.getByText(crabs).first().waitFor()
    await page.getByRole('link', { name: strings.pagesHome }).click()
    const curve = page.getByRole('img', { name: /^Credit balance per day/ })
    expect(await curve.getAttribute('aria-label')).toContain('now 50')
    expect((await admin('PUT', '/accounts/mover/plan', { plan: 'entry' })).status).toBe(200)
    expect((await admin('DELETE', '/plans/fleeting')).status).toBe(200)
    await page.getByText(strings.accountPlanChanged('Fleeting', 'Entry')).waitFor()
    await expect.poll(() => curve.getAttribute('aria-label')).toContain('now 10,000')
    await page.locator('summary').first().click()
    await page.locator('details').getByText('10,050').first().waitFor()
    await page
      .getByRole('button', { name: new RegExp(`^${TABLE.exportCsv}`) })
      .first()
      .waitFor()
    expect(troubles).toEqual([])
    await lookAt(page, 'owner-moved')
  }, 60_000)

  it('shows a printable statement, and ends with the session', async () => {
    const { context, page } = await visit(dev.service_key, 'billing')
    await page.getByRole('link', { name: new Date().toISOString().slice(0, 7) }).click()
    await page.getByText(billingStrings.statementsSumsClosing).waitFor()
    await lookAt(page, 'statement')
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    await second.getByRole('button', { name: CONSOLE.signOut }).click()
    await second.getByText(REQUEST.signedOut).waitFor()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('shows a new key until closed, even if it replaced the key of the session', async () => {
    const order = { account: 'demo', label: 'replaced', kind: 'service' }
    const { json: old } = await ask(dev.admin_token, 'POST', '/admin/keys', order)
    const { page } = await visit(old.key)
    await page.getByRole('button', { name: `${strings.keysActions.rotate} ${old.prefix}` }).click()
    await page.getByLabel(strings.rotateGrace).selectOption('0')
    await page.getByRole('button', { name: strings.rotateSubmit, exact: true }).click()
    await page.getByRole('heading', { name: /^Save your/ }).waitFor()
    // The page refreshes by itself and finds that its session ended.
    await page
      .getByText(/replaced/)
      .first()
      .waitFor()
    const successor = (await page.locator('dialog code').first().textContent())!.trim()
    expect((await ask(successor, 'GET', '/platform/account/')).data.manages).toBe(true)
    await closeSecret(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('switches to the account that another tab signed in to', async () => {
    const order = { label: 'elsewhere', kind: 'service', plan: 'entry' }
    const { json: elsewhere } = await ask(dev.admin_token, 'POST', '/admin/keys', order)
    const { context, page } = await visit(dev.service_key)
    await page.getByText(`${dev.service_key.slice(0, 12)}…`).waitFor()
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    // Like a sign-up link, this signs in without signing out first.
    const asJson = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"token":"${elsewhere.key}"}' }`
    await second.evaluate(`fetch('/session', ${asJson}).then(({ status }) => status)`)
    await second.reload()
    // The other tab tells it, also if it is hidden.
    await page.locator('.rail .who', { hasText: elsewhere.account }).waitFor()
    await page.getByText(`${elsewhere.key.slice(0, 12)}…`).waitFor()
    expect(await page.getByText(`${dev.service_key.slice(0, 12)}…`).count()).toBe(0)
    expect(await page.getByText(/The plan of this account changed/).count()).toBe(0)
  })

  it('loads each section at its own address with its own title, and moves nothing when the data arrive', async () => {
    const { page, troubles } = await visit(dev.service_key, 'home')
    for (const [name, title] of [
      ['home', strings.pagesHome],
      ['usage', strings.pagesUsage],
      ['activity', strings.pagesActivity],
      ['keys', strings.pagesKeys],
      ['pipelines', strings.pagesPipelines],
      ['data', strings.pagesData],
      ['billing', strings.pagesBilling],
      ['alerts', strings.pagesAlerts],
      ['team', strings.pagesTeam],
      ['settings', strings.pagesSettings],
    ] as const) {
      await page.goto(`${dev.url}/console?page=${name}`)
      await loaded(page)
      expect(await page.title()).toBe(`${title} · demo · Weir`)
      expect(await layoutShift(page), name).toBeLessThan(0.05)
    }
    for (const name of ['data', 'home']) {
      await page.goto(`${dev.url}/console?page=${name}`)
      await loaded(page)
      await lookAt(page, `owner-${name}`)
    }
    // The drawer of small screens.
    await page.setViewportSize({ width: 390, height: 740 })
    const billing = page.getByRole('link', { name: strings.pagesBilling })
    await billing.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: SHELL.openMenu }).click()
    await billing.click()
    await page.getByRole('heading', { name: strings.pagesBilling, exact: true }).waitFor()
    await billing.waitFor({ state: 'hidden' })
    expect(troubles).toEqual([])
  }, 60_000)

  it('has charts for the keyboard, one message while the gateway is out of reach, and the chosen theme', async () => {
    const { context, page } = await visit(dev.service_key, 'home')
    const slider = page.getByRole('slider').first()
    await slider.waitFor()
    await page.evaluate('document.querySelector("[role=slider]").focus()')
    await page.keyboard.press('Home')
    expect(await slider.getAttribute('aria-valuenow')).toBe('0')
    const first = await slider.getAttribute('aria-valuetext')
    expect(await page.locator('.tip b').textContent()).toBe(first!.split(',')[0])
    await page.getByRole('button', { name: THEMES.names.dark }).click()
    await page.getByRole('link', { name: strings.pagesSettings }).click()
    await loaded(page)
    await context.setOffline(true)
    // Each of its parts asks the gateway.
    await page.getByRole('link', { name: strings.pagesHome }).click()
    await page.getByText(REQUEST.offline).first().waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(1)
    await context.setOffline(false)
    await page.getByRole('alert').waitFor({ state: 'hidden' })
    await page.reload()
    await loaded(page)
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })

  it.each([
    ['a year of calls', 24, 9_000_000],
    ['one call', 1, 1],
    ['no calls', 0, 0],
  ])('charts the last day with %s', async (name, filled, calls) => {
    const nowMs = Date.now()
    const hours = Array.from({ length: 24 }, (_, i) => ({
      at: (Math.floor(nowMs / 3_600_000) - 23 + i) * 3_600_000,
      ok: i >= 24 - filled ? Math.ceil(calls * (1 - (i % 5) / 7)) : 0,
      refused: i >= 24 - filled && filled > 1 ? (i % 4) * 400_000 : 0,
      failed: i % 6 === 5 && filled > 1 ? 250_000 : 0,
      left_out: filled > 1 ? 1_000 : 0,
      latency: i >= 24 - filled && i !== 9 ? { p50_ms: 3 + (i % 3), p99_ms: 20 + ((i * 7) % 40) } : null,
    }))
    const latency = filled === 0 ? null : { p50_ms: 4, p99_ms: 48 }
    const day = { hours, latency, since: hours[0]!.at, kept_hours: 24 }
    const { page, troubles } = await visit(dev.service_key, 'home', answering({ 'GET /platform/logs/hours': [day] }))
    await loaded(page)
    expect(await layoutShift(page)).toBeLessThan(0.05)
    if (filled === 0) await page.getByText(DAY.none).waitFor()
    else {
      const chart = page.getByRole('slider', { name: /^.*Calls per hour/ })
      await chart.waitFor()
      expect(await chart.getAttribute('aria-valuetext')).toContain(`${DAY.outcomes.ok} `)
    }
    await lookAt(page, `home-${name.replaceAll(' ', '-')}`)
    expect(troubles).toEqual([])
  })

  it('saves a card, sets up auto top-up, explains why it stopped, and removes the card', async () => {
    const off = { account: 'demo', available: true, state: 'off', settings: null, charged_this_month: null }
    const none = { ...off, card: null, order: null, stopped: null, not_before: null, changes: [] }
    const saved = { ...none, card: { brand: 'visa', last4: '4242', expires: '2028-04' } }
    const settings = { below: '50000', package: 'small', credits: '100000', amount: '19.00', currency: 'usd' }
    const on = {
      ...saved,
      state: 'on',
      settings: { ...settings, monthly_limit: '100.00' },
      charged_this_month: '95.00',
    }
    const stopped = { at: 1_790_000_000_000, reason: 'declined', order: 'W-17-k3Fz' }
    const changes = [{ at: 1_790_000_000_000, by: null, what: 'stopped' }]
    const failed = { ...on, state: 'stopped', stopped, not_before: 1_790_086_400_000, changes }
    const offers = (await ask(dev.service_key, 'GET', '/platform/checkout')).data
    const { page, troubles } = await visit(
      dev.service_key,
      'billing',
      answering({
        'GET /platform/checkout': [{ ...offers, provider: 'stripe' }],
        'GET /platform/auto-top-up/': [none, saved, on, failed, none],
        'POST /platform/auto-top-up/card': [{ url: '/console?page=billing' }],
        'PUT /platform/auto-top-up/': [on, failed],
        'DELETE /platform/auto-top-up/card': [none],
      }),
    )
    await page.getByText(AUTO.intro).waitFor()
    await lookAt(page, 'auto-top-up-none')
    await page.getByRole('button', { name: AUTO.addCard }).click()
    await page.getByText(AUTO.card('visa', '4242', '2028-04')).waitFor()
    await page.getByRole('button', { name: AUTO.setUp }).click()
    await page.getByLabel(AUTO.form.below).fill('50,000')
    await page.getByLabel(AUTO.form.limit('USD')).fill('100')
    await lookAt(page, 'auto-top-up-form')
    await page.getByRole('button', { name: AUTO.form.submit, exact: true }).click()
    await page.getByText(AUTO.on('50,000', '100,000', '19.00 USD')).waitFor()
    await page.getByText(AUTO.full).waitFor()
    await lookAt(page, 'auto-top-up-on')
    expect(await page.evaluate<string>('sessionStorage.sent')).toBe(
      '{"below":"50000","monthly_limit":"100","package":"small"}',
    )
    await page.getByRole('button', { name: AUTO.change, exact: true }).click()
    await page.getByRole('button', { name: AUTO.form.save }).click()
    await page.getByText(/the card was declined/).waitFor()
    await lookAt(page, 'auto-top-up-stopped')
    await page.getByRole('button', { name: AUTO.turnOn }).waitFor()
    await page.getByRole('button', { name: AUTO.removeCard }).click()
    await page.locator('dialog').getByRole('button', { name: AUTO.removeCard }).click()
    await page.getByRole('button', { name: AUTO.addCard }).waitFor()
    expect(troubles).toEqual([])
  })

  it('revokes several keys after one confirmation', async () => {
    const made = await Promise.all(
      ['bulk 1', 'bulk 2'].map(
        async (label) => (await ask(dev.service_key, 'POST', '/platform/keys/', { label })).data,
      ),
    )
    const { page } = await visit(dev.service_key)
    for (const { prefix } of made) await page.getByLabel(strings.keysSelect(prefix)).click()
    await page.getByRole('button', { name: strings.revokeMany(2) }).click()
    await page.getByLabel(/to confirm/).fill(strings.revokeManyName(2))
    await page
      .getByRole('dialog')
      .getByRole('button', { name: strings.revokeMany(2) })
      .click()
    await page.locator('dialog').waitFor({ state: 'hidden' })
    const { data } = await ask(dev.service_key, 'GET', '/platform/keys/')
    const left = data.keys.filter(({ label, revoked }: { label: string; revoked: number | null }) => {
      return label.startsWith('bulk') && revoked === null
    })
    expect(left).toEqual([])
  })

  it('makes an alert rule with a confirmed address and a webhook, whose secret cannot be lost, and shows a test arrive', async () => {
    const received: { readonly type: string }[] = []
    const receiver = await startServer(async (request, response) => {
      received.push(JSON.parse(await text(request)))
      response.writeHead(204).end()
    })
    const { page, troubles } = await visit(dev.service_key, 'alerts')
    await page.getByText(alertStrings.rulesNoChannel).waitFor()
    await lookAt(page, 'owner-alerts-empty')
    await page.getByRole('button', { name: alertStrings.addressesAdd }).click()
    await page.getByLabel(alertStrings.addressesEmail).fill('ops@example.com')
    await page.getByRole('dialog').getByRole('button', { name: alertStrings.addressesAdd }).click()
    await page.getByText(alertStrings.ADDRESS_STATES.pending).waitFor()
    await expect.poll(() => mails('Confirm').length).toBe(1)
    await page.goto(new URL(mails('Confirm')[0]!, dev.url).href)
    await lookAt(page, 'alert-confirm')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Confirmed' }).waitFor()
    await page.goto(`${dev.url}/console?page=alerts`)
    await page.getByText(alertStrings.ADDRESS_STATES.confirmed).waitFor()

    await page.getByRole('button', { name: alertStrings.webhookAdd }).click()
    await page.getByLabel(alertStrings.webhookUrl).fill('http://bad')
    await page.getByRole('button', { name: alertStrings.webhookSave }).click()
    await page.getByText(/url: must be https/).waitFor()
    await page.getByLabel(alertStrings.webhookUrl).fill(receiver.url)
    await page.getByRole('button', { name: alertStrings.webhookSave }).click()
    await page.getByRole('heading', { name: alertStrings.webhookSecretTitle }).waitFor()
    await page.keyboard.press('Escape')
    const secret = (await page.locator('dialog code').first().textContent())!
    expect(secret).toMatch(/^whsec_/)
    await closeSecret(page)
    await page.getByText(receiver.url).waitFor()
    await expectNoSecret(page, [secret])

    await page.getByRole('button', { name: alertStrings.rulesNew }).click()
    await page.getByLabel(alertStrings.formType).selectOption('errors')
    await page.getByLabel(alertStrings.formWebhook).click()
    await page
      .getByText('Tell ops@example.com and the webhook when more than 5% of at least 100 calls in 15 minutes fail.')
      .waitFor()
    await lookAt(page, 'owner-alert-rule')
    await page.getByRole('button', { name: alertStrings.formCreate }).click()
    await page.getByText('More than 5% of at least 100 calls in 15 minutes fail').waitFor()
    const test = alertStrings.rulesActionOf(alertStrings.rulesTest, 'Calls fail')
    await page.getByRole('button', { name: test }).click()
    await page.getByText(/Test sent/).waitFor()
    await page.getByText('This is a test. Nothing is wrong.').waitFor()
    expect(received).toMatchObject([{ type: 'alert.test' }])
    expect(mails('Test:')).toHaveLength(1)
    await lookAt(page, 'owner-alerts')
    expect(troubles.filter((text) => !text.includes('400'))).toEqual([])
    const { data } = await ask(dev.service_key, 'GET', '/platform/alerts/')
    await ask(dev.service_key, 'DELETE', `/platform/alerts/rules/${data.rules[0].id}`)
    await ask(dev.service_key, 'DELETE', `/platform/alerts/addresses/${data.addresses[0].id}`)
    await ask(dev.service_key, 'DELETE', '/platform/webhook/')
    receiver.close()
  })

  it('creates a pipeline to an HTTP server in steps, whose state outlives a reload, backfills and edits it', async () => {
    const received: string[] = []
    const server = await startServer((request, response) => {
      request.on('data', (chunk) => received.push(String(chunk)))
      request.on('end', () => response.end('ok'))
    })
    const { page, troubles } = await visit(dev.service_key, 'pipelines')
    const press = (name: string) => page.getByRole('button', { name }).click()
    await press(pipelinesStrings.pipelinesNew)
    await page.getByText('Fills of all wallets', { exact: false }).click()
    await lookAt(page, 'owner-pipeline-topic')
    await press(wizardStrings.next)
    await page.getByLabel(wizardStrings.filterLabel, { exact: true }).selectOption('allFills')
    await page.getByLabel(wizardStrings.filterJson).fill('{"type":"allFills","coin":"BTC"}')
    await press(wizardStrings.sqlAdd)
    await page.getByLabel(wizardStrings.sqlStatement('result')).fill('SELECT _key, coinn FROM fills')
    await press(wizardStrings.previewButton)
    await page.getByText('no such column: coinn').waitFor()
    // The draft and the step are still there after a reload, and Back leads to the step before.
    await page.reload()
    await page.getByLabel(wizardStrings.sqlStatement('result')).fill('SELECT _key, coin, px, sz, time FROM fills')
    await press(wizardStrings.previewButton)
    await page.getByText(/^10 rows\. Read [\d,]+ rows in blocks/).waitFor()
    expect(await page.locator('table tbody tr').count()).toBe(10)
    await lookAt(page, 'owner-pipeline-rows')
    await press(wizardStrings.next)
    await page.getByLabel(wizardStrings.nameLabel).fill('BTC to my server')
    await page.getByLabel('URL').fill('nowhere')
    await press(wizardStrings.secretGenerate)
    const secret = await page.getByLabel('Secret').inputValue()
    await lookAt(page, 'owner-pipeline-destination')
    await page.evaluate('history.back()')
    await page.getByRole('heading', { name: wizardStrings.previewTitle }).waitFor()
    await press(wizardStrings.next)
    await press(wizardStrings.next)
    await press(wizardStrings.testButton)
    // The error is at its field, on the step before.
    await page.getByText('must be a URL such as https://example.com/hooks/weir').waitFor()
    await page.getByLabel('URL').fill(`${server.url}/?hook=1`)
    await press(wizardStrings.next)
    await press(wizardStrings.testButton)
    await page.getByText(/^Confirmed: \d+ rows in \d+ ms$/).waitFor()
    expect(received.join('')).toContain('"coin":"BTC"')
    await press(wizardStrings.start)
    await page.getByRole('heading', { name: 'BTC to my server' }).waitFor()
    await page.getByRole('button', { name: pipelinesStrings.pipelinesPause }).waitFor()
    await expectNoSecret(page, [secret])
    const { data } = await ask(dev.service_key, 'GET', '/platform/pipeline-api/')
    const made = data.items.find(({ name }: { name: string }) => name === 'BTC to my server')
    expect(made).toMatchObject({
      status: 'running',
      topic: 'fills',
      filter: { coin: 'BTC' },
      destination_type: 'webhook',
    })
    // Past rows, after their price was shown.
    received.length = 0
    await press(pipelinesStrings.backfillEstimate)
    await page.getByText(pipelinesStrings.backfillExact).waitFor()
    await page.getByRole('button', { name: /^Start for [\d.]+ credits$/ }).click()
    await page.getByText(pipelinesStrings.backfillProgress('100%')).waitFor({ timeout: 20_000 })
    expect(received.join('')).toContain('"coin":"BTC"')
    await page.getByLabel(pipelinesStrings.backfillFrom).fill('999999')
    await press(pipelinesStrings.backfillEstimate)
    await page.getByText(/^must be below block/).waitFor()
    await loaded(page)
    await lookAt(page, 'owner-pipeline-backfill')
    await page.getByRole('button', { name: pipelinesStrings.pipelinesEdit, exact: true }).click()
    await page.getByLabel(wizardStrings.sqlStatement('result')).fill('SELECT _key, coin FROM fills')
    await press(wizardStrings.next)
    await page.getByText(wizardStrings.secretKept).waitFor()
    await press(wizardStrings.next)
    await press(wizardStrings.save)
    await page.getByRole('button', { name: pipelinesStrings.pipelinesPause }).waitFor()
    const { data: changed } = await ask(dev.service_key, 'GET', `/platform/pipeline-api/${made.id}/`)
    expect(changed.transforms).toEqual({ result: 'SELECT _key, coin FROM fills' })
    await ask(dev.service_key, 'DELETE', `/platform/pipeline-api/${made.id}/`)
    server.close()
    // Of the preview with an error.
    expect(troubles.filter((trouble) => !trouble.includes('400'))).toEqual([])
  }, 90_000)

  it('shows a pipeline, resumes and deletes it', async () => {
    const { data: made } = await ask(dev.service_key, 'POST', '/platform/pipeline-api/', {
      name: 'to a bucket',
      topic: 'fills',
      status: 'paused',
      destination_config: { type: 'r2', prefix: 'console/', format: 'ndjson' },
    })
    const { page, troubles } = await visit(dev.service_key, 'pipelines')
    await page.getByText(/^Paused/).waitFor()
    await page.getByRole('link', { name: 'to a bucket' }).click()
    await page.getByRole('button', { name: pipelinesStrings.pipelinesResume }).click()
    await page.getByRole('dialog').getByRole('button', { name: pipelinesStrings.pipelinesResume }).click()
    await page.getByRole('button', { name: pipelinesStrings.pipelinesPause }).waitFor()
    await loaded(page)
    expect(await page.title()).toBe('to a bucket · Pipelines · demo · Weir')
    await page.getByRole('button', { name: pipelinesStrings.pipelinesDelete }).click()
    await page.getByLabel(/to confirm/).fill('to a bucket')
    await page.getByRole('dialog').getByRole('button', { name: pipelinesStrings.pipelinesDelete }).click()
    await page.getByText(pipelinesStrings.pipelinesEmpty).waitFor()
    expect((await ask(dev.service_key, 'GET', `/platform/pipeline-api/${made.id}/`)).status).toBe(404)
    expect(troubles).toEqual([])
  })

  it('shows the price of an export before it is ordered', async () => {
    const { page, troubles } = await visit(dev.service_key, 'data')
    const links = page.getByRole('button', { name: dataStrings.dataOrder('Events') })
    // A segment is archived within a minute of the start.
    await expect
      .poll(
        async () => {
          await page.reload()
          await loaded(page)
          return links.count()
        },
        { timeout: 120_000, interval: 2_000 },
      )
      .toBe(1)
    await links.click()
    await page.getByText(/^Create links for [\d.]+ credits$/).click()
    await page.getByText(/links work until/).waitFor()
    expect(await page.locator('a[download]').count()).toBeGreaterThan(0)
    // The calendar has one tab stop, and what is chosen there is in the address.
    await page.getByRole('button', { name: dataStrings.dataCoverageShow }).click()
    await page.getByRole('grid').waitFor()
    expect(await page.locator('[role=gridcell][tabindex="0"]').count()).toBe(1)
    await page.evaluate(`document.querySelector('[role=gridcell][tabindex="0"]').focus()`)
    await page.keyboard.press('ArrowUp')
    const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")')
    expect(await focused()).toMatch(/: not archived\.$/)
    await page.keyboard.press('End')
    expect(await focused()).toMatch(/: complete from .* until .* blocks\.$/)
    await page.keyboard.press('Enter')
    const today = new Date().toISOString().slice(0, 10)
    await expect.poll(() => page.url()).toContain(`day=${today}`)
    await page.getByRole('option').nth(23).waitFor()
    const hour = page.locator('[role=option]:is(.complete, .partial)').first()
    await hour.click()
    await expect.poll(() => page.url()).toMatch(/hour=\d/)
    await page.getByRole('button', { name: dataStrings.dataWholeDay }).waitFor()
    expect(await page.locator('.day pre').textContent()).toContain('/history/files?from=')
    await page.reload()
    await page.locator('[role=option][aria-selected=true]').waitFor()
    await loaded(page)
    await lookAt(page, 'owner-data-day')
    expect(troubles).toEqual([])
    await page.getByLabel(dataStrings.dayReplayMarket).fill('BTC')
    await page.getByRole('link', { name: dataStrings.dayReplay }).click()
    // It is charged, so it starts with a click.
    await page.getByRole('button', { name: liveStrings.replayPlay, exact: true }).click()
    await page.getByRole('button', { name: liveStrings.replayLive }).waitFor()
    expect(page.url()).toMatch(/\/live\?coin=BTC&replay=\d{4}-/)
    await page.getByRole('button', { name: liveStrings.replayLive }).click()
    await expect.poll(() => page.url()).toMatch(/\/live\?coin=BTC$/)
  }, 150_000)

  it('builds a request, sends it, and keeps the form in the address', async () => {
    const { page, troubles } = await visit(dev.service_key, 'explorer')
    await page.getByLabel(explorerStrings.find).fill('kline')
    await page.getByRole('link', { name: 'candleSnapshot' }).click()
    await page.getByLabel('req.coin').fill('ETH')
    await page.getByRole('tab', { name: 'Python' }).click()
    const sample = page.getByRole('tabpanel')
    expect(await sample.textContent()).toContain('"coin": "ETH"')
    expect(await sample.textContent()).toContain(`"${dev.url}/info"`)
    await page.getByRole('button', { name: explorerStrings.send }).click()
    await expect.poll(() => page.locator('.facts').textContent()).toMatch(/^Status200Time\d+ msCredits1Credits left\d/)
    await page
      .locator('pre.answer')
      .getByText(/"s": "ETH"/)
      .waitFor()
    await lookAt(page, 'explorer')
    await page.reload()
    await loaded(page)
    expect(await page.getByLabel('req.coin').inputValue()).toBe('ETH')
    await page.goto(`${dev.url}/console?page=explorer&type=%3Cimg%3E`)
    await page.getByText(explorerStrings.unknownType('<img>')).waitFor()
    expect(troubles).toEqual([])
  })

  it('runs a GraphQL query and a subscription with the session, and completes fields', async () => {
    const { page, troubles } = await visit(dev.service_key, 'graphql')
    const editor = page.getByRole('textbox', { name: graphqlStrings.document })
    // Text typed over other text would get its style from Chromium, inline, which the policy of the page reports.
    const write = async (document: string) => {
      await editor.press('Control+a')
      await editor.press('Delete')
      await page.keyboard.insertText(document)
    }
    const runs = page.getByRole('button', { name: graphqlStrings.run, exact: true })
    await write('{ channels }')
    await runs.click()
    await page.getByText(graphqlStrings.states.done, { exact: true }).waitFor()
    expect(await page.locator('.results').textContent()).toContain('"trades"')
    await write('subscription { trades(coin: "BTC") { block_height data { px } } }')
    await runs.click()
    await page.getByText(graphqlStrings.states.running, { exact: true }).waitFor()
    await page.locator('.results').getByText(/"px"/).first().waitFor()
    await page.getByText(/first result after \d+ ms · credits of trades: 1 per minute/).waitFor()
    await page.getByRole('button', { name: graphqlStrings.stop }).click()
    await page.getByText(graphqlStrings.states.stopped, { exact: true }).waitFor()
    await lookAt(page, 'graphql')
    // A token of the session covers market data only.
    await write(`subscription { userFills(user: "0x${'0'.repeat(40)}") { fills { user } } }`)
    await runs.click()
    await page
      .getByRole('alert')
      .getByText(/This stream token is for/)
      .waitFor()
    // Visitors have a token of the live page at most.
    const headers = { origin: dev.url, 'sec-fetch-site': 'same-origin' }
    const visitor = await (await fetch(`${dev.url}/live/token`, { method: 'POST', headers })).json()
    await page.getByText(graphqlStrings.key).click()
    await page.getByLabel(graphqlStrings.keyLabel).fill((visitor as { token: string }).token)
    await runs.click()
    await page
      .getByRole('alert')
      .getByText(/^Visitors without an account/)
      .waitFor()
    await write('subscription { trades(coin: "BTC") {  } }')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.type('blo')
    await page.locator('.cm-tooltip-autocomplete').getByText('block_height').waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^\{ channels \}/ }).waitFor()
    expect(troubles).toEqual([])
  })
})
