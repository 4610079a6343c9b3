// The owner page in a real browser, on the product as `npm start` runs it: its numbers match the ledger to the micro-credit,
// keys work from creation to revocation, and names given by owners are only ever text.

import { describe, expect, it, vi } from 'vitest'
import { microOf } from '../../../src/console/owner/account-view.ts'
import * as strings from '../../../src/console/owner/strings.ts'
import { REQUEST } from '../../../src/console/request-strings.ts'
import { CONSOLE } from '../../../src/console/strings.ts'
import { DIALOG, TABLE } from '../../../src/console/ui/strings.ts'
import { dev, isMissing, open, signIn, type Visit } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'

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
  })
})

async function visit(key: string): Promise<Visit> {
  const visited = await open('/console')
  await signIn(visited.page, key)
  await visited.page.getByRole('heading', { name: strings.invoicesTitle }).waitFor()
  await visited.page.getByText(/of 10,000 keys/).waitFor()
  return visited
}

describe.skipIf(isMissing)('the owner’s page', () => {
  it('creates a key shown once, edits, rotates and revokes it', async () => {
    const { page, troubles } = await visit(dev.service_key)
    const label = '<img src=x onerror="document.title=1">'
    await page.getByRole('button', { name: strings.keysCreate }).click()
    await page.getByLabel(strings.keyFormLabel).fill(label)
    await page.getByLabel(strings.keyFormCap).fill('0.5')
    await page.getByRole('dialog').getByRole('button', { name: strings.keysCreate }).click()
    await page.getByRole('heading', { name: /^Save your/ }).waitFor()
    const key = (await page.locator('dialog code').first().textContent())!.trim()
    expect(key).toMatch(/^cqt_\w{26}$/)
    await page.getByRole('button', { name: DIALOG.close, exact: true }).click()
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    await expectNoSecret(page, [key])
    // The spending limit is too low for one request.
    expect((await info(key, { type: 'allMids' })).status).toBe(402)
    const name = key.slice(0, 12)
    await page.getByRole('button', { name: `${strings.keysActions.change} ${name}` }).click()
    await page.getByLabel(strings.keyFormCap).fill('5')
    await page.getByRole('button', { name: strings.keyFormSave, exact: true }).click()
    await page.getByRole('button', { name: strings.keyFormSave, exact: true }).waitFor({ state: 'hidden' })
    expect((await info(key, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `${strings.keysActions.rotate} ${name}` }).click()
    await page.getByRole('button', { name: strings.rotateSubmit, exact: true }).click()
    await page.getByRole('heading', { name: /^Save your/ }).waitFor()
    const successor = (await page.locator('dialog code').first().textContent())!.trim()
    await page.getByRole('button', { name: DIALOG.close, exact: true }).click()
    expect((await info(successor, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `${strings.keysActions.revoke} ${successor.slice(0, 12)}` }).click()
    await page.getByLabel(/to confirm/).fill(successor.slice(0, 12))
    await page.getByRole('button', { name: strings.revokeSubmit }).click()
    await page.getByRole('button', { name: strings.revokeSubmit }).waitFor({ state: 'hidden' })
    await until(async () => ((await info(successor, { type: 'allMids' })).status === 401 ? true : undefined))
    expect(await page.title()).toBe('Console · Weir')
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
    await page.getByLabel(strings.usageGroup).selectOption('key')
    expect(page.url()).toContain('key=npm')
    expect(page.url()).toContain('stack=key')
    await page.reload()
    await page.getByText(/of 10,000 keys/).waitFor()
    expect(await page.getByLabel(strings.keysFind).inputValue()).toBe('npm')
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

  it('shows a printable invoice, and ends with the session', async () => {
    const { context, page } = await visit(dev.service_key)
    await page.getByRole('link', { name: new Date().toISOString().slice(0, 7) }).click()
    await page.getByText(strings.invoicesSumsClosing).waitFor()
    await lookAt(page, 'invoice')
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    await second.getByRole('button', { name: CONSOLE.signOut }).click()
    await second.getByText(REQUEST.signedOut).waitFor()
    // The page refreshes by itself.
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
    const successor = (await page.locator('dialog code').textContent())!.trim()
    expect((await ask(successor, 'GET', '/platform/account/')).data.manages).toBe(true)
    await page.getByRole('button', { name: DIALOG.close, exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('switches to the account that another tab signed in to', async () => {
    const order = { label: 'elsewhere', kind: 'service', plan: 'entry' }
    const { json: elsewhere } = await ask(dev.admin_token, 'POST', '/admin/keys', order)
    const { context, page } = await visit(dev.service_key)
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    // Like a sign-up link, this signs in without signing out first.
    const asJson = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"token":"${elsewhere.key}"}' }`
    await second.evaluate(`fetch('/session', ${asJson}).then(({ status }) => status)`)
    // The page refreshes by itself.
    await page.getByRole('heading', { name: elsewhere.account }).waitFor()
    await page.getByText(`${elsewhere.key.slice(0, 12)}…`).waitFor()
    expect(await page.getByText(`${dev.service_key.slice(0, 12)}…`).count()).toBe(0)
    expect(await page.getByText(/The plan of this account changed/).count()).toBe(0)
  })
})
