// The documentation as a reader uses it: a real browser on the product as `npm start` runs it, with a script and without.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../browser/browser.ts'
import { lookAt, troublesOf } from '../browser/visit.ts'
import { type Program, run, scratch } from './children.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = scratch()
const opened = await openBrowser()
const isMissing = typeof opened === 'string'
if (isMissing) {
  if (process.env.CI === 'true') throw new Error(`pages are not tested: ${opened}`)
  console.log(`tests of pages are skipped: ${opened}`)
}
const browser = opened as Browser

let launch: Program
let dev: { url: string; key: string }

beforeAll(async () => {
  if (isMissing) return
  launch = run('launch/main.node.ts', ['--state', join(folder.path, 'state'), '--json'], { PORT: '0' })
  dev = JSON.parse(await launch.line((line) => line.startsWith('{'), 60_000))
}, 90_000)
afterAll(async () => {
  if (!isMissing) await browser.close()
  await launch?.end()
  folder.remove()
})

it('what pages load is at most 6 KB', () => {
  const files = globSync('dist/console/assets/docs*', { cwd: ROOT })
  expect(files).toHaveLength(2)
  const bytes = files.reduce((sum, path) => sum + gzipSync(readFileSync(join(ROOT, path))).length, 0)
  console.log(`documentation: ${bytes} B gzipped`)
  expect(bytes).toBeLessThanOrEqual(6_000)
})

describe.skipIf(isMissing)('a page', () => {
  it.each(['/docs', '/docs/info/clearinghouseState', '/docs/channels/l2BookDiff2', '/docs/guides/moving'])(
    '%s has no barrier and fits a phone',
    async (path) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      const troubles = troublesOf(page)
      await page.goto(dev.url + path)
      await lookAt(context, page, path.slice(1).replaceAll('/', '-'))
      expect(troubles).toEqual([])
      await context.close()
    },
    60_000,
  )

  it('is whole without a script: a menu, three languages, a way to every page', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } })
    const page = await context.newPage()
    await page.goto(`${dev.url}/docs/info/l2Book`)
    expect(await page.locator('#menu').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('#menu [aria-current]').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('pre[data-language=python]').isVisible()).toBe(false)
    await page.getByText('Python').first().click()
    await page.locator('pre[data-language=python]').waitFor()
    await page.getByText(/Sending from this page needs JavaScript/).waitFor()
    await page.locator('input[type=search]').fill('books')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
    await context.close()
  })

  it('is found by typing, with the keyboard alone', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${dev.url}/docs`)
    await page.keyboard.press('/')
    await page.keyboard.type('l2book')
    await page.getByRole('link', { name: /^l2BookDiffSnapshot/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^l2Book$/ }).waitFor()
    await context.close()
  })

  it('sends with the session of the visitor, and says what it cost', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${dev.url}/docs/info/l2Book`)
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/"unauthorized"/).waitFor()
    await page.evaluate(
      `fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token: ${JSON.stringify(dev.key)} }) })`,
    )
    await page.reload()
    await page.getByText(/^As demo/).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByText(/"levels"/)
      .nth(1)
      .waitFor()
    expect(await page.locator('.try dl').textContent()).toMatch(/^Status200Time\d+ msCredits1Left\d/)
    await page.getByLabel(/Body of/).fill('{"type":"<img src=x onerror=alert(1)>"}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/unsupported_type/).waitFor()
    expect(await page.locator('.try pre img').count()).toBe(0)
    await context.close()
  })
})
