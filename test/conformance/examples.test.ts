// The programs of examples/, run as documented against the whole gateway on the simulated exchange.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { openBrowser } from '../browser/browser.ts'
import { cutProxy } from '../kit/cut-proxy.ts'
import { type Exchange, startExchange, startWorld, type World } from '../kit/gateway.ts'
import { type Program, runCommand, runFile } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'
import { PACKAGE } from './package/bundle.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
/** Of the chain of devnet. */
const TOKEN = `0x${'70'.repeat(20)}`
const has = (command: string) => spawnSync(command, ['--version']).status === 0

let exchange: Exchange
let folder: string
let world: World
let env: Record<string, string>
/** examples/liquidations.ts, which runs from the start because liquidations are rare, and what its webhook received. */
let alerts: Program
const received: string[][] = []
const webhook = createServer(async (request, response) => {
  const { alerts: list } = (await json(request)) as { alerts: { text: string }[] }
  received.push(list.map(({ text }) => text))
  response.end()
})
const alertArguments = () => {
  const { port } = webhook.address() as AddressInfo
  return ['0', '--webhook', `http://127.0.0.1:${port}/`, '--state', join(folder, 'alerts.sqlite')]
}

beforeAll(async () => {
  exchange = await startExchange({
    gateway: (node) => {
      const shared = { RPC_CHAINS: JSON.stringify([{ name: 'hyperliquid', urls: [`${node}/evm`] }]) }
      return startWorld({ node, vars: shared, objectVars: shared })
    },
  })
  world = exchange.gateway
  folder = exchange.folder
  env = { WEIR_URL: world.url, WEIR_KEY: await world.newKey('1000') }
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  alerts = runFile('examples/liquidations.ts', alertArguments(), env)
})
afterAll(async () => {
  await alerts?.end()
  webhook.close()
  await exchange?.stop()
})

describe('spread.ts', () => {
  it('prints mid price and spread of every coin, and ends on a signal', async () => {
    const bot = runFile('examples/spread.ts', ['BTC', 'ETH'], env)
    for (const coin of ['BTC', 'ETH']) {
      const line = await bot.line((each) => each.startsWith(coin))
      expect(line).toMatch(/^[A-Z]+ mid \d+(\.\d+)? spread \d+(\.\d+)? \(\d+\.\d\d bp\) height \d+$/)
    }
    await bot.end('SIGINT')
    expect(bot.process.exitCode).toBe(0)
  })

  it('ends with an error for a wrong key', async () => {
    const bot = runFile('examples/spread.ts', ['BTC'], { ...env, WEIR_KEY: 'cqt_nonsense' })
    await expect(bot.line(() => true)).rejects.toThrow(/exit 1.*the gateway rejected the subscription: /s)
  })
})

describe('a copy in an empty folder', () => {
  /** With `@weir/client` and what else it imports, as npm would put them there. */
  const placeOf = (name: string) => {
    const place = join(folder, `copy of ${name}`)
    mkdirSync(join(place, 'node_modules/@weir'), { recursive: true })
    symlinkSync(PACKAGE, join(place, 'node_modules/@weir/client'))
    symlinkSync(join(EXAMPLES, '../node_modules/big.js'), join(place, 'node_modules/big.js'))
    return place
  }

  it('runs at the first attempt', async () => {
    const place = placeOf('book')
    for (const file of ['package.json', 'book.ts']) cpSync(join(EXAMPLES, file), join(place, file))
    const book = runCommand(process.execPath, [join(place, 'book.ts'), 'BTC'], env)
    expect(await book.line((line) => line.includes(' × '))).toMatch(/seq \d+$/)
    await book.end('SIGINT')
    expect(book.errors()).not.toContain('Warning')
  })

  it('runs with the client package after the documented change', async () => {
    const page = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
    const [change] = /^find ~\/bot .*$/m.exec(page)!
    const place = placeOf('all')
    cpSync(EXAMPLES, place, { recursive: true })
    const { status, stderr } = spawnSync('sh', ['-c', change.replaceAll('~/bot', '"$PLACE"')], {
      env: { ...process.env, PLACE: place },
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    const programs = [
      [['spread.ts', 'BTC'], /^BTC mid /],
      [['maker.ts', 'BTC'], /^place: bid /],
      [['liquidations.ts', '0', '--state', ':memory:'], /^watching$/],
      [['tax-report.ts', `0x${'1'.repeat(40)}`, '2026'], /^time,account,/],
    ] as const
    for (const [[file, ...args], first] of programs) {
      const program = runCommand(process.execPath, [join(place, file), ...args], env)
      expect(await program.line(() => true)).toMatch(first)
      await program.end('SIGINT')
      expect(program.errors()).not.toContain('Warning')
    }
  })

  it('requires the URL of a gateway', async () => {
    const files = (readdirSync(EXAMPLES, { recursive: true }) as string[]).filter((file) =>
      /\.(ts|py|sh|html)$/.test(file),
    )
    for (const file of files)
      expect([file, readFileSync(join(EXAMPLES, file), 'utf8')]).not.toEqual([
        file,
        expect.stringContaining('127.0.0.1:8787'),
      ])
    const alone = runFile('examples/book.ts', ['BTC'], { WEIR_KEY: env.WEIR_KEY!, WEIR_URL: '' })
    await expect(alone.line(() => true)).rejects.toThrow(/exit 2.*Usage: WEIR_URL=<url>/s)
  })
})

describe('maker.ts', () => {
  it('quotes while the book is in sync, cancels otherwise, and sums up on a signal', async () => {
    const proxy = await cutProxy(world.url)
    const bot = runFile('examples/maker.ts', ['BTC', '--max-age', '3000'], { ...env, WEIR_URL: proxy.url })
    const quotes = async () => {
      const [, bid] = /at ([\d.]+)$/.exec(await bot.line((line) => line.startsWith('place: bid')))!
      const [, ask] = /at ([\d.]+)$/.exec(await bot.line((line) => line.startsWith('place: ask')))!
      expect(Number(bid)).toBeLessThan(Number(ask))
    }
    await quotes()
    proxy.cut()
    await bot.line((line) => line.startsWith('pull: '))
    bot.skip()
    proxy.restore()
    await quotes()
    await bot.end('SIGINT')
    expect(bot.process.exitCode).toBe(0)
    expect(bot.lines.slice(-3)).toEqual([
      'pull: the program was stopped',
      expect.stringMatching(/^end: \d+ orders, \d+ filled in \d+ fills, \d+ rejected\.$/),
      expect.stringMatching(/^end: Position -?[\d.]+, profit -?[\d.]+ dollars after [\d.]+ dollars of fees$/),
    ])
    proxy.close()
  })

  it('has no quotes while every block is late', async () => {
    const bot = runFile('examples/maker.ts', ['BTC', '--max-age', '1'], env)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await bot.end('SIGINT')
    expect(bot.lines.filter((line) => !line.startsWith('end: '))).toEqual([])
  })

  it.each([
    [['BTC', '--spread', '0'], {}, 2, /--spread: use a positive number/],
    [['NONE'], {}, 1, /NONE: no such perp or spot market/],
    [['BTC'], { WEIR_KEY: 'cqt_nonsense' }, 1, /API key/],
  ])('ends with an error for %j %j', async (args, more, code, message) => {
    const bot = runFile('examples/maker.ts', args, { ...env, ...more })
    await expect.poll(() => bot.process.exitCode, { timeout: 20_000 }).toBe(code)
    expect(bot.errors()).toMatch(message)
    expect(bot.errors()).not.toMatch(/^ +at /m)
  })
})

describe('copy.ts', () => {
  const file = () => join(folder, 'fills.sqlite')
  const rowsOf = (query: string) => {
    const database = new DatabaseSync(file(), { readOnly: true })
    const rows = database.prepare(query).all() as { readonly time: number; readonly name: string }[]
    database.close()
    return rows
  }

  it('has every fill once, including those while it was offline', async () => {
    const stream = await Socket.open(`${world.ws}/ws?key=${env.WEIR_KEY}`)
    stream.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    const copies = () => runFile('examples/copy.ts', [file()], env)
    const some = (line: string) => /^stored everything up to block \d+, [1-9]\d* fills added$/.test(line)
    const first = copies()
    await first.line(some)
    await first.end('SIGINT')
    expect(first.process.exitCode).toBe(0)
    const before = Math.max(...rowsOf('SELECT time FROM fills').map(({ time }) => time))
    await vi.waitFor(() => expect(timesOf(stream).some((time) => time > before + 2_000)).toBe(true), {
      timeout: 30_000,
    })
    const second = copies()
    await second.line(some)
    await second.end('SIGINT')
    stream.close()
    const names = rowsOf("SELECT time, time || ' ' || user || ' ' || coin || ' ' || tid AS name FROM fills")
    const last = Math.max(...names.map(({ time }) => time))
    const had = new Set(names.map(({ name }) => name))
    const begun = Math.min(...names.map(({ time }) => time))
    // The first and the last block may be there in part.
    const told = fillsOf(stream).filter(([, { time }]) => time > begun && time < last)
    expect(told.length).toBeGreaterThan(20)
    expect(told.filter(([user, { time, coin, tid }]) => !had.has(`${time} ${user} ${coin} ${tid}`))).toEqual([])
    expect(rowsOf('SELECT reason FROM gaps')).toEqual([])
  })

  const fillsOf = (stream: Socket) => stream.frames.flatMap((frame) => (frame.fills ?? []) as UserFill[])
  const timesOf = (stream: Socket) => fillsOf(stream).map(([, { time }]) => time)
})

describe('liquidations.ts', () => {
  it('ends with an error for wrong arguments, without showing the webhook', async () => {
    for (const [args, message] of [
      [['many'], /^Usage/],
      [['1', '--format', 'fax'], /^--format: use one of slack, discord, telegram, json/],
      [['1', '--webhook', 'ftp://secret'], /^--webhook: use an HTTP URL/],
      [['1', '--webhook', 'http://secret', '--format', 'telegram'], /^--webhook: add \?chat_id=… to the URL/],
    ] as const) {
      const bot = runFile('examples/liquidations.ts', args, env)
      await expect.poll(() => bot.process.exitCode, { timeout: 20_000 }).toBe(2)
      expect(bot.errors()).toMatch(message)
      expect(bot.errors()).not.toContain('secret')
    }
  })

  it('alerts of each liquidation once, on standard output and by webhook, through a restart', async () => {
    const first = await alerts.line((line) => line.includes('dollars'), 300_000)
    await alerts.end('SIGINT')
    expect(alerts.process.exitCode).toBe(0)
    const again = runFile('examples/liquidations.ts', alertArguments(), env)
    await again.line((line) => line === 'watching')
    // An alert that was not delivered yet follows, and events since the stored place are read again.
    await expect.poll(() => received.flat()[0], { timeout: 20_000 }).toBe(first)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await again.end('SIGINT')
    const texts = received.flat()
    expect(new Set(texts).size).toBe(texts.length)
    for (const line of [...alerts.lines.slice(1), ...again.lines.slice(1)])
      expect(line).toMatch(/^0x\w{40} (long|short) [\d.]+ \S+ at [\d.]+ \((market|backstop)\): \d+ dollars$/)
  }, 400_000)
})

describe('tax-report.ts', () => {
  /** Each line as fields by column. No cell of this exchange needs quotes. */
  const rowsOf = (lines: readonly string[]) => {
    const [names = [], ...rows] = lines.map((line) => line.trimEnd().split(','))
    return rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [names[at], cell])))
  }

  it('reports gains that agree with the exchange, and every fill of the wallet', async () => {
    const { user } = await vi.waitFor(closer, { timeout: 60_000, interval: 1_000 })
    const year = new Date().getUTCFullYear()
    const program = runFile('examples/tax-report.ts', [user, `${year}`], env)
    await expect.poll(() => program.process.exitCode, { timeout: 60_000 }).toBe(0)
    await program.line((line) => line.includes(',not computed,'))
    const rows = rowsOf(program.lines)
    const answer = await world.info(env.WEIR_KEY!, { type: 'userFillsByTime', user, startTime: 0 })
    const fills = (await answer.json()) as UserFill[1][]
    const reported = rows.filter(({ account, event }) => ['perp', 'spot'].includes(account!) && event !== 'holding')
    const times = new Set(reported.map(({ time }) => Date.parse(time!)))
    const last = Math.max(...times)
    expect(fills.filter(({ time }) => time <= last && !times.has(time))).toEqual([])
    const total = rows.find(({ event }) => event === 'reconciliation')!
    // The exchange rounds each profit to six decimals.
    expect(Math.abs(Number(total.gain) - Number(total.exchange_pnl))).toBeLessThan(1e-5 * fills.length)
    expect(total.exchange_pnl).not.toBe('0')
    expect(program.errors()).toMatch(/^cost: \d+ credits$/m)
  }, 120_000)

  it('stops at its limit of credits, and rejects wrong arguments', async () => {
    const wallet = `0x${'1'.repeat(40)}`
    for (const [args, code, message] of [
      [[wallet, '2026', '--max-credits', '1'], 1, /The report is incomplete: .*use a higher --max-credits/],
      [['0x12', '2026'], 2, /WALLET: use an address/],
      [[wallet, '26'], 2, /YEAR: use a year/],
      [[wallet, '2026', '--method', 'hifo'], 2, /--method: use one of fifo, lifo, average/],
    ] as const) {
      const program = runFile('examples/tax-report.ts', args, env)
      await expect.poll(() => program.process.exitCode, { timeout: 20_000 }).toBe(code)
      expect(program.errors()).toMatch(message)
    }
  })

  /** A wallet that has closed a perp position which it opened on this exchange. */
  async function closer(): Promise<{ user: string }> {
    const stream = await Socket.open(`${world.ws}/ws?key=${env.WEIR_KEY}`)
    stream.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    const fills = () => stream.frames.flatMap((frame) => (frame.fills ?? []) as UserFill[])
    await vi.waitFor(() => expect(fills().length).toBeGreaterThan(100), { timeout: 30_000, interval: 100 })
    stream.close()
    const users = Object.entries(Object.groupBy(fills(), ([user]) => user)).sort(
      ([, a], [, b]) => b!.length - a!.length,
    )
    for (const [user] of users.slice(0, 5)) {
      const answer = await world.info(env.WEIR_KEY!, { type: 'userFillsByTime', user, startTime: 0 })
      const own = (await answer.json()) as UserFill[1][]
      const opened = new Set(own.filter(({ startPosition }) => Number(startPosition) === 0).map(({ coin }) => coin))
      if (own.some(({ coin, dir }) => opened.has(coin) && /^Close|>/.test(dir))) return { user }
    }
    throw new Error('no wallet has closed a position yet')
  }
})

describe('dashboard.ts', () => {
  it('has a page of at most 60 lines, and serves it to its own name only', async () => {
    const page = readFileSync(join(EXAMPLES, 'dashboard.html'), 'utf8')
    expect(page.split('\n').length - 1).toBeLessThanOrEqual(60)
    const server = runFile('examples/dashboard.ts', ['BTC', '--port', '0'], env)
    const url = await server.line((line) => line.startsWith('http'))
    const statusOf = (path: string, host: string) =>
      new Promise((resolve) => {
        get(url + path, { headers: { host } }, (answer) => resolve(answer.resume().statusCode))
      })
    const { host } = new URL(url)
    expect(await Promise.all(['', 'token', '../.env'].map((path) => statusOf(path, host)))).toEqual([200, 200, 404])
    expect(await statusOf('token', 'rebound.example')).toBe(403)
    await server.end('SIGINT')
    expect(server.process.exitCode).toBe(0)
  })

  it('shows markets in a browser that never gets the key', { timeout: 120_000 }, async ({ skip }) => {
    const browser = await openBrowser()
    if (typeof browser === 'string') {
      console.error(`SKIPPED: examples/dashboard.ts: ${browser}`)
      return skip()
    }
    const server = runFile('examples/dashboard.ts', ['BTC', 'ETH', '--port', '0'], env)
    const page = await (await browser.newContext()).newPage()
    const asked: string[] = []
    const errors: string[] = []
    page.on('request', ((request: { url(): string }) => asked.push(request.url())) as never)
    page.on('pageerror', ((error: Error) => errors.push(error.message)) as never)
    await page.goto(await server.line((line) => line.startsWith('http')))
    await page.locator('#book tr').nth(15).waitFor({ timeout: 30_000 })
    await page.locator('#trades tr').nth(5).waitFor({ timeout: 30_000 })
    const cells = () =>
      page.evaluate<string[]>('[...document.querySelectorAll("#coins td")].map((each) => each.textContent)')
    await expect
      .poll(cells, { timeout: 30_000 })
      .toEqual(
        ['BTC', 'ETH'].flatMap((coin) => [
          coin,
          expect.stringMatching(/^[\d.]+$/),
          expect.stringMatching(/^-?[\d.]+ %$/),
          expect.stringMatching(/^\d\.\d s$/),
        ]),
      )
    expect(await page.locator('#state').textContent()).toBe('BTC is live')
    await page.locator('#coins a', { hasText: 'ETH' }).click()
    await expect.poll(() => page.locator('#state').textContent(), { timeout: 30_000 }).toBe('ETH is live')
    await page.locator('#book tr').nth(15).waitFor({ timeout: 30_000 })
    // A phone, in both color schemes.
    await page.setViewportSize({ width: 390, height: 800 })
    const colors = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      colors.add(await page.evaluate("getComputedStyle(document.querySelector('#book .B')).color"))
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: join(process.env.SCREENSHOTS, `dashboard-${colorScheme}.png`), fullPage: true })
    }
    expect(colors.size).toBe(2)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const { token } = JSON.parse(await page.evaluate<string>("fetch('token').then((answer) => answer.text())"))
    expect(token).not.toContain(env.WEIR_KEY)
    expect(asked.join() + (await page.content())).not.toContain(env.WEIR_KEY)
    expect(errors).toEqual([])
    await browser.close()
    await server.end()
  })
})

describe.skipIf(!has('curl'))('info.sh', () => {
  const shell = (key: string) =>
    spawnSync('sh', [join(EXAMPLES, 'info.sh'), 'BTC'], {
      env: { ...process.env, ...env, WEIR_KEY: key },
      encoding: 'utf8',
    })

  it('runs three queries', () => {
    const { status, stdout, stderr } = shell(env.WEIR_KEY!)
    expect([status, stderr]).toEqual([0, ''])
    const [book, own, state] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(book).toMatchObject({ coin: 'BTC', levels: [expect.any(Array), expect.any(Array)] })
    expect(own).toMatchObject({ data: { plan: 'trial' }, error: false })
    expect(state).toMatchObject({ chain: 'hyperliquid', booksKnown: true })
  })

  it('fails with the error for a wrong key', () => {
    const { status, stdout } = shell('cqt_nonsense')
    expect(status).not.toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ code: 'unauthorized' })
  })
})

describe('chain.ts', () => {
  it('prints a token and its latest transfers', async () => {
    const asks = runFile('examples/chain.ts', ['hyperliquid', TOKEN], env)
    expect(await asks.line(() => true)).toMatch(/^block \d+: \d+ DEVD$/)
    await expect.poll(() => asks.process.exitCode).toBe(0)
    for (const line of asks.lines.slice(1)) expect(line).toMatch(/^0x[\dA-Fa-f]{40} to 0x[\dA-Fa-f]{40}: [\d.]+ DEVD$/)
  })

  it('ends for a wrong key', async () => {
    const asks = runFile('examples/chain.ts', ['hyperliquid', TOKEN], { ...env, WEIR_KEY: 'cqt_nonsense' })
    await expect(asks.line(() => true)).rejects.toThrow(/exit 1.*The API key is truncated/s)
  })
})

describe('receive.ts', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const file = () => join(folder, 'rows.sqlite')

  it('stores rows of the documented pipeline once, and rejects other senders', async () => {
    const receiver = runFile('examples/receive.ts', [file(), '0'], { WEBHOOK_SECRET: secret })
    const url = await receiver.line((line) => line.startsWith('http'))
    const service = await world.newKey('1', { kind: 'service' })
    const page = readFileSync(join(EXAMPLES, '../docs/reference/pipelines.md'), 'utf8')
    const [, body] = /-d '(\{\n {2}"name": "transfers of a token"[\s\S]*?\})'$/m.exec(page)!
    const sent = JSON.parse(
      body!.replaceAll(`'"'`, `'`).replace('http://127.0.0.1:9000/', url).replace('whsec_…', secret),
    )
    const answer = await world.call('POST', '/platform/pipeline-api/', service, sent)
    expect([answer.status, sent.destination_config.url]).toEqual([201, url])
    for (let batch = 0; batch < 2; batch++) await receiver.line((line) => /[1-9]\d* of them new$/.test(line))
    const unsigned = { 'webhook-id': 'a', 'webhook-timestamp': `${Date.now() / 1000}`, 'webhook-signature': 'v1,' }
    for (const headers of [undefined, unsigned])
      expect((await fetch(url, { method: 'POST', body: '{"rows":[]}', ...(headers && { headers }) })).status).toBe(401)
    const seconds = Math.floor(Date.now() / 1_000)
    const again = JSON.stringify({ topic: 'evm_logs', from: 3, to: 3, rows: kept().slice(0, 1) })
    const signature = new Webhook(secret).sign('again', new Date(seconds * 1_000), again)
    const headers = { 'webhook-id': 'again', 'webhook-timestamp': `${seconds}`, 'webhook-signature': signature }
    expect((await fetch(url, { method: 'POST', body: again, headers })).status).toBe(204)
    expect(await receiver.line((line) => line.includes('3 to 3'))).toBe('evm_logs 3 to 3: 1 rows, 0 of them new')
    const stale = { ...headers, 'webhook-timestamp': `${seconds - 600}` }
    stale['webhook-signature'] = new Webhook(secret).sign('again', new Date((seconds - 600) * 1_000), again)
    expect((await fetch(url, { method: 'POST', body: again, headers: stale })).status).toBe(401)
    await receiver.end()
    const heights = kept().map(({ _height }) => _height)
    // The tokens of the demo wallet, then a transfer in every third block.
    expect(heights).toEqual(heights.map((_, at) => (at === 0 ? 1 : 3 * at)))
    expect(kept()[0]).toMatchObject({ value: '1000000000000', sender: `0x${'0'.repeat(40)}` })
  })

  function kept(): { readonly _height: number }[] {
    const database = new DatabaseSync(file(), { readOnly: true })
    const rows = database.prepare('SELECT row FROM rows').all() as { row: string }[]
    database.close()
    return rows.map(({ row }) => JSON.parse(row)).sort((a, b) => a._height - b._height)
  }
})

describe('mids.py', () => {
  const file = join(EXAMPLES, 'mids.py')

  it.skipIf(!has('python3'))('compiles, and computes exactly', () => {
    const cached = { ...process.env, PYTHONPYCACHEPREFIX: folder }
    expect(spawnSync('python3', ['-m', 'py_compile', file], { env: cached }).status).toBe(0)
    const book = '{"levels": [[{"px": "0.1"}], [{"px": "0.3"}]]}'
    const script = `import sys; sys.path.insert(0, ${JSON.stringify(EXAMPLES)}); import mids; print(*mids.spread_of(${book}))`
    const { stdout, stderr } = spawnSync('python3', ['-c', script], { env: cached, encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['0.2 0.2\n', ''])
  })

  // What `Info(base_url)` and `l2_snapshot` of version 0.23.0 POST to `<base_url>/info`, with its only header.
  it.each([{ type: 'spotMeta' }, { type: 'meta', dex: '' }, { type: 'l2Book', coin: 'BTC' }])(
    'is answered %j',
    async (body) => {
      const answer = await fetch(`${world.url}/k/${env.WEIR_KEY}/info`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject(
        body.type === 'l2Book' ? { coin: 'BTC' } : { universe: expect.any(Array) },
      )
    },
  )

  it('gets the `code` and `msg` that the SDK reads from errors', async () => {
    const answer = await fetch(`${world.url}/k/${env.WEIR_KEY}/info`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"type":"l2Book"}',
    })
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: 'invalid_request', msg: expect.stringContaining('coin') },
    ])
  })
})

const hasPackage = spawnSync('python3', ['-c', 'import websocket']).status === 0
if (!hasPackage) console.log("fills.py is skipped: Debian's python3-websocket is not installed")
describe.skipIf(!hasPackage)('fills.py', () => {
  const file = join(EXAMPLES, 'fills.py')
  /** What tells a fill of a wallet from all others. */
  const nameOf = (user: string, { time, coin, tid }: UserFill[1]) => `${time} ${user} ${coin} ${tid}`
  const printed = (lines: readonly string[]) =>
    lines.map((line) => {
      const words = line.split(' ')
      return [...words.slice(0, 3), words.at(-1)].join(' ')
    })

  /** The two sides of the pair of wallets that traded most with each other, of fills that came in some seconds. */
  async function partners(): Promise<string[]> {
    const stream = await Socket.open(`${world.ws}/ws?key=${env.WEIR_KEY}`)
    stream.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    const trades = () => {
      const fills = stream.frames.flatMap((frame) => (frame.fills ?? []) as UserFill[])
      return Object.values(Object.groupBy(fills, ([, { tid }]) => tid)).filter((sides) => sides?.length === 2)
    }
    await vi.waitFor(() => expect(trades().length).toBeGreaterThan(40), { timeout: 30_000, interval: 100 })
    stream.close()
    const pairs = Object.groupBy(trades(), (sides) =>
      sides!
        .map(([user]) => user)
        .sort()
        .join(),
    )
    return Object.entries(pairs)
      .sort(([, a], [, b]) => b!.length - a!.length)[0]![0]
      .split(',')
  }

  it('prints every fill of two trading wallets once, through disconnects', async () => {
    const wallets = await partners()
    const proxy = await cutProxy(world.url)
    const bot = runCommand('python3', [file, ...wallets], { ...env, WEIR_URL: proxy.url })
    const cuts: [from: number, to: number][] = []
    const timeOf = (line: string) => Number(line.split(' ')[0])
    try {
      for (let i = 0; i < 2; i++) {
        await bot.line((line) => timeOf(line) > (cuts.at(-1)?.[1] ?? 0))
        proxy.cut()
        const from = Date.now()
        // Long enough for these wallets to trade unseen.
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        cuts.push([from, Date.now()])
        proxy.restore()
      }
      // Beyond the second question after the last cut, which is 10 s after the first.
      await bot.line((line) => timeOf(line) > cuts[1]![1] + 14_000)
    } finally {
      await bot.end('SIGINT')
      proxy.close()
    }
    const names = printed(bot.lines)
    const first = Math.min(...bot.lines.map(timeOf))
    const last = cuts[1]![1] + 10_000
    const asked = wallets.map(async (user) => {
      const answer = await world.info(env.WEIR_KEY!, { type: 'userFillsByTime', user, startTime: first, endTime: last })
      return ((await answer.json()) as UserFill[1][]).map((fill) => nameOf(user, fill))
    })
    const expected = (await Promise.all(asked)).flat()
    expect(names.length).toBe(new Set(names).size)
    expect(expected.filter((name) => !names.includes(name))).toEqual([])
    expect(names.filter((name) => timeOf(name) <= last && !expected.includes(name))).toEqual([])
    for (const [from, to] of cuts)
      expect(names.filter((name) => timeOf(name) > from && timeOf(name) < to).length).toBeGreaterThan(0)
    // Both sides of a trade are there, though they share a tid.
    expect(new Set(names.map((name) => name.split(' ').at(-1))).size).toBeLessThan(names.length)
  })

  it('ends with an error for a wrong key', () => {
    const { status, stderr } = spawnSync('python3', [file, `0x${'1'.repeat(40)}`], {
      env: { ...process.env, ...env, WEIR_KEY: 'cqt_nonsense' },
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([1, 'the gateway rejected the connection: 401\n'])
  })
})
