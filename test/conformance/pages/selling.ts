// How a gateway sells, as people meet it: a trial by e-mail, an order, the operator who marks it paid. A real browser on the
// product as `npm start` runs it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, open, signIn, state } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'

/** The links that the gateway's log has. */
const links = () =>
  [...readFileSync(join(state, 'log/gateway.log'), 'utf8').matchAll(/sign-up: (\S+#join=\w+)/g)].map(
    ([, link]) => link!,
  )

/** Asks for a link on the sign-in page, and answers it. */
async function linkFor(page: Page, email: string): Promise<string> {
  const before = links().length
  await page.getByLabel(/Your e-mail address/).fill(email)
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByText(/a link is on its way/).waitFor()
  await expect.poll(() => links().length).toBe(before + 1)
  return links().at(-1)!
}

describe.skipIf(isMissing)('a trial by e-mail', () => {
  it('is a key and an account within a minute, and the link opens once', async () => {
    const { page, troubles } = await open('/console')
    await page.getByRole('heading', { name: 'Get a trial key by e-mail' }).waitFor()
    await lookAt(page, 'join')
    const link = await linkFor(page, 'somebody@example.com')
    const token = link.split('#join=')[1]!
    await page.goto(link)
    await page.getByRole('button', { name: 'Open my account' }).waitFor()
    await expectNoSecret(page, [token])
    await lookAt(page, 'join-link')
    await page.getByRole('button', { name: 'Open my account' }).click()
    await page.getByRole('heading', { name: 'Your trial key' }).waitFor()
    await lookAt(page, 'join-key')
    const key = (await page.locator('code').first().textContent())!
    const answer = await dev.gateway.info(key, { type: 'allMids' })
    expect([answer.status, answer.headers.get('x-credits-remaining')]).toEqual([200, '24999'])
    await page.getByRole('button', { name: 'To my account' }).click()
    await page.getByRole('heading', { name: /^a-/ }).waitFor()
    await expectNoSecret(page, [token, key])
    expect(troubles).toEqual([])

    const second = await open('/console')
    await second.page.goto(link)
    await second.page.getByRole('button', { name: 'Open my account' }).click()
    await second.page.getByText(/used before/).waitFor()
    await second.page.getByRole('button', { name: 'To the sign-in page' }).click()
    // Coming back: the same account, and no second key.
    await second.page.goto(await linkFor(second.page, 'SOMEBODY@example.com'))
    await second.page.getByRole('button', { name: 'Open my account' }).click()
    await second.page.getByRole('heading', { name: /^a-/ }).waitFor()
  })

  it('names the field that is wrong', async () => {
    const { page } = await open('/console')
    await page.getByLabel(/Your e-mail address/).fill('a@b')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByText(/email: must be an e-mail address/).waitFor()
  })
})

describe.skipIf(isMissing)('a top-up', () => {
  it('is ordered by the owner, marked paid by the operator, and there', async () => {
    const owner = await open('/console')
    await signIn(owner.page, dev.service_key)
    await owner.page.getByRole('button', { name: /100 000 credits for 19.00 USD/ }).click()
    await owner.page.getByRole('button', { name: 'Order and pay' }).click()
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
    await operator.page.getByRole('link', { name: 'Orders' }).click()
    await operator.page.getByRole('button', { name: 'Mark paid' }).click()
    await lookAt(operator.page, 'orders-confirm')
    const confirm = operator.page.locator('dialog button.danger')
    expect(await confirm.getAttribute('disabled')).not.toBeNull()
    await operator.page.getByLabel(/Type W-/).fill(number)
    await confirm.click()
    await operator.page.getByText(/^paid \d{4}-/).waitFor()
    await lookAt(operator.page, 'orders')
    expect(await leftOf()).toBe(before + 100_000)
    expect([...owner.troubles, ...operator.troubles]).toEqual([])

    await owner.page.reload()
    await owner.page
      .getByText(/^paid \d{4}-/)
      .first()
      .waitFor()
  })

  it('is not ordered with an API key, which reads', async () => {
    const { page } = await open('/console')
    await signIn(page, dev.key)
    await page
      .getByText(/is an API key \(cqt_\), and an account is managed with/)
      .first()
      .waitFor()
    const status = await page.evaluate<number>(
      `fetch('/platform/checkout', { method: 'POST', body: '{"package":"small"}' }).then(({ status }) => status)`,
    )
    expect(status).toBe(403)
  })
})
