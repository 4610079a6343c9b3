// Selling in a real browser: a trial by e-mail, an order, and the operator who marks it as paid. On the product as
// `npm start` runs it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as operatorStrings from '../../../src/console/operator/strings.ts'
import * as ownerStrings from '../../../src/console/owner/strings.ts'
import { LINK, SIGN_UP, TRIAL_KEY } from '../../../src/console/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, open, signIn, state } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'

/** The sign-up links in the log of the gateway. */
const links = () =>
  [
    ...readFileSync(join(state, 'log/gateway.log'), 'utf8').matchAll(
      /"event":"sign_up_link","link":"([^"]+#join=\w+)"/g,
    ),
  ].map(([, link]) => link!)

/** Requests a link on the sign-in page and returns it. */
async function linkFor(page: Page, email: string): Promise<string> {
  const before = links().length
  await page.getByLabel(SIGN_UP.email).fill(email)
  await page.getByRole('button', { name: SIGN_UP.submit }).click()
  await page.getByRole('status').waitFor()
  await expect.poll(() => links().length).toBe(before + 1)
  return links().at(-1)!
}

describe.skipIf(isMissing)('a trial by e-mail', () => {
  it('gives an account and a key, by a link that works once', async () => {
    const { page, troubles } = await open('/console')
    await page.getByRole('heading', { name: SIGN_UP.title }).waitFor()
    await lookAt(page, 'join')
    const link = await linkFor(page, 'somebody@example.com')
    const token = link.split('#join=')[1]!
    await page.goto(link)
    await page.getByRole('button', { name: LINK.open }).waitFor()
    await expectNoSecret(page, [token])
    await lookAt(page, 'join-link')
    await page.getByRole('button', { name: LINK.open }).click()
    await page.getByRole('heading', { name: TRIAL_KEY.title }).waitFor()
    await lookAt(page, 'join-key')
    const key = (await page.locator('code').first().textContent())!
    const answer = await dev.gateway.info(key, { type: 'allMids' })
    expect([answer.status, answer.headers.get('x-credits-remaining')]).toEqual([200, '24999'])
    await page.getByRole('button', { name: TRIAL_KEY.open }).click()
    await page.getByRole('heading', { name: /^a-/ }).waitFor()
    await expectNoSecret(page, [token, key])
    expect(troubles).toEqual([])

    const second = await open('/console')
    await second.page.goto(link)
    await second.page.getByRole('button', { name: LINK.open }).click()
    await second.page.getByRole('alert').waitFor()
    await second.page.getByRole('button', { name: LINK.back }).click()
    // A later link opens the same account and creates no second key.
    await second.page.goto(await linkFor(second.page, 'SOMEBODY@example.com'))
    await second.page.getByRole('button', { name: LINK.open }).click()
    await second.page.getByRole('heading', { name: /^a-/ }).waitFor()
  })

  it('names the invalid field', async () => {
    const { page } = await open('/console')
    await page.getByLabel(SIGN_UP.email).fill('a@b')
    await page.getByRole('button', { name: SIGN_UP.submit }).click()
    await page.getByText(/email:/).waitFor()
  })
})

describe.skipIf(isMissing)('a top-up', () => {
  it('is ordered by the owner and marked as paid by the operator', async () => {
    const owner = await open('/console')
    await signIn(owner.page, dev.service_key)
    await owner.page.getByRole('button', { name: ownerStrings.topUpPackage('100,000', '19.00 USD') }).click()
    await owner.page.getByRole('button', { name: ownerStrings.topUpSubmit.manual }).click()
    await owner.page.getByRole('heading', { name: /^Invoice W-/ }).waitFor()
    await lookAt(owner.page, 'top-up')
    const number = (await owner.page.getByRole('heading', { name: /^Invoice W-/ }).textContent())!.split(/[ :]/)[1]!
    const leftOf = async () => {
      const answer = await dev.gateway.call('GET', '/platform/key/', dev.key)
      return Number(((await answer.json()) as { data: { balance: string } }).data.balance)
    }
    const before = await leftOf()

    const operator = await open('/console')
    await signIn(operator.page, dev.admin_token)
    await operator.page.getByRole('link', { name: operatorStrings.pagesOrders }).click()
    await operator.page.getByRole('button', { name: operatorStrings.ordersActions.paid }).click()
    await lookAt(operator.page, 'orders-confirm')
    const confirm = operator.page.locator('dialog button.danger')
    expect(await confirm.getAttribute('disabled')).not.toBeNull()
    await operator.page.getByLabel(/Type W-/).fill(number)
    await confirm.click()
    await operator.page.getByText(/^Paid \d{4}-/).waitFor()
    await lookAt(operator.page, 'orders')
    expect(await leftOf()).toBe(before + 100_000)
    expect([...owner.troubles, ...operator.troubles]).toEqual([])

    await owner.page.reload()
    await owner.page
      .getByText(/^Paid \d{4}-/)
      .first()
      .waitFor()
  })

  it('cannot be ordered with an API key', async () => {
    const { page } = await open('/console')
    await signIn(page, dev.key)
    await page
      .getByText(/service key/)
      .first()
      .waitFor()
    const status = await page.evaluate<number>(
      `fetch('/platform/checkout', { method: 'POST', body: '{"package":"small"}' }).then(({ status }) => status)`,
    )
    expect(status).toBe(403)
  })
})
