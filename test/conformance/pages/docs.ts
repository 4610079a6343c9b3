// The documentation in a real browser, with and without JavaScript, on the product as `npm start` runs it.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { TRY_IT } from '../../../src/console/docs/strings.ts'
import { dev, isMissing, open } from '../../browser/product.ts'
import { lookAt } from '../../browser/visit.ts'
import { ROOT } from '../../kit/program.ts'

it('loads at most 6 KB', () => {
  const files = globSync('dist/console/assets/docs*', { cwd: ROOT })
  expect(files).toHaveLength(2)
  const bytes = files.reduce((sum, path) => sum + gzipSync(readFileSync(join(ROOT, path))).length, 0)
  console.log(`documentation: ${bytes} B gzipped`)
  expect(bytes).toBeLessThanOrEqual(6_000)
})

describe.skipIf(isMissing)('a page', () => {
  it.each(['/docs', '/docs/info/clearinghouseState', '/docs/channels/l2BookDiff2', '/docs/guides/migrate'])(
    '%s is accessible and fits a phone',
    async (path) => {
      const { page, troubles } = await open(path)
      await lookAt(page, path.slice(1).replaceAll('/', '-'))
      expect(troubles).toEqual([])
    },
    60_000,
  )

  it('works without JavaScript: menu, three languages, list of all pages', async () => {
    const { page } = await open('/docs/info/l2Book', {
      javaScriptEnabled: false,
      viewport: { width: 360, height: 740 },
    })
    expect(await page.locator('#menu').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('#menu [aria-current]').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('pre[data-language=python]').isVisible()).toBe(false)
    await page.getByText('Python').first().click()
    await page.locator('pre[data-language=python]').waitFor()
    await page.getByText(/needs JavaScript/).waitFor()
    await page.locator('input[type=search]').fill('books')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
  })

  it('shows the status to browsers, and JSON to programs', async () => {
    const { page, troubles } = await open('/status')
    await page.getByText(/^The feed of/).waitFor()
    await page.getByText('node', { exact: true }).waitFor()
    await lookAt(page, 'status')
    expect(troubles).toEqual([])
    expect(await (await fetch(`${dev.url}/status`)).json()).toMatchObject({ state: 'live' })
  })

  it('can be searched with the keyboard alone', async () => {
    const { page } = await open('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('l2book')
    await page.getByRole('link', { name: /^l2BookDiffSnapshot/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^l2Book$/ }).waitFor()
  })

  it('sends requests with the session of the visitor, and shows their cost', async () => {
    const { page } = await open('/docs/info/l2Book')
    await page.getByRole('link', { name: TRY_IT.signIn }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/"unauthorized"/).waitFor()
    await page.evaluate(
      `fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token: ${JSON.stringify(dev.key)} }) })`,
    )
    await page.reload()
    await page.getByText(TRY_IT.owner('demo')).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByText(/"levels"/)
      .nth(1)
      .waitFor()
    expect(await page.locator('.try dl').textContent()).toMatch(/^Status200Time\d+ msCredits1Credits left\d/)
    await page.getByLabel(/Body of/).fill('{"type":"<img src=x onerror=alert(1)>"}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/unsupported_type/).waitFor()
    expect(await page.locator('.try pre img').count()).toBe(0)
  })
})
