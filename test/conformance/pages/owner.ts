// The owner's page and what it stands on, on the product as `npm start` runs it: numbers are the ledger's to the micro-credit, a
// key lives from its making to its refusal, and nothing that an owner can name does anything but stand there.

import { describe, expect, it, vi } from 'vitest'
import { microOf } from '../../../src/console/owner/account-view.ts'
import { dev, isMissing, open, signIn, type Visit } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'

async function ask(key: string, method: string, path: string, body?: unknown) {
  const response = await dev.gateway.call(method, path, key, body)
  const json = JSON.parse(await response.text())
  return { status: response.status, data: json.data, json }
}
const info = (key: string, body: unknown) => ask(key, 'POST', '/info', body)

/** What is told some seconds late. */
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
  it('are one sum, to the micro-credit, after calls that cost and calls that do not', async () => {
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
      // Something else of the account may have been charged between two questions.
      if (invoice.closing !== account.balance || invoice.charged !== account.spent) return undefined
      const used = microOf(usage.totals.credits)
      const parts = usage.by_day.flatMap(({ parts }: { parts: { credits: string }[] }) => parts)
      expect(sum(parts.map(({ credits }: { credits: string }) => credits))).toBe(used)
      return used === lines ? true : undefined
    })
  })

  it('a refusal is found by its request id, a few seconds later, whatever was in it', async () => {
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

  it('so is one on a socket', async () => {
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
  await visited.page.getByRole('heading', { name: 'Invoices' }).waitFor()
  await visited.page.getByText(/of 10 000 that an account may have/).waitFor()
  return visited
}

describe.skipIf(isMissing)('the owner’s page', () => {
  it('makes a key that is shown once, changes, rotates and revokes it', async () => {
    const { page, troubles } = await visit(dev.service_key)
    const label = '<img src=x onerror="document.title=1">'
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel(/^Label/).fill(label)
    await page.getByLabel(/^Cap/).fill('0.5')
    await page.getByRole('button', { name: 'Make the key' }).click()
    await page.getByRole('heading', { name: 'The key, this once' }).waitFor()
    const key = (await page.locator('dialog code').first().textContent())!.trim()
    expect(key).toMatch(/^cqt_\w{26}$/)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    await expectNoSecret(page, [key])
    // Its cap leaves too little for a call.
    expect((await info(key, { type: 'allMids' })).status).toBe(402)
    const name = key.slice(0, 12)
    await page.getByRole('button', { name: `change ${name}` }).click()
    await page.getByLabel(/^Cap/).fill('5')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByRole('button', { name: 'Change', exact: true }).waitFor({ state: 'hidden' })
    expect((await info(key, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `rotate ${name}` }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('heading', { name: 'The key, this once' }).waitFor()
    const heir = (await page.locator('dialog code').first().textContent())!.trim()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    expect((await info(heir, { type: 'allMids' })).status).toBe(200)
    await page.getByRole('button', { name: `revoke ${heir.slice(0, 12)}` }).click()
    await page.getByLabel(/to confirm/).fill(heir.slice(0, 12))
    await page.getByRole('button', { name: 'Revoke this key' }).click()
    await page.getByRole('button', { name: 'Revoke this key' }).waitFor({ state: 'hidden' })
    await until(async () => ((await info(heir, { type: 'allMids' })).status === 401 ? true : undefined))
    expect(await page.title()).toBe('Console · Weir')
    expect(troubles).toEqual([])
    await lookAt(page, 'owner')
  })

  it('keeps what is looked for in its address, and shows an API key what it may see', async () => {
    const { page } = await visit(dev.key)
    await page
      .getByText(/is an API key \(cqt_\), and an account is managed with a service key/)
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
    await page.getByLabel('Find').fill('npm')
    await page.getByLabel('Days split').selectOption('key')
    expect(page.url()).toContain('key=npm')
    expect(page.url()).toContain('stack=key')
    await page.reload()
    await page.getByText(/of 10 000 that an account may have/).waitFor()
    expect(await page.getByLabel('Find').inputValue()).toBe('npm')
  })

  it('says that its plan is another one, also where the one before is no more', async () => {
    const admin = (method: string, path: string, body?: unknown) => ask(dev.admin_token, method, `/admin${path}`, body)
    await admin('PUT', '/plans/fleeting', { credits: 50, rest_requests_per_second: 20 })
    await admin('PUT', '/accounts/mover', { plan: 'fleeting' })
    const crabs = '🦀'.repeat(50)
    const made = await admin('POST', '/keys', { account: 'mover', kind: 'service', label: crabs })
    // An account's name is plain, however often somebody tries.
    const named = await admin('PUT', `/accounts/${encodeURIComponent(crabs.repeat(4))}`, {})
    expect([named.status, named.json.error_message]).toEqual([400, expect.stringMatching(/^id: /)])
    const { page, troubles } = await visit(made.json.key)
    await page.getByText(crabs).first().waitFor()
    const curve = page.getByRole('img', { name: /^Credits left by day/ })
    expect(await curve.getAttribute('aria-label')).toContain(', 50 now')
    expect((await admin('PUT', '/accounts/mover/plan', { plan: 'entry' })).status).toBe(200)
    expect((await admin('DELETE', '/plans/fleeting')).status).toBe(200)
    await page.getByText(/was changed from fleeting to entry while this page was open/).waitFor()
    await expect.poll(() => curve.getAttribute('aria-label')).toContain(', 10 000 now')
    await page.locator('summary').first().click()
    await page.locator('details').getByText('10 050').first().waitFor()
    await page.getByRole('button', { name: 'CSV of this row' }).first().waitFor()
    expect(troubles).toEqual([])
    await lookAt(page, 'owner-moved')
  }, 60_000)

  it('shows an invoice to print, and ends with the session', async () => {
    const { context, page } = await visit(dev.service_key)
    await page.getByRole('link', { name: new Date().toISOString().slice(0, 7) }).click()
    await page.getByText('Closing balance').waitFor()
    await lookAt(page, 'invoice')
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByText('You are signed out.').waitFor()
    // The page looks again by itself.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('shows a new key until it is closed, also where it replaced the one that was signed in with', async () => {
    const order = { account: 'demo', label: 'replaced', kind: 'service' }
    const { json: old } = await ask(dev.admin_token, 'POST', '/admin/keys', order)
    const { page } = await visit(old.key)
    await page.getByRole('button', { name: `rotate ${old.prefix}` }).click()
    await page.getByLabel('The old key works for').selectOption('0')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('heading', { name: 'The key, this once' }).waitFor()
    // The page asks again by itself, and is told that its session is over.
    await page
      .getByText(/This API key was replaced/)
      .first()
      .waitFor()
    const heir = (await page.locator('dialog code').textContent())!.trim()
    expect((await ask(heir, 'GET', '/platform/account/')).data.manages).toBe(true)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('becomes that of another account where another tab signed in with its key', async () => {
    const order = { label: 'elsewhere', kind: 'service', plan: 'entry' }
    const { json: elsewhere } = await ask(dev.admin_token, 'POST', '/admin/keys', order)
    const { context, page } = await visit(dev.service_key)
    const second = await context.newPage()
    await second.goto(`${dev.url}/console`)
    // As a link of the sign-up does, nobody signs out before.
    const asJson = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"token":"${elsewhere.key}"}' }`
    await second.evaluate(`fetch('/session', ${asJson}).then(({ status }) => status)`)
    // The page looks again by itself.
    await page.getByRole('heading', { name: elsewhere.account }).waitFor()
    await page.getByText(`${elsewhere.key.slice(0, 12)}…`).waitFor()
    expect(await page.getByText(`${dev.service_key.slice(0, 12)}…`).count()).toBe(0)
    expect(await page.getByText('The plan of this account was changed').count()).toBe(0)
  })
})
