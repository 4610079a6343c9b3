// Archive and order-level books over the built Workers: devnet's files → feeder → log → Archiver → R2 and D1, and back
// through `/info` and `/ws`. Even with kills in between, every archived book equals the exchange's, and replays equal
// the live data.

import { createHash } from 'node:crypto'
import { cpSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { booksProgram } from '../../src/cli/books.node.ts'
import { createClient } from '../../src/client/create-client.client.ts'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import { STREAM_FOLDER } from '../../src/feeder/streams.ts'
import { slippageOf } from '../../src/order-books/slippage.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { booksOf, rowsIn } from '../cli/books/parquet-books.ts'
import { say } from '../cli/stub.ts'
import { hashOf } from '../kit/book-hash.ts'
import { ADMIN_TOKEN, type Exchange, type GatewayProcess, startExchange, startGateway } from '../kit/gateway.ts'
import { type NodeBlock, nodeBlocks } from '../kit/node-blocks.ts'
import { OrderBookReplica, type OrdersFrame } from '../kit/order-book-replica.ts'
import { lastingPort, run, runFile, scratch } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'
import { PYTHON, runPython } from './package/python.ts'

const COIN = 'BTC'
/** Watched so long before the kill and behind it, at least. */
const BEFORE_MS = 20_000
const BEHIND_MS = 20_000
const BOOKS_EVERY_MS = 500

interface Truth {
  readonly height: number
  readonly books: Readonly<Record<string, string>>
}
interface Trade {
  readonly tid: number
  readonly time: number
}
interface Frame extends Record<string, unknown> {
  readonly channel: string
  readonly data: unknown
}

const truths: Truth[] = []
/** Index of a truth that was taken long enough behind the kill. */
let least = Number.POSITIVE_INFINITY
/** As live told them, each once. */
const trades = new Map<number, string>()
let exchange: Exchange<GatewayProcess>
let gateway: GatewayProcess
let key: string
let live: Socket<Frame>

interface Status {
  readonly archive: {
    readonly height: number | null
    readonly checkpoint: object | null
    readonly failure: object | null
  }
}
const status = () => gateway.status<Status>()
const open = () => Socket.open<Frame>(`${gateway.ws}/ws?key=${key}`)
const take = (frame: Frame) => {
  if (frame.channel !== 'trades') return
  for (const trade of frame.data as Trade[]) trades.set(trade.tid, JSON.stringify(trade))
}

async function follow(): Promise<void> {
  live = await open()
  live.onFrame = take
  await live.subscribe({ type: 'trades', coin: COIN })
}

/** Takes the books of the exchange until that is enough. */
async function watch(isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    truths.push((await (await fetch(`${exchange.node}/books`)).json()) as Truth)
    await sleep(BOOKS_EVERY_MS)
  }
}

let watching: Promise<void>
let isWatched = false
beforeAll(async () => {
  exchange = await startExchange({
    gateway: (node, folder) => startGateway(join(folder, 'gateway'), lastingPort(), node),
  })
  gateway = exchange.gateway
  key = exchange.key
  await follow()
  watching = watch(() => isWatched)
  // An error is thrown where it is waited for.
  watching.catch(() => undefined)
})
afterAll(async () => {
  isWatched = true
  await watching?.catch(() => undefined)
  await exchange?.stop()
})

/** Book of a coin after a block, or the error text. */
async function bookAt(coin: string, height: number): Promise<{ levels: Levels; height: number } | string> {
  const answer = await gateway.info(key, { type: 'l2BookDiffSnapshot', coin, block_height: height })
  return answer.ok ? ((await answer.json()) as { levels: Levels; height: number }) : answer.text()
}

// Order-level books: what a client has made of its Snapshot and the blocks behind it is, order by order, the exchange's own
// book of that height, and the Snapshot that another one gets.

const L4_COINS = [COIN, '@1']
const REMEMBERED = 2000

/** Holds each frame against the rule of its height, and what came of it for some heights. */
class Follower {
  readonly socket: Socket
  readonly levels = new Map<number, string>()
  /** Height of each Snapshot, and how many blocks with rows there were. */
  readonly snapshots: number[] = []
  readonly wrong: string[] = []
  updates = 0
  readonly #orders = new OrderBookReplica()

  private constructor(socket: Socket) {
    this.socket = socket
    socket.onFrame = ({ channel, data }) => {
      if (channel === 'l4Book') this.#take(data as OrdersFrame)
      if (channel === 'error') this.wrong.push(String(data))
    }
  }

  static async begin(url: string, key: string, coin: string): Promise<Follower> {
    const follower = new Follower(await Socket.open(`${url.replace('http', 'ws')}/ws?key=${key}`))
    await follower.socket.subscribe({ type: 'l4Book', coin })
    return follower
  }

  #take(data: OrdersFrame): void {
    const { Snapshot, Updates } = data
    if (Updates && Updates.block_height <= this.#orders.height)
      this.wrong.push(`${Updates.block_height} at ${this.#orders.height}`)
    const why = this.#orders.take(data)
    const { height } = this.#orders
    if (why !== null) this.wrong.push(`${height}: ${why}`)
    if (Snapshot) this.snapshots.push(height)
    if (Updates) this.updates++
    this.levels.set(height, this.#orders.text())
    if (this.levels.size > REMEMBERED) this.levels.delete(this.levels.keys().next().value!)
  }

  /** The book at a height, which may be of an earlier block. */
  at(height: number): string | undefined {
    const last = [...this.levels.keys()].findLast((one) => one <= height)
    return last === undefined || this.#orders.height < height ? undefined : this.levels.get(last)
  }
}

/** The exchange's own orders of a coin. */
async function exchangeBook(coin: string): Promise<{ height: number; levels: unknown }> {
  const outPath = join(exchange.folder, 'orders.json')
  const request = { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false }
  const body = JSON.stringify({ type: 'fileSnapshot', request, outPath, includeHeightInOutput: true })
  const answer = await fetch(`${exchange.node}/info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBe(200)
  type Side = [user: string, order: Record<string, unknown>][]
  const [height, coins] = JSON.parse(readFileSync(outPath, 'utf8')) as [number, [string, [Side, Side]][]]
  const sides = coins.find(([name]) => name === coin)![1]
  const shown = ([user, { children: _, origSz: __, ...order }]: Side[number]) => ({ user, ...order })
  return { height, levels: sides.map((side) => side.map(shown)) }
}

/** Somebody who comes now is sent what the follower has made of the blocks. */
async function agrees(follower: Follower, coin: string): Promise<void> {
  const before = follower.updates
  await expect.poll(() => follower.updates, { timeout: 30_000 }).toBeGreaterThan(before + 20)
  const own = await exchangeBook(coin)
  await expect.poll(() => follower.at(own.height), { timeout: 30_000 }).toBeDefined()
  expect(JSON.parse(follower.at(own.height)!)).toEqual(own.levels)
  const second = await Follower.begin(gateway.url, key, coin)
  await expect.poll(() => second.snapshots.length, { timeout: 30_000 }).toBe(1)
  const [height] = second.snapshots
  await expect.poll(() => follower.at(height!), { timeout: 30_000 }).toBeDefined()
  expect(follower.at(height!)).toBe(second.at(height!))
  expect(second.at(height!)!.length).toBeGreaterThan(1000)
  await expect.poll(() => second.updates, { timeout: 30_000 }).toBeGreaterThan(5)
  expect([...second.wrong, ...follower.wrong]).toEqual([])
  second.socket.close()
}

// WS-150, WS-151, WS-152
it.each(L4_COINS)('%s: a Snapshot plus the following blocks equals the next Snapshot', async (coin) => {
  const follower = await Follower.begin(gateway.url, key, coin)
  await expect.poll(() => follower.snapshots.length, { timeout: 60_000 }).toBe(1)
  await agrees(follower, coin)
  expect(follower.snapshots).toHaveLength(1)
  follower.socket.close()
})

// WS-153
it('a killed gateway continues with a new Snapshot', async () => {
  const before = await Follower.begin(gateway.url, key, COIN)
  await expect.poll(() => before.snapshots.length, { timeout: 60_000 }).toBe(1)
  await expect.poll(() => truths.length * BOOKS_EVERY_MS, { timeout: 60_000 }).toBeGreaterThanOrEqual(BEFORE_MS)
  process.kill(gateway.workerd()!, 'SIGKILL')
  await Promise.all([before.socket.ended(), live.ended()])
  const firstAfter = truths.length
  await vi.waitFor(follow, { timeout: 60_000, interval: 200 })
  const connect = () => Follower.begin(gateway.url, key, COIN).catch(() => null)
  let after: Follower | null = null
  await expect.poll(async () => (after ??= await connect()), { timeout: 60_000, interval: 200 }).not.toBeNull()
  await expect.poll(() => after!.snapshots.length, { timeout: 60_000 }).toBe(1)
  await agrees(after!, COIN)
  after!.socket.close()
  least = firstAfter + BEHIND_MS / BOOKS_EVERY_MS
})

describe('the archive, before and behind the kill', () => {
  beforeAll(async () => {
    let archived = -1
    const isThere = async () => {
      archived = (await status()).archive.height ?? -1
      expect(truths[least]?.height ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(archived)
    }
    await vi.waitFor(isThere, { timeout: 200_000, interval: BOOKS_EVERY_MS })
    isWatched = true
    await watching
    truths.splice(truths.findIndex(({ height }) => height > archived))
  }, 300_000)

  it('archived books equal the exchange’s, before and after a kill', async () => {
    const wrong: string[] = []
    let looked = 0
    for (const [at, { height, books }] of truths.entries()) {
      const names = Object.keys(books)
      for (const coin of new Set([COIN, names[at % names.length]!])) {
        const book = await bookAt(coin, height)
        looked++
        if (typeof book === 'string') wrong.push(`${coin} at ${height}: ${book}`)
        else if (book.height !== height || hashOf(book.levels) !== books[coin])
          wrong.push(`${coin} at ${height} differs`)
      }
    }
    // Heights before the first checkpoint are rejected.
    const before = wrong.filter((one) => one.includes('the archive starts later'))
    expect(wrong.filter((one) => !before.includes(one))).toEqual([])
    expect(before.length).toBeLessThan(looked / 4)
    expect(looked).toBeGreaterThan(100)
  }, 120_000)

  it('x_slippage computes from the archived book of a height', async () => {
    const { height } = truths.at(-20)!
    const book = await bookAt(COIN, height)
    if (typeof book === 'string') throw new Error(book)
    for (const [side, sz] of [['B', '0.5'] as const, ['A', '1000000000'] as const]) {
      const reply = await gateway.info(key, { type: 'x_slippage', coin: COIN, side, sz, height })
      expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([200, '10'])
      expect(await reply.json()).toMatchObject({ height, side, ...slippageOf(book.levels, side, sz) })
    }
    const live = await gateway.info(key, { type: 'x_slippage', coin: COIN, side: 'B', sz: '0.5' })
    expect([live.status, live.headers.get('x-credits-cost')]).toEqual([200, '1'])
    expect(await live.json()).toMatchObject({ coin: COIN, unfilledSz: '0.0', slippageBps: expect.any(String) })
  }, 60_000)

  interface NodeFill {
    readonly coin: string
    readonly side: 'B' | 'A'
    readonly sz: string
    readonly startPosition: string
  }
  type NodeFillOfUser = readonly [user: string, NodeFill]
  /** A position as it is told. */
  interface NodePosition {
    readonly user: string
    readonly coin: string
    readonly szi: string
    readonly lastHeight: number
  }
  const isPerp = (coin: string) => !/^[@#]|\//.test(coin)
  /** The last fill per wallet and coin, up to a height. `only`: the coin, or all. */
  function lastFills(blocks: readonly NodeBlock<NodeFillOfUser>[], from: number, upTo: number, only?: string) {
    const last = new Map<string, { user: string; coin: string; szi: string; lastHeight: number }>()
    for (const { height, events } of blocks)
      for (const [user, { coin, side, sz, startPosition }] of height >= from && height <= upTo ? events : []) {
        if (only !== undefined && coin !== only) continue
        const change = toScaled(sz) * (side === 'B' ? 1n : -1n)
        const szi = fromScaled(toScaled(startPosition) + change)
        if (isPerp(coin)) last.set(`${user} ${coin}`, { user, coin, szi, lastHeight: height })
      }
    return [...last.values()].filter(({ szi }) => szi !== '0.0')
  }
  const byUser = (rows: readonly { user: string; szi: string; lastHeight: number }[]) =>
    rows.map(({ user, szi, lastHeight }) => [user, szi, lastHeight]).sort()

  it('positions of a coin equal those of the node’s files at 200 heights', async () => {
    const blocks = nodeBlocks<NodeFillOfUser>(join(exchange.folder, 'node'), 'fills')
    const newest = await gateway.info(key, { type: 'positionsByCoin', coin: COIN })
    expect([newest.status, newest.headers.get('x-credits-cost')]).toEqual([200, '10'])
    const from = Number(newest.headers.get('x-history-from-height'))
    const to = Math.min(Number(newest.headers.get('x-block-height')), blocks.at(-2)!.height)
    const coins = [...new Set(blocks.flatMap(({ events }) => events.map(([, { coin }]) => coin)))].filter(isPerp)
    let rows = 0
    for (let n = 0; n < 200; n++) {
      const height = from + Math.floor((to - from) * ((n * 0.618_034) % 1))
      const coin = coins[n % coins.length]!
      const reply = await gateway.info(key, { type: 'positionsByCoin', coin, height, limit: 500 })
      const { positions } = (await reply.json()) as { positions: NodePosition[] }
      const sizes = positions.map(({ szi }) => Math.abs(Number(szi)))
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
      const expected = lastFills(blocks, from, height, coin)
      expect([coin, height, byUser(positions)]).toEqual([coin, height, byUser(expected)])
      rows += positions.length
    }
    console.log(`${rows} positions of ${coins.length} coins from ${from} to ${to}`)
    expect(rows).toBeGreaterThan(200)
  }, 120_000)

  it('positions of wallets equal their accounts at the exchange', async () => {
    const nodeFills = () => nodeBlocks<NodeFillOfUser>(join(exchange.folder, 'node'), 'fills')
    const users = [...new Set(nodeFills().flatMap(({ events }) => events.map(([user]) => user)))].slice(0, 25)
    const states = await Promise.all(
      users.map(async (user) => {
        const reply = await gateway.info(key, { type: 'clearinghouseState', user })
        return (await reply.json()) as { time: number; assetPositions: { position: { coin: string; szi: string } }[] }
      }),
    )
    // Until a later block is written, an earlier one may follow.
    const lastMs = Math.max(...states.map(({ time }) => time))
    await vi.waitFor(() => expect(nodeFills().at(-1)!.timeMs).toBeGreaterThan(lastMs), {
      timeout: 20_000,
      interval: 500,
    })
    const blocks = nodeFills()
    let compared = 0
    for (const [at, user] of users.entries()) {
      const state = states[at]!
      const ofUser = blocks.map(({ events, ...block }) => {
        return { ...block, events: events.filter(([owner]) => owner === user) }
      })
      const { height } = blocks.findLast(({ timeMs }) => timeMs <= state.time)!
      const positionsThen = async () => {
        const reply = await gateway.info(key, { type: 'positionsByUser', user, height })
        expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([200, '1'])
        const { positions } = (await reply.json()) as { positions: NodePosition[] }
        const from = Number(reply.headers.get('x-history-from-height'))
        // Before its first block, the archive knows no fill.
        const known = lastFills(ofUser, from, height)
        return { positions, known: new Set(known.map(({ coin }) => coin)) }
      }
      const { positions, known } = await vi.waitFor(positionsThen, { timeout: 20_000, interval: 200 })
      const own = positions.filter(({ coin }) => !coin.includes(':')).map(({ coin, szi }) => [coin, szi])
      const listed = state.assetPositions.filter(({ position }) => known.has(position.coin))
      const theirs = listed.map(({ position: { coin, szi } }) => [coin, szi])
      expect([user, own]).toEqual([user, theirs.sort()])
      compared += theirs.length
    }
    console.log(`${compared} positions of ${users.length} wallets`)
    expect(compared).toBeGreaterThan(10)
  }, 120_000)

  it('a replay equals the live data and ends', async () => {
    const first = truths.at(-40)!.height
    const last = truths.at(-5)!.height
    const socket = await open()
    const played = new Map<number, string>()
    const times: number[] = []
    socket.onFrame = (frame) => {
      if (frame.channel !== 'trades') return
      for (const trade of frame.data as Trade[]) {
        played.set(trade.tid, JSON.stringify(trade))
        times.push(trade.time)
      }
    }
    const subscription = { type: 'trades', coin: COIN }
    socket.send({ method: 'subscribe', subscription, replay: { fromBlock: first, toBlock: last, speed: 'max' } })
    await socket.next(({ data }) => (data as { event?: string } | null)?.event === 'ended', 60_000)
    expect(played.size).toBeGreaterThan(10)
    for (const [tid, trade] of played) expect(trades.get(tid) ?? trade).toBe(trade)
    // All live data of these blocks was replayed.
    const told = [...trades].filter(([, text]) => {
      const { time } = JSON.parse(text) as Trade
      return time > times[0]! && time < times.at(-1)!
    })
    expect(told.length).toBeGreaterThan(5)
    expect(told.filter(([tid]) => !played.has(tid))).toEqual([])
    socket.close()
  }, 120_000)

  /** Fills of one wallet in three blocks. The second has more than a page. */
  const DENSE = [1_250, 2_500, 1_250]
  const OWNER = `0x${'d5'.repeat(20)}`

  /** Copies the fills of the node, and adds those of the owner to the last blocks below a height. */
  function withDenseBlocks(below: number): string {
    const folder = join(exchange.folder, 'dense')
    cpSync(join(exchange.folder, 'node', STREAM_FOLDER.fills), join(folder, STREAM_FOLDER.fills), { recursive: true })
    const files = globSync(`${STREAM_FOLDER.fills}/hourly/*/*`, { cwd: folder }).map((name) => join(folder, name))
    const older = nodeBlocks<[string, object]>(folder, 'fills').filter(({ height }) => height < below)
    const template = older.flatMap(({ events }) => events)[0]![1]
    const chosen = older.slice(-DENSE.length).map(({ height }) => height)
    for (const file of files) {
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter((text) => text.endsWith(']}'))
      const edited = lines.map((text) => {
        const { events, ...block } = JSON.parse(text)
        const at = chosen.indexOf(block.block_number)
        const time = Date.parse(`${block.block_time.slice(0, 23)}Z`)
        const more = Array.from({ length: DENSE[at] ?? 0 }, (_, i) => [
          OWNER,
          { ...template, coin: '@1', time, oid: at * 10_000 + i, tid: at * 10_000 + i },
        ])
        return JSON.stringify({ ...block, events: [...events, ...more] })
      })
      writeFileSync(file, `${edited.join('\n')}\n`)
    }
    return folder
  }

  /** The archived times, as ISO 8601. A replay up to the very last block would wait for the next one. */
  async function coveredTimes(own: string): Promise<[from: string, to: string]> {
    const headers = { authorization: `Bearer ${own}` }
    const covered = await fetch(`${gateway.url}/v1/hyperliquid/history/coverage`, { headers })
    const { data } = (await covered.json()) as { data: Record<'from' | 'to', { time_ms: number }> }
    return [new Date(data.from.time_ms).toISOString(), new Date(data.to.time_ms - 1_000).toISOString()]
  }

  it('exported books equal the exchange’s at the height of each', async () => {
    const own = await gateway.newKey('1000')
    const [from, to] = await coveredTimes(own)
    const folder = scratch()
    const line = `--for parquet --coin ${COIN} --from ${from} --to ${to} --out ${folder.path} --yes`
    const said = await say(booksProgram, line, { WEIR_URL: gateway.url, WEIR_KEY: own })
    expect(said.failed, said.notes.join()).toBe(false)
    const books = new Map<number, Levels>()
    for (const name of readdirSync(join(folder.path, COIN)))
      for (const { last, levels } of booksOf(await rowsIn(join(folder.path, COIN, name))))
        books.set(Number(last.height), levels)
    folder.remove()
    const seen = truths.filter(({ height }) => books.has(height))
    expect(seen.length).toBeGreaterThan(20)
    expect(seen.filter(({ height, books: truth }) => hashOf(books.get(height)!) !== truth[COIN])).toEqual([])
  }, 120_000)

  it('examples/backtest.ts replays the archive, fills orders, and repeats its numbers', async () => {
    const own = await gateway.newKey('1000')
    const env = { WEIR_URL: gateway.url, WEIR_KEY: own }
    const times = await coveredTimes(own)
    const play = async () => {
      const program = runFile('examples/backtest.ts', [COIN, ...times, '--spread', '2'], env)
      await program.line((line) => line.startsWith('cost: '))
      await expect.poll(() => program.process.exitCode).toBe(0)
      return program.lines
    }
    const lines = await play()
    expect(lines).toEqual([
      expect.stringMatching(/^market: [1-9]\d* trades, \d+ gaps$/),
      expect.stringMatching(/^orders: [1-9]\d*, \d+ filled, \d+ rejected as taker orders$/),
      expect.stringMatching(/^fills: [1-9]\d*, volume [\d.]+ dollars, fees [\d.]+ dollars$/),
      expect.stringMatching(/^profit after fees: -?[\d.]+ dollars/),
      expect.stringMatching(/^position: -?[\d.]+ BTC, at most [\d.]+$/),
      expect.stringMatching(/^largest drawdown: [\d.]+ dollars$/),
      expect.stringMatching(/^per minute: /),
      expect.stringMatching(/^quality: median wait \d+ ms, /),
      expect.stringMatching(/^cost: [\d.]+ credits/),
    ])
    expect(await play()).toEqual(lines)
  }, 120_000)

  it('older blocks of the node are imported below the archive, once', async () => {
    interface State {
      readonly from: { readonly height: number }
      readonly gaps: readonly object[]
    }
    const state = () => gateway.ask<State>('GET', '/history/backfill')
    const backfill = async () => {
      const line = ['--from', '0', '--url', gateway.url, dense]
      return run('backfill', line, { ADMIN_TOKEN }).line(() => true, 60_000)
    }
    const { from: before } = await state()
    const dense = withDenseBlocks(before.height)
    expect(await backfill()).toMatch(/\d+ new blocks in \d+ segments/)
    const { from, gaps } = await state()
    expect(from.height).toBeLessThan(before.height)
    expect(gaps).toEqual([])
    expect(await backfill()).toMatch(/already has every block/)
  }, 120_000)

  it('a list by row has every fill of a dense block once, over HTTP and in both clients', async () => {
    type Row = { readonly tid: number }
    const tids = DENSE.flatMap((count, at) => Array.from({ length: count }, (_, i) => at * 10_000 + i))
    const request = { user: OWNER, startTime: 0 }
    const page = (cursor: string, more = {}) =>
      gateway.info(key, { type: 'userFillsByTime', ...request, ...more, cursor })
    // The imported blocks come into files some time later.
    await vi.waitFor(async () => expect(await (await page('')).json()).toHaveLength(2_000), {
      timeout: 100_000,
      interval: 500,
    })
    for (const reversed of [false, true]) {
      const rows: Row[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await page(cursor, { reversed })
        rows.push(...((await answer.json()) as Row[]))
        cursor = answer.headers.get('x-next-cursor')
      }
      expect(rows.map(({ tid }) => tid)).toEqual(reversed ? tids.toReversed() : tids)
    }
    const rows: Row[] = []
    const client = createClient({ url: gateway.url, key })
    for await (const { data } of client.history('userFillsByTime', request)) rows.push(...(data as readonly Row[]))
    expect(rows.map(({ tid }) => tid)).toEqual(tids)
    client.close()
    const socket = await open()
    const payload = { type: 'userFillsByTime', ...request, cursor: '' }
    socket.send({ method: 'post', id: 1, request: { type: 'info', payload } })
    const { data } = await socket.next(({ channel }) => channel === 'post')
    expect(data).toMatchObject({ response: { payload: { nextCursor: (await page('')).headers.get('x-next-cursor') } } })
    socket.close()
    if (PYTHON === undefined) return
    const file = join(import.meta.dirname, '../client/row-pages.py')
    const pages = JSON.parse(
      await runPython([file, gateway.url, key, 'userFillsByTime', JSON.stringify(request)]),
    ) as Row[][]
    expect(pages.flat().map(({ tid }) => tid)).toEqual(tids)
  }, 150_000)

  it('a future height or one before the archive is rejected with a reason, free of charge', async () => {
    expect(await bookAt(COIN, truths.at(-1)!.height + 1_000_000)).toMatch(/block_height/)
    expect(await bookAt(COIN, 0)).toMatch(/block_height/)
    expect((await status()).archive).toMatchObject({ checkpoint: expect.any(Object) })
  }, 60_000)

  it('is exported at the estimated price, with checksums and the covered heights', async () => {
    const root = `${gateway.url}/v1/hyperliquid/history`
    const ask = (path: string, headers = { authorization: `Bearer ${key}` }) => fetch(`${root}/${path}`, { headers })
    const dataOf = async <Data>(answer: Response) => ((await answer.json()) as { data: Data }).data
    interface File {
      readonly link: string
      readonly sha256: string
      readonly from_height: number
      readonly to_height: number
    }
    const { from } = await dataOf<{ from: { height: number; time_ms: number } }>(await ask('coverage'))
    const range = `from=${from.time_ms}&to=${from.time_ms + 59_999}&products=events`
    const basic = { authorization: `Basic ${btoa(`${key}:`)}` }
    const told = await dataOf<{ credits: string; objects: number }>(await ask(`cost?${range}`, basic))
    const listed = await ask(`files?${range}`)
    expect(listed.headers.get('x-credits-cost')).toBe(told.credits)
    const { files } = await dataOf<{ files: File[] }>(listed)
    expect([files.length, files[0]?.from_height]).toEqual([told.objects, from.height])
    for (const { link, sha256, from_height: first, to_height: last } of files) {
      const body = Buffer.from(await (await fetch(gateway.url + link)).arrayBuffer())
      expect(createHash('sha256').update(body).digest('hex')).toBe(sha256)
      const heights = gunzipSync(body)
        .toString()
        .split('\n')
        .map((line) => (JSON.parse(line) as Truth).height)
      expect(heights).toEqual(Array.from({ length: last - first + 1 }, (_, at) => first + at))
      const part = await fetch(gateway.url + link, { headers: { range: 'bytes=2-5' } })
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, body.subarray(2, 6)])
      expect((await fetch(gateway.url + link.replace('sig=', 'sig=_').slice(0, -1))).status).toBe(403)
    }
  }, 60_000)
})
