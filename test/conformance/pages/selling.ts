// Selling in a real browser: a trial by e-mail, an order, and the operator who marks it as paid. On the product as
// `npm start` runs it.

import { describe, expect, it } from 'vitest'
import { INVITATION, LINK, TRIAL_KEY } from '../../../src/console/join-strings.ts'
import * as operatorStrings from '../../../src/console/operator/strings.ts'
import * as billingStrings from '../../../src/console/owner/billing-strings.ts'
import { DETAILS, INVOICE, PAYMENTS } from '../../../src/console/owner/order-invoice-strings.ts'
import * as ownerStrings from '../../../src/console/owner/strings.ts'
import * as team from '../../../src/console/owner/team-strings.ts'
import { SIGN_UP } from '../../../src/console/sign-in-strings.ts'
import { SECRET } from '../../../src/console/ui/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, linkFor, links, open, signIn } from '../../browser/product.ts'
import { expectNoSecret, lookAt } from '../../browser/visit.ts'

describe.skipIf(isMissing)('a trial by e-mail', () => {
  it('gives an account and a key, by a link that works once', async () => {
    const { page, troubles } = await open('/console')
    await page.getByText(SIGN_UP.text).waitFor()
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
    expect(await page.getByRole('button', { name: TRIAL_KEY.open }).getAttribute('disabled')).not.toBeNull()
    await page.getByLabel(SECRET.saved).click()
    const answer = await dev.gateway.info(key, { type: 'allMids' })
    expect([answer.status, answer.headers.get('x-credits-remaining')]).toEqual([200, '24999'])
    await page.getByRole('button', { name: TRIAL_KEY.open }).click()
    await page.getByRole('heading', { name: ownerStrings.pagesHome }).waitFor()
    await expectNoSecret(page, [token, key])
    // The console's own requests leave most of the smallest limit free.
    await page.getByRole('link', { name: ownerStrings.pagesSettings }).click()
    await page.getByRole('img', { name: /^REST requests per second: (0|25|50)% used$/ }).waitFor()
    expect(troubles).toEqual([])

    const second = await open('/console')
    await second.page.goto(link)
    await second.page.getByRole('button', { name: LINK.open }).click()
    await second.page.getByRole('alert').waitFor()
    await second.page.getByRole('button', { name: LINK.back }).click()
    // A later link opens the same account and creates no second key.
    await second.page.goto(await linkFor(second.page, 'SOMEBODY@example.com'))
    await second.page.getByRole('button', { name: LINK.open }).click()
    await second.page.getByRole('heading', { name: ownerStrings.pagesHome }).waitFor()
  })

  it('names the invalid field', async () => {
    const { page } = await open('/console')
    await page.getByLabel(SIGN_UP.email).fill('a@b')
    await page.getByRole('button', { name: SIGN_UP.submit }).click()
    await page.getByText(/email:/).waitFor()
  })
})

/** Signs up, or returns to the account, by a link from an e-mail. */
async function enter(page: Page, email: string): Promise<void> {
  await page.goto(await linkFor(page, email))
  await page.getByRole('button', { name: LINK.open }).click()
}

describe.skipIf(isMissing)('a team', () => {
  it('invites a developer, who has no billing, until the owner removes the member', async () => {
    const owner = await open('/console')
    await enter(owner.page, 'lee@example.com')
    await owner.page.getByRole('heading', { name: TRIAL_KEY.title }).waitFor()
    await owner.page.getByLabel(SECRET.saved).click()
    await owner.page.getByRole('button', { name: TRIAL_KEY.open }).click()
    await owner.page.getByRole('link', { name: ownerStrings.pagesTeam }).click()
    await owner.page.getByRole('button', { name: team.invite }).click()
    await owner.page.getByLabel(team.membersEmail).fill('kim@example.com')
    await lookAt(owner.page, 'team-invite')
    const before = links().length
    await owner.page.getByRole('button', { name: team.inviteSubmit }).click()
    await owner.page.getByText(team.invited.log('kim@example.com')).waitFor()
    await owner.page.getByRole('heading', { name: team.pendingTitle }).waitFor()
    await expect.poll(() => links().length).toBe(before + 1)
    const link = links().at(-1)!

    const member = await open(link)
    await member.page.getByRole('heading', { name: INVITATION.title }).waitFor()
    await expectNoSecret(member.page, [link.split('#join=')[1]!])
    await lookAt(member.page, 'team-accept')
    await member.page.getByRole('button', { name: INVITATION.open }).click()
    await member.page.getByRole('link', { name: ownerStrings.pagesKeys }).waitFor()
    expect(await member.page.getByRole('link', { name: ownerStrings.pagesBilling }).count()).toBe(0)
    await member.page.goto(`${dev.url}/console?page=billing`)
    const roleOf = (role: keyof typeof team.roles) => team.roles[role]
    await member.page
      .getByText(team.denied(ownerStrings.pagesBilling, roleOf('billing'), roleOf('developer')))
      .waitFor()
    const refused = await member.page.evaluate<string>(
      `fetch('/platform/billing/').then(async (reply) => reply.status + ' ' + (await reply.json()).error_message)`,
    )
    expect(refused).toMatch(/^403 This call needs the role "billing" or "owner"; yours is "developer"/)
    await member.page.getByRole('link', { name: ownerStrings.pagesTeam }).click()
    await member.page.getByText(team.sessionsThis).waitFor()
    await lookAt(member.page, 'team-developer')
    expect(member.troubles.filter((text) => !/403|429/.test(text))).toEqual([])

    await owner.page.reload()
    await owner.page.getByText(team.activityWords.invite('kim@example.com', roleOf('developer'))).waitFor()
    await lookAt(owner.page, 'team')
    await owner.page.getByRole('button', { name: team.removeOf('kim@example.com') }).click()
    await owner.page.getByLabel(/to confirm/).fill('kim@example.com')
    await owner.page.getByRole('button', { name: team.removeSubmit }).click()
    await owner.page.getByText(team.removed('kim@example.com')).waitFor()
    // The page of the member finds out by itself.
    await member.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    // Two pages share the limit of a small plan, and repeat their requests.
    expect(owner.troubles.filter((text) => !text.includes('429'))).toEqual([])
  }, 60_000)

  it('shares an operator’s account, and switches between accounts', async () => {
    const sent = links().length
    const invited = await dev.gateway.call('POST', '/platform/members/', dev.service_key, {
      email: 'lee@example.com',
      role: 'billing',
    })
    expect(invited.status).toBe(201)
    await expect.poll(() => links().length).toBe(sent + 1)
    const guest = await open(links().at(-1)!)
    await guest.page.getByRole('button', { name: INVITATION.open }).click()
    await guest.page.locator('h1 + p', { hasText: 'demo' }).waitFor()
    // An invitation opens its account only.
    expect(await guest.page.getByLabel(team.switchAccount, { exact: true }).count()).toBe(0)
    expect(guest.troubles).toEqual([])
    const { page, troubles } = await open('/console')
    await enter(page, 'lee@example.com')
    await page.locator('h1 + p', { hasText: 'demo' }).waitFor()
    expect(await page.getByRole('link', { name: ownerStrings.pagesKeys }).count()).toBe(0)
    await page.getByRole('link', { name: ownerStrings.pagesBilling }).click()
    await page.getByText(billingStrings.topUpTitle).waitFor()
    const accounts = page.getByLabel(team.switchAccount, { exact: true })
    await accounts.waitFor()
    await lookAt(page, 'team-billing')
    const own = await page.evaluate<string>(
      `[...document.querySelectorAll('.rail option')].map(({ value }) => value).find((value) => value !== 'demo')`,
    )
    await accounts.selectOption(own)
    await page.locator('h1 + p', { hasText: own }).waitFor()
    await page.getByRole('link', { name: ownerStrings.pagesKeys }).waitFor()
    expect(troubles).toEqual([])
  }, 60_000)
})

/** Enters the billing details of the account. */
async function enterDetails(page: Page): Promise<void> {
  await page.getByRole('button', { name: DETAILS.edit }).click()
  await page.getByLabel(DETAILS.name).fill('Acme <b>Trading</b> Ltd')
  await page.getByLabel(DETAILS.address).fill('1 Example Street\nLondon EC1A 1AA\n')
  await page.getByLabel(DETAILS.country, { exact: true }).selectOption('GB')
  await page.getByLabel(DETAILS.taxId).fill('GB123456789')
  await page.getByRole('button', { name: DETAILS.save }).click()
  await page.getByText('Acme <b>Trading</b> Ltd').waitFor()
}

/** Opens the invoice of the order that is shown, as on screen and as in print, and returns. */
async function readInvoice(page: Page): Promise<string> {
  await page.getByRole('article').getByRole('link', { name: INVOICE.open }).click()
  await page.getByText(INVOICE.amountDue).waitFor()
  await lookAt(page, 'order-invoice')
  const text = (await page.getByRole('article').textContent())!
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await page.evaluate('document.querySelector("header") === null')).toBe(true)
  expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(27, 34, 37)')
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  await page.getByRole('link', { name: INVOICE.back }).click()
  return text
}

describe.skipIf(isMissing)('a top-up', () => {
  it('is ordered by the owner and marked as paid by the operator', async () => {
    const owner = await open('/console')
    await signIn(owner.page, dev.service_key)
    await owner.page.getByRole('link', { name: ownerStrings.pagesBilling }).click()
    await enterDetails(owner.page)
    await owner.page.getByRole('button', { name: billingStrings.topUpPackage('100,000', '19.00 USD') }).click()
    await owner.page.getByRole('button', { name: billingStrings.topUpSubmit.manual }).click()
    await owner.page.getByRole('heading', { name: /^Order W-/ }).waitFor()
    await lookAt(owner.page, 'top-up')
    const number = (await owner.page.getByRole('heading', { name: /^Order W-/ }).textContent())!.split(/[ :]/)[1]!
    const invoice = await readInvoice(owner.page)
    for (const part of [
      number,
      'Demo Data GmbH',
      'Acme <b>Trading</b> Ltd',
      'United Kingdom',
      '15.97',
      '3.03',
      '19.00',
    ])
      expect(invoice).toContain(part)
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
    const confirm = operator.page.locator('dialog button[type=submit]')
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
    await owner.page.getByRole('link', { name: INVOICE.back }).click()
    const orders = await owner.page.getByRole('table', { name: PAYMENTS.table }).textContent()
    for (const part of [number, '100,000', '19.00 USD', INVOICE.open]) expect(orders).toContain(part)
  })

  it('cannot be ordered with an API key', async () => {
    const { page } = await open('/console?page=billing')
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
