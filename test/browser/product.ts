// The product as `npm start` runs it, and a browser. All suites of a test file share them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { SIGN_IN, SIGN_UP } from '../../src/console/sign-in-strings.ts'
import { CONSOLE } from '../../src/console/strings.ts'
import { Gateway, SLOW_BLOCKS } from '../kit/gateway.ts'
import { run, scratch } from '../kit/program.ts'
import { type Browser, type Context, openBrowser, type Page } from './browser.ts'
import { troublesOf } from './visit.ts'

/** The line that `npm start --json` prints. */
interface Started {
  readonly url: string
  readonly key: string
  readonly service_key: string
  readonly admin_token: string
}

export interface Visit {
  readonly context: Context
  readonly page: Page
  readonly troubles: string[]
}

/** Of one step of a page. Beside other tests, a step takes several times as long as alone. */
const PAGE_TIMEOUT_MS = 60_000

const opened = await openBrowser()
/** Without a browser, page tests are skipped; in CI they fail. */
export const isMissing = typeof opened === 'string'
if (isMissing) {
  if (process.env.CI === 'true') throw new Error(`pages are not tested: ${opened}`)
  console.log(`tests of pages are skipped: ${opened}`)
}
export let browser = opened as Browser
/** Filled before the first test, as is `state`, its folder. */
export const dev = {} as Started & { gateway: Gateway }
export let state = ''

/** Call it in each test file with pages. A worker of vitest that runs several of them loads this module only once. */
export function useProduct(): void {
  let folder: ReturnType<typeof scratch> | undefined
  let launch: ReturnType<typeof run> | undefined
  beforeAll(async () => {
    if (!isMissing && !browser.isConnected()) browser = (await openBrowser()) as Browser
    folder = scratch()
    state = join(folder.path, 'state')
    launch = run('demo', ['--state', state, '--json', ...SLOW_BLOCKS], { PORT: '0' })
    Object.assign(dev, JSON.parse(await launch.line((line) => line.startsWith('{'), 60_000)))
    dev.gateway = new Gateway(dev.url, dev.admin_token)
  }, 90_000)
  // Also after a failed test. Contexts of concurrent tests are closed after the next sequential one.
  afterEach(async ({ task }) => {
    if (isMissing || task.concurrent) return
    if (task.result?.state === 'fail') await printPages()
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(async () => {
    if (!isMissing) await browser.close()
    await launch?.end()
    folder?.remove()
  })
}

/** What a person would have seen when a test failed. */
async function printPages(): Promise<void> {
  for (const page of browser.contexts().flatMap((context) => context.pages()))
    console.log(page.url(), await page.evaluate('document.body.innerText').catch(String))
}

/** Opens a path or an address in a new browser context, in which `before` ran first. */
export async function open(
  path: string,
  { before = '', ...options }: { readonly before?: string; readonly [option: string]: unknown } = {},
): Promise<Visit> {
  // Without a window, Chromium asks nobody for it, and denies it.
  const context = await browser.newContext({ permissions: ['clipboard-write'], ...options })
  if (before !== '') await context.addInitScript(before)
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  const page = await context.newPage()
  const troubles = troublesOf(page)
  await page.goto(new URL(path, dev.url).href)
  return { context, page, troubles }
}
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel(SIGN_IN.key).fill(token)
  await page.getByRole('button', { name: SIGN_IN.submit }).click()
  await page.getByRole('button', { name: CONSOLE.signOut }).waitFor()
}

/** The sign-up links in the log of the gateway. */
export const links = () =>
  [
    ...readFileSync(join(state, 'log/gateway.log'), 'utf8').matchAll(
      /"event":"sign_up_link","link":"([^"]+#join=\w+)"/g,
    ),
  ].map(([, link]) => link!)

/** Requests a link on the sign-in page and returns it. */
export async function linkFor(page: Page, email: string): Promise<string> {
  const before = links().length
  await page.getByLabel(SIGN_UP.email).fill(email)
  await page.getByRole('button', { name: SIGN_UP.submit }).click()
  await page.getByRole('status').waitFor()
  await expect.poll(() => links().length).toBe(before + 1)
  return links().at(-1)!
}
