// Two journeys through the pages of `npm start`, step by step: a buyer from the page `/` to an invoice, and an operator
// from a plan to a refund. With SCREENSHOTS, each step is a picture.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { LINK, TRIAL_KEY } from '../../../src/console/join-strings.ts'
import * as incidentStrings from '../../../src/console/operator/incident-strings.ts'
import * as planStrings from '../../../src/console/operator/plan-strings.ts'
import * as operator from '../../../src/console/operator/strings.ts'
import * as billing from '../../../src/console/owner/billing-strings.ts'
import { INVOICE } from '../../../src/console/owner/order-invoice-strings.ts'
import * as wizard from '../../../src/console/owner/pipeline-wizard-strings.ts'
import * as pipelines from '../../../src/console/owner/pipelines-strings.ts'
import * as owner from '../../../src/console/owner/strings.ts'
import { COMPONENT_NAMES } from '../../../src/console/status/strings.ts'
import { SECRET } from '../../../src/console/ui/strings.ts'
import type { Page } from '../../browser/browser.ts'
import { dev, isMissing, linkFor, open, signIn } from '../../browser/product.ts'
import { takePicture } from '../../browser/visit.ts'
import { Socket } from '../../kit/socket.ts'
import { hasPostgres, PASSWORD, startPostgres } from '../../pipelines/destinations/postgres-server.ts'

/** Presses what has this name, and takes a picture of what follows. */
const presser = (page: Page, journey: string) => {
  let step = 0
  return async (name: string | RegExp, role = 'button') => {
    await page.getByRole(role, { name, exact: true }).first().click()
    await takePicture(page, `journey-${journey}-${String(++step).padStart(2, '0')}`)
  }
}

describe.skipIf(isMissing || !hasPostgres)('a buyer', () => {
  it('comes from the page /, gets a key, calls, streams, sends rows to PostgreSQL, and has an invoice', async () => {
    const server = await startPostgres()
    const { page, troubles } = await open('/')
    const press = presser(page, 'buyer')
    await press('Start free', 'link')
    await page.goto(await linkFor(page, 'buyer@example.com'))
    await press(LINK.open)
    await page.getByRole('heading', { name: TRIAL_KEY.title }).waitFor()
    const key = (await page.locator('code').first().textContent())!
    await press(SECRET.check)
    await page.getByText(/^200 in \d+ ms, 1 credit$/).waitFor()
    await page.getByLabel(SECRET.saved).click()
    await press(TRIAL_KEY.open)

    // The commands of the list of first steps.
    await page.locator('.steps code').first().waitFor()
    const [call = '', stream = ''] = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.steps code')].map(({ textContent }) => textContent)`,
    )
    const { stdout } = await promisify(execFile)('sh', ['-c', call], { env: { ...process.env, WEIR_KEY: key } })
    expect(Number(JSON.parse(stdout).BTC)).toBeGreaterThan(0)
    const [, address = '', subscribe = ''] = /^npx wscat -c "([^"]+)" -w 10 -x '(.+)'$/.exec(stream) ?? []
    const socket = await Socket.open(address.replace('$WEIR_KEY', key))
    socket.send(JSON.parse(subscribe))
    await socket.next(({ channel }) => channel === 'l2Book')
    socket.close()

    await press(owner.pagesPipelines, 'link')
    await press(pipelines.pipelinesNew)
    await page.getByText('Fills of all wallets', { exact: false }).click()
    await press(wizard.next)
    await press(wizard.previewButton)
    await page.getByText(/^10 rows\. Read [\d,]+ rows in blocks/).waitFor()
    await press(wizard.next)
    await page.getByLabel(wizard.nameLabel).fill('Fills')
    await page.getByText(wizard.typeTexts.postgres!, { exact: true }).click()
    await page.getByLabel(/^URL/).fill(`postgres://127.0.0.1:${server.port}`)
    await page.getByLabel(/^User/).fill('weir')
    await page.getByLabel(/^Password/).fill(PASSWORD)
    await page.getByLabel(/^Database/).fill('postgres')
    await page.getByLabel(/^Table/).fill('fills')
    await page.getByLabel(/Create table/).click()
    await press(wizard.next)
    await press(wizard.testButton)
    await page.getByText(/^Confirmed: \d+ rows in \d+ ms$/).waitFor()
    await press(wizard.start)
    await page.getByRole('button', { name: pipelines.pipelinesPause }).waitFor()
    const count = () => Number(server.query('SELECT count(*) FROM fills')[0])
    const tested = count()
    expect(tested).toBeGreaterThan(0)
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(tested)

    await press(owner.pagesBilling, 'link')
    await press(billing.topUpPackage('100,000', '19.00 USD'))
    await press(billing.topUpSubmit.manual)
    await page.getByRole('heading', { name: /^Order W-/ }).waitFor()
    await press(INVOICE.open, 'link')
    await page.getByText(INVOICE.amountDue).waitFor()
    await takePicture(page, 'journey-buyer-invoice')
    expect(await page.getByRole('article').textContent()).toContain('19.00')
    // Faster than a person, who stays below the limit of a trial. The page repeats what was limited.
    expect(troubles.filter((each) => !each.includes('429'))).toEqual([])
    await server.remove()
  }, 120_000)
})

describe.skipIf(isMissing)('an operator', () => {
  it('makes a plan and an account, tells of an incident, and records a refund', async () => {
    const order = await dev.gateway.call('POST', '/platform/checkout', dev.service_key, { package: 'small' })
    const { number } = JSON.parse(await order.text()).data.order
    const { page, troubles } = await open('/console')
    await signIn(page, dev.admin_token)
    const press = presser(page, 'operator')

    await press(operator.pagesPlans, 'link')
    await press(planStrings.plansNew)
    await page.getByLabel(planStrings.plansColumnsPlan, { exact: true }).fill('desk')
    await page.getByLabel(planStrings.plansColumnsCredits, { exact: true }).fill('5000')
    await page.getByLabel(`${planStrings.plansFields.rest_requests_per_second}: ${planStrings.plansUnlimited}`).click()
    await press(planStrings.plansSave)
    await page.getByText(planStrings.plansSaved('desk')).waitFor()
    await press(operator.pagesAccounts, 'link')
    await press(operator.accountsCreate)
    await page.getByLabel(operator.accountsNewId).fill('desk-1')
    await page.getByLabel(operator.accountsNewPlan).selectOption('desk')
    await press(operator.accountsCreateSubmit)
    await page.getByRole('heading', { name: 'desk-1' }).waitFor()

    await press(operator.pagesIncidents, 'link')
    await press(incidentStrings.incidentsNew)
    await page.getByLabel(incidentStrings.incidentsTitleField).fill('Late blocks')
    await page.getByLabel(COMPONENT_NAMES.streams, { exact: true }).click()
    await page.getByLabel(incidentStrings.incidentsMessageField).fill('Blocks are a minute late. We are looking.')
    await press(incidentStrings.incidentsPost)
    await page.getByText(incidentStrings.incidentsPosted('Late blocks')).waitFor()
    await press(incidentStrings.incidentsUpdateLabel('Late blocks'))
    await page.getByLabel(operator.commonState).selectOption('resolved')
    await page.getByLabel(incidentStrings.incidentsMessageField).fill('Blocks are on time again.')
    await press(incidentStrings.incidentsPost)
    await page.getByText(incidentStrings.incidentsUpdateDone('Late blocks')).waitFor()

    await press(operator.pagesOrders, 'link')
    const row = page.locator('tr', { hasText: number })
    await row.getByRole('button', { name: operator.ordersActions.paid }).click()
    await page.getByLabel(/Type W-/).fill(number)
    await press(operator.ordersSubmit.paid)
    await row.getByRole('button', { name: operator.ordersActions.refund }).click()
    await page.getByLabel(operator.ordersRefundAmount('USD')).fill('20')
    await page.locator('dialog button[type=submit]').click()
    await page.getByText(/amount: must be all that was refunded so far, from 0\.01 to 19\.00 usd/).waitFor()
    await page.getByLabel(operator.ordersRefundAmount('USD')).fill('19.00')
    await page.locator('dialog button[type=submit]').click()
    await expect.poll(() => row.textContent()).toMatch(/19\.00 USD refunded/i)
    await takePicture(page, 'journey-operator-refund')
    const invoice = await dev.gateway.call('GET', `/platform/checkout/${number}/invoice`, dev.service_key)
    expect(JSON.parse(await invoice.text()).data).toMatchObject({ refunded: '19.00', correction: expect.anything() })
    expect(troubles.filter((each) => !each.includes('400'))).toEqual([])
  }, 60_000)
})
