// Checks each page that a test visits for accessibility barriers and leaks, and takes its screenshot.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { axePath, type Page } from './browser.ts'

/** Where pictures go; unset: nowhere. */
const { SCREENSHOTS } = process.env
/** Sizes share their colors, so each size is checked in one color scheme. */
const LOOKS = [
  { size: 'desktop', viewport: { width: 1280, height: 800 }, checkedIn: 'light' },
  { size: 'phone', viewport: { width: 360, height: 740 }, checkedIn: 'dark' },
] as const

let axe: string | null = null
const axeScript = () => (axe ??= readFileSync(axePath(), 'utf8'))

/** What a page said that it should not: errors, and what its policy stopped. */
export function troublesOf(page: Page): string[] {
  const troubles: string[] = []
  page.on('pageerror', (error: Error) => void troubles.push(String(error)))
  page.on('console', (message: { type(): string; text(): string }) => {
    if (message.type() === 'error') troubles.push(message.text())
  })
  return troubles
}

/**
 * In both sizes: no barrier that axe finds, nothing wider than the screen, and pictures in both color schemes. The policy
 * of the pages takes no script from elsewhere: axe comes over the debugger, which it does not bind.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  await debug.send('Runtime.evaluate', { expression: axeScript() })
  for (const { size, viewport, checkedIn } of LOOKS) {
    await page.setViewportSize(viewport)
    if (SCREENSHOTS) await takePictures(page, `${name}-${size}`)
    await page.emulateMedia({ colorScheme: checkedIn })
    const where = `${name}-${size}-${checkedIn}`
    const found = await debug.send('Runtime.evaluate', {
      expression: `axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) =>
        [id, ...nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary.slice(0, 200))])))`,
      awaitPromise: true,
      returnByValue: true,
    })
    const { value } = (found as { result: { value: string } }).result
    expect(JSON.parse(value), where).toEqual([])
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    expect(overflow, `${where} is wider than its screen`).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize(LOOKS[0].viewport)
}

async function takePictures(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await takePicture(page, `${name}-${colorScheme}`)
  }
}

/** As the page looks now. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}

/** That none of these secrets stands anywhere where a page keeps or shows things. */
export async function expectNoSecret(page: Page, secrets: readonly string[]): Promise<void> {
  const kept = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.documentElement.outerHTML, [...document.querySelectorAll("input")].map((input) => input.value)])',
  )
  for (const secret of secrets) expect(kept).not.toContain(secret)
}
