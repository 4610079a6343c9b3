// The whole path: devnet's files → feeder → log → hubs → relay → clients, compared with devnet's books at every block.
// WEIR_SOAK_SECONDS sets the duration.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import type { Fill, Levels } from '../../src/protocol/feed/block.ts'
import { hashOf } from '../kit/book-hash.ts'
import { BookReplicas } from '../kit/book-replicas.ts'
import { type Exchange, startExchange, startWorld, type World } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { nodeBlocks } from '../kit/node-blocks.ts'
import { Socket } from '../kit/socket.ts'
import { plainTrades, type SeenFill, whole, wire } from './plain-trades.ts'

const SECONDS = Number(process.env.WEIR_SOAK_SECONDS ?? 12)
const SETTLE_BLOCKS = 60

let exchange: Exchange
let world: World
let key: string
/** Hears of every fill from the log's first block on. */
let stream: Socket
let folder: string

beforeAll(async () => {
  exchange = await startExchange({
    args: (folder) => ['--oracle', join(folder, 'oracle'), '--funding-blocks', '50'],
    gateway: async (node) => {
      world = await startWorld({ node })
      key = await world.newKey('100000')
      stream = await Socket.open(`${world.ws}/ws?key=${key}`)
      stream.send({ method: 'ping' })
      stream.send({ method: 'subscribe', subscription: { type: 'allFills' }, meta: true })
      const readers = async () => (await world.status<{ readers: unknown[] }>()).readers
      await vi.waitFor(async () => expect(await readers()).not.toEqual([]), { timeout: 30_000, interval: 100 })
      return world
    },
  })
  folder = exchange.folder
})
afterAll(async () => {
  stream?.close()
  await exchange?.stop()
})

/** `coin@height` → hash, as a client saw it. */
class Seen {
  readonly hashes = new Map<string, string>()
  readonly first = new Map<string, number>()
  readonly gaps: string[] = []
  note(coin: string, height: number, levels: Levels): void {
    if (!this.first.has(coin)) this.first.set(coin, height)
    this.hashes.set(`${coin}@${height}`, hashOf(levels))
  }
}

/** What devnet wrote of its own books: height → coin → hash, for the coins changed at that height. */
function oracle(): Map<number, Record<string, string>> {
  const lines = globSync('oracle/**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n'))
  // The last line may be half written.
  const whole = lines.filter((line) => line.startsWith('{') && line.endsWith('}}'))
  return new Map(
    whole
      .map((line) => JSON.parse(line) as { height: number; books: Record<string, string> })
      .map(({ height, books }) => [height, books]),
  )
}

// Tests that collect what comes for a while run in parallel.
describe.concurrent('clients of the whole path', () => {
  it(
    `have the exchange's books at every block, for ${SECONDS} s`,
    async () => {
      const BUILDER_COINS = ['xyz:GOLD', 'xyz:TSLA', 'flx:OIL', 'flx:NVDA']
      const coinsOf = async () => {
        const mids = await world.info(key, { type: 'allMids' })
        return mids.ok ? [...new Set([...Object.keys((await mids.json()) as object), ...BUILDER_COINS])] : []
      }
      // The exchange's books fill over its first blocks: all markets must have begun.
      const wait = { timeout: 30_000, interval: 200 }
      await vi.waitFor(async () => expect(await coinsOf()).toHaveLength(20), wait)
      for (const coin of BUILDER_COINS) {
        const textOf = async () => (await world.info(key, { type: 'l2BookDiffSnapshot', coin })).text()
        await vi.waitFor(async () => expect(await textOf()).toContain('levels'), wait)
      }
      const coins = await coinsOf()
      const runtime = nodeRuntime()
      const connect = () => new Connection(runtime, { endpoint: () => ({ url: world.url, key }) })
      const byDiff = connect()
      const bySeed = connect()
      const diff = new Seen()
      const seeded = new Seen()
      const books = new DiffBooks(
        byDiff,
        runtime,
        { coin: coins.slice(0, 20) },
        {
          changed: (book) => diff.note(book.coin, book.seq, book.levels()),
          gap: (coin, reason) => diff.first.has(coin) && diff.gaps.push(`${coin}: ${reason}`),
        },
      )
      new BookReplicas(
        bySeed,
        { marketTypes: ['*'] },
        {
          changed: (book) => seeded.note(book.coin, book.height, book.levels()),
          gap: (coin, reason) => seeded.first.size > 0 && seeded.gaps.push(`${coin}: ${reason}`),
        },
      )
      byDiff.start()
      bySeed.start()
      await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000))
      const last = Math.max(...[...diff.hashes.keys()].map((at) => Number(at.split('@')[1])))
      const checks = [...books.coins()].reduce((sum, coin) => sum + books.get(coin)!.checks, 0)
      console.log(`${checks} checksums of ${[...books.coins()].length} coins were right`)
      expect([checks > 300, books.step()]).toEqual([true, 'in step'])
      // Closing is told as a gap too: what counts is what happened before.
      const gaps = [...diff.gaps, ...seeded.gaps]
      byDiff.close()
      bySeed.close()

      expect(gaps).toEqual([])
      const truth = oracle()
      for (const [name, seen, scope] of [
        ['l2BookDiff2', diff, coins.slice(0, 20)],
        ['l2BookDiff', seeded, coins],
      ] as const) {
        let compared = 0
        const wrong: string[] = []
        for (const coin of scope) {
          const from = seen.first.get(coin)
          expect(from, `${name} ${coin}`).toBeDefined()
          // Orders that come and go within one block change no level: nothing is sent, and the book stands.
          let held = seen.hashes.get(`${coin}@${from}`)
          for (let height = from! + 1; height <= last - 1; height++) {
            held = seen.hashes.get(`${coin}@${height}`) ?? held
            const real = truth.get(height)?.[coin]
            if (real === undefined) continue
            compared++
            if (held !== real) wrong.push(`${name} ${coin}@${height}`)
          }
        }
        console.log(
          `${name}: ${compared} books of ${scope.length} coins compared over ${last} blocks, ${wrong.length} wrong`,
        )
        expect(wrong.slice(0, 5)).toEqual([])
        expect(compared).toBeGreaterThan(SETTLE_BLOCKS)
      }
    },
    (SECONDS + 100) * 1000,
  )
})

// Books of `l2BookDiff2` with checksums, kept from the words of the document alone: nothing of the product is in here.
type RawLevel = { px: string; sz: string; n: number }
type RawLevels = [RawLevel[], RawLevel[]]
interface RawSnapshot {
  readonly epoch: string
  readonly height: number
  readonly seq: number
  readonly levels: RawLevels
}
interface RawBatch {
  readonly epoch: string
  readonly block_height: number
  readonly book_diffs: readonly {
    readonly coin: string
    readonly seq: number
    readonly prev_seq: number
    readonly levels: RawLevels
    readonly checksum?: number
  }[]
}

/** What became of the entries above each coin's snapshot: how many had the right checksum, and what was wrong. */
function checkBooks(snapshots: ReadonlyMap<string, RawSnapshot>, batches: readonly RawBatch[]) {
  const found = { right: 0, wrong: [] as string[] }
  for (const [coin, { epoch, height, levels, ...snapshot }] of snapshots) {
    let { seq } = snapshot
    const sides = levels.map((side) => new Map(side.map((level) => [level.px, level])))
    for (const batch of batches) {
      const entry = batch.book_diffs.find((one) => one.coin === coin)
      if (!entry || batch.block_height <= height) continue
      if (batch.epoch !== epoch || entry.prev_seq !== seq) found.wrong.push(`${coin} does not follow at ${entry.seq}`)
      seq = entry.seq
      for (const [at, changed] of entry.levels.entries())
        for (const level of changed) {
          if (level.n === 0) sides[at]!.delete(level.px)
          else sides[at]!.set(level.px, level)
        }
      if (checksumOf(sides) === entry.checksum) found.right++
      else found.wrong.push(`${coin} at ${seq}: ${entry.checksum}`)
    }
  }
  return found
}

function checksumOf([bids, asks]: readonly Map<string, RawLevel>[]): number {
  const best = (side: Map<string, RawLevel>, sign: number) =>
    [...side.values()].sort((a, b) => sign * (Number(a.px) - Number(b.px))).slice(0, 10)
  const text = (side: RawLevel[]) => side.map(({ px, sz, n }) => `${px}:${sz}:${n}`).join(':')
  return crc32(`${text(best(bids!, -1))}/${text(best(asks!, 1))}`)
}

// WS-146, WS-147
it.concurrent.each([{ coin: ['BTC', 'ETH', 'xyz:GOLD'] }, { marketTypes: ['*'] }])(
  'checksums of %j are those of books that were kept by the document alone',
  async (scope) => {
    const coins = ['BTC', 'ETH', 'xyz:GOLD']
    const socket = await Socket.open<Record<string, unknown> & { data: { readonly Updates: RawBatch } }>(
      `${world.ws}/ws?key=${key}`,
    )
    await socket.subscribe({ type: 'l2BookDiff2', ...scope, checksum: true })
    const snapshots = new Map<string, RawSnapshot>()
    for (const coin of coins) {
      const answer = await world.info(key, { type: 'l2BookDiffSnapshot', coin })
      snapshots.set(coin, (await answer.json()) as RawSnapshot)
    }
    const batches = () =>
      socket.frames.filter(({ channel }) => channel === 'l2BookDiff2').map(({ data }) => data.Updates)
    await vi.waitFor(() => expect(checkBooks(snapshots, batches()).right).toBeGreaterThan(150), {
      timeout: 30_000,
      interval: 500,
    })
    socket.close()
    const { right, wrong } = checkBooks(snapshots, batches())
    console.log(`${right} checksums of ${coins.length} coins were right`)
    expect(wrong).toEqual([])
  },
  60_000,
)

interface FillsFrame {
  readonly channel: string
  readonly fills: readonly [string, Fill][]
  readonly block_height: number
  readonly time: number
}

interface FundingEvent {
  readonly inner: {
    readonly Funding?: { deltas: { readonly user: string; readonly coin: string; readonly funding_amount: string }[] }
  }
}

/** Funding that the node's files tell of: `user coin@height` to what was received. */
function fundingOfNode(): Map<string, bigint> {
  const received = new Map<string, bigint>()
  for (const { height, events } of nodeBlocks<FundingEvent>(join(folder, 'node'), 'misc'))
    for (const { user, coin, funding_amount: amount } of events.flatMap(({ inner }) => inner.Funding?.deltas ?? []))
      received.set(`${user} ${coin}@${height}`, whole(amount))
  return received
}

interface NodeStatus {
  readonly time: string
  readonly user: string
  readonly status: string
  readonly order: { readonly cloid: string | null; readonly reduceOnly: boolean } & Readonly<Record<string, unknown>>
}

/** Order statuses in the node's files from a height to another, as clients are to see them. */
function orderUpdatesOf(users: readonly string[], from: number, to: number): object[] {
  return nodeBlocks<NodeStatus>(join(folder, 'node'), 'statuses')
    .filter(({ height }) => height >= from && height <= to)
    .flatMap(({ events }) => events.filter(({ user }) => users.includes(user)))
    .map(({ time, user, status, order }) => {
      const { coin, side, limitPx, sz, oid, timestamp, origSz, cloid, reduceOnly } = order
      const shown = { coin, side, limitPx, sz, oid, timestamp, origSz, ...(cloid && { cloid }) }
      const statusTimestamp = Date.parse(`${time.slice(0, 23)}Z`)
      return { user, order: { ...shown, ...(reduceOnly && { reduceOnly }) }, status, statusTimestamp }
    })
}

interface OrdersFrame {
  readonly channel: string
  readonly updates: readonly ({ readonly user: string; readonly status: string } & Readonly<Record<string, unknown>>)[]
  readonly data?: readonly object[]
  readonly block_height: number
}

describe.concurrent('order updates', () => {
  // WS-120, WS-121
  it('of two traders equal the node’s files, row by row, from the first frame on', async () => {
    const busiest = () => {
      const fills = (stream.frames as unknown as FillsFrame[]).flatMap((frame) => frame.fills ?? [])
      const traders = [...Map.groupBy(fills, ([user]) => user)].filter(([, own]) => own.length > 10)
      return traders.sort(([, a], [, b]) => b.length - a.length).slice(0, 2)
    }
    await vi.waitFor(() => expect(busiest()).toHaveLength(2), { timeout: 60_000, interval: 200 })
    const users = busiest().map(([user]) => user)
    const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
    const of = { both: { type: 'orderUpdates', addresses: users }, one: { type: 'orderUpdates', user: users[0] } }
    for (const subscription of Object.values(of)) socket.send({ method: 'subscribe', subscription, meta: true })
    const seen = () => (socket.frames as unknown as OrdersFrame[]).filter(({ channel }) => channel === 'orderUpdates')
    const ofBoth = () => seen().filter(({ data }) => !data)
    const statuses = () => new Set(ofBoth().flatMap(({ updates }) => updates.map(({ status }) => status)))
    await vi.waitFor(
      () => {
        expect(ofBoth().length).toBeGreaterThan(30)
        expect([...statuses()]).toEqual(expect.arrayContaining(['open', 'filled']))
        expect(seen().length).toBeGreaterThan(ofBoth().length)
      },
      { timeout: 60_000, interval: 200 },
    )
    socket.close()
    const frames = ofBoth()
    const first = frames[0]!.block_height
    const last = frames.at(-1)!.block_height
    const expected = orderUpdatesOf(users, first, last)
    expect(frames.flatMap(({ updates }) => updates)).toEqual(expected)
    console.log(`${expected.length} order updates in ${last - first + 1} blocks: ${[...statuses()].join(', ')}`)
    for (const { data, updates } of seen().filter((frame) => frame.data))
      expect(data).toEqual(updates.map(({ user: _, ...update }) => update))
  }, 90_000)
})

/** Rows of a new pipeline as they come, until it is closed. */
async function pipelineOf<Row>(order: object): Promise<{ readonly rows: readonly Row[]; readonly close: () => void }> {
  const rows: Row[] = []
  const receiver = await startServer(async (request, response) => {
    rows.push(...(JSON.parse(await text(request)) as { rows: Row[] }).rows)
    response.end('ok')
  })
  const owner = await world.newKey('10', { kind: 'service', plan: 'enterprise' })
  const destination = { type: 'webhook', url: receiver.url, secret: `whsec_${btoa('0'.repeat(32))}` }
  const body = { name: 'rows', destination_config: destination, ...order }
  expect((await world.call('POST', '/platform/pipeline-api/', owner, body)).status).toBe(201)
  return { rows, close: receiver.close }
}

// PIPE-34, FEED-40
it.concurrent('a pipeline of replica_cmds has every signed action of the node’s files, from its first row on', async () => {
  interface ActionRow {
    readonly _kind: string
    readonly height: number
    readonly action_index: number
    readonly signed_action: unknown
  }
  const { rows, close } = await pipelineOf<ActionRow>({ topic: 'replica_cmds' })
  const own = () => rows.filter(({ _kind }) => _kind === 'row')
  await vi.waitFor(() => expect(own().length).toBeGreaterThan(100), { timeout: 60_000, interval: 200 })
  close()
  const first = own()[0]!.height
  const last = own().at(-1)!.height
  const written = globSync('**/replica_cmds/*/*/*', { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .flatMap((line, at) => {
        const { abci_block: block } = JSON.parse(line) as {
          abci_block: { signed_action_bundles: [string, { signed_actions: unknown[] }][] }
        }
        const actions = block.signed_action_bundles.flatMap(([, bundle]) => bundle.signed_actions)
        const height = Number(basename(file)) + at
        return actions.map((signed_action, action_index) => ({ height, action_index, signed_action }))
      }),
  )
  const expected = written.filter(({ height }) => height >= first && height < last).sort((a, b) => a.height - b.height)
  const found = own().filter(({ height }) => height < last)
  expect(found.map(({ height, action_index, signed_action }) => ({ height, action_index, signed_action }))).toEqual(
    expected,
  )
  const begun = rows.findIndex(({ _kind }) => _kind === 'row')
  expect(rows.slice(begun).filter(({ _kind }) => _kind !== 'row')).toEqual([])
  console.log(`${expected.length} signed actions in ${last - first} blocks`)
}, 90_000)

type TwapStatesFrame = { readonly data: { readonly states: readonly [number, { readonly executedSz: string }][] } }
type TwapRow = { readonly twapId: number; readonly status: object; readonly state: { readonly executedSz: string } }

// WS-141, field test T9
it.concurrent('a running TWAP order shows the sum of its slices in its state, and zero in the history', async () => {
  const slices = () =>
    (stream.frames as unknown as FillsFrame[]).flatMap(({ fills = [], block_height: height }) =>
      fills.flatMap(([user, { twapId, sz }]) => (twapId ? [{ height, user, twapId, sz }] : [])),
    )
  await vi.waitFor(() => expect(slices()).not.toEqual([]), { timeout: 60_000, interval: 200 })
  const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
  const states = () =>
    (socket.frames as unknown as (TwapStatesFrame & { channel: string })[])
      .filter(({ channel }) => channel === 'twapStates')
      .flatMap(({ data }) => data.states.map(([id, { executedSz }]) => ({ id, executedSz })))
  const watched = new Set<string>()
  // Of everybody who has one, because the slice that was seen last may be the last one of its order.
  const progressed = () => {
    for (const { user } of slices()) {
      if (!watched.has(user)) socket.send({ method: 'subscribe', subscription: { type: 'twapStates', user } })
      watched.add(user)
    }
    return states().find(({ id, executedSz }) => states().some((one) => one.id === id && one.executedSz !== executedSz))
  }
  await vi.waitFor(() => expect(progressed()).toBeDefined(), { timeout: 90_000, interval: 200 })
  const { id } = progressed()!
  const own = () => slices().filter(({ twapId }) => twapId === id)
  const sumOf = (rows: readonly { readonly sz: string }[]) => rows.reduce((sum, { sz }) => sum + whole(sz), 0n)
  const sums = () => [0n, ...own().map((_, at) => sumOf(own().slice(0, at + 1)))]
  const shown = states().flatMap((one) => (one.id === id ? [whole(one.executedSz)] : []))
  await vi.waitFor(() => expect(shown.filter((executed) => !sums().includes(executed)).map(String)).toEqual([]), {
    timeout: 10_000,
  })
  const { user } = own()[0]!
  const listed = await world.info(key, { type: 'userTwapSliceFills', user })
  const rows = ((await listed.json()) as { fill: Fill; twapId: number }[]).filter(({ twapId }) => twapId === id)
  const height = Number(listed.headers.get('x-block-height'))
  const before = () => own().filter((slice) => slice.height <= height)
  await vi.waitFor(() => expect(String(sumOf(before()))).toBe(String(sumOf(rows.map(({ fill }) => fill)))), {
    timeout: 10_000,
  })
  const history = (await (await world.info(key, { type: 'twapHistory', user })).json()) as TwapRow[]
  socket.send({ method: 'subscribe', subscription: { type: 'userTwapHistory', user } })
  const { data } = await socket.next(({ channel }) => channel === 'userTwapHistory')
  for (const list of [history, (data as { history: TwapRow[] }).history])
    expect(list).toContainEqual(
      expect.objectContaining({
        twapId: id,
        status: { status: 'activated' },
        state: expect.objectContaining({ executedSz: '0.0' }),
      }),
    )
  socket.close()
}, 160_000)

/** A log that is older than its window no longer holds all that was collected. */
const HELD_SECONDS = 200

describe.skipIf(SECONDS > HELD_SECONDS)('history responses', () => {
  const collected = () => (stream.frames as unknown as FillsFrame[]).filter(({ channel }) => channel === 'allFills')
  /** An answer of the history once it reaches a height, with what it cost and since when it is complete. */
  const ask = async (caller: string, height: number, request: object) => {
    let reply!: Response
    const reached = async () => {
      reply = await world.info(caller, request)
      return Number(reply.headers.get('x-block-height'))
    }
    await expect.poll(reached, { timeout: 20_000, interval: 1_100 }).toBeGreaterThanOrEqual(height)
    return {
      body: (await reply.json()) as unknown,
      cost: reply.headers.get('x-credits-cost'),
      left: Number(reply.headers.get('x-credits-remaining')),
      since: Number(reply.headers.get('x-history-from-height')),
    }
  }

  it('match the fills of the stream', async () => {
    const counted = () => {
      const frames = collected()
      const fillsBy = new Map<string, SeenFill[]>()
      for (const { fills, block_height } of frames)
        for (const [user, fill] of fills)
          fillsBy.set(user, [...(fillsBy.get(user) ?? []), { height: block_height, fill }])
      const received = fundingOfNode()
      const wallets = [...fillsBy].map(([user, seen]) => {
        const trades = plainTrades(user, seen, (coin, at) => received.get(`${user} ${coin}@${at}`) ?? 0n)
        return { user, seen, trades }
      })
      return { frames, expected: wallets.sort((a, b) => b.trades.length - a.trades.length).slice(0, 4) }
    }
    const enough = () => expect(counted().expected.flatMap(({ trades }) => trades).length).toBeGreaterThan(4)
    await vi.waitFor(enough, { timeout: 30_000, interval: 1_000 })
    const { frames, expected } = counted()
    const { block_height: height, time } = frames.at(-1)!
    console.log(`trades of ${expected.map(({ trades }) => trades.length)} in ${frames.length} blocks with fills`)
    const total = (amounts: readonly string[]) => wire(amounts.reduce((sum, one) => sum + whole(one), 0n))

    const untilThen = (rows: unknown) =>
      (rows as { close_time: number; tx_index: number }[]).filter(({ close_time }) => close_time <= time)
    for (const { user, seen, trades } of expected) {
      const newest = await ask(key, height, { type: 'userCompletedTrades', user, limit: 500 })
      expect([newest.cost, newest.since <= frames[0]!.block_height]).toEqual(['10', true])
      const rows = untilThen(newest.body).reverse()
      expect(rows.map(({ tx_index: _, ...row }) => row)).toEqual(trades)
      const cursor = rows.length > 1 ? `${rows[0]!.close_time}_${rows[0]!.tx_index}` : '0_0'
      const later = await ask(key, height, {
        type: 'userCompletedTradesByTime',
        user,
        cursor,
        endTime: time,
        limit: 500,
      })
      expect([later.cost, later.body]).toEqual(['10', rows.slice(rows.length > 1 ? 1 : 0)])
      const summary = await ask(key, height, { type: 'userPnlSummary', user, endTime: time })
      expect([summary.cost, summary.body]).toMatchObject([
        '10',
        {
          user,
          totalTrades: trades.length,
          totalPnl: total(trades.map(({ net_pnl }) => net_pnl)),
          totalFees: total(trades.map(({ fees }) => fees)),
          totalFunding: total(trades.map(({ funding_pnl }) => funding_pnl)),
          tradedPairs: expect.arrayContaining([...new Set(seen.map(({ fill }) => fill.coin))]),
        },
      ])
    }
  })

  // Field test T4
  it('keep the order of the chain within one millisecond, in both directions', async () => {
    await vi.waitFor(() => expect(collected().length).toBeGreaterThan(50), { timeout: 30_000, interval: 250 })
    const frames = collected()
    const { block_height: height, time } = frames.at(-1)!
    const byUser = Map.groupBy(
      frames.flatMap(({ fills }) => fills),
      ([user]) => user,
    )
    const together = (fills: readonly (readonly [string, Fill])[]) =>
      fills.filter(
        ([, { coin, time: at }], index) => coin === fills[index - 1]?.[1].coin && at === fills[index - 1]?.[1].time,
      )
    const users = [...byUser].toSorted(([, a], [, b]) => together(b).length - together(a).length).slice(0, 3)
    expect(together(users[0]![1]).length).toBeGreaterThan(0)
    for (const [user, own] of users) {
      const startTime = own[0]![1].time
      const positions = (rows: unknown) =>
        (rows as Fill[])
          .filter((fill) => fill.time >= startTime && fill.time <= time)
          .map(({ coin, tid, startPosition }) => [coin, tid, startPosition])
      const expected = positions(own.map(([, fill]) => fill))
      const lists = [
        { type: 'userFillsByTime', user, startTime },
        { type: 'userFillsByTime', user, startTime, reversed: true },
        { type: 'userFills', user },
      ].map(async (request) => positions((await ask(key, height, request)).body))
      const [forward, backward, newest] = await Promise.all(lists)
      expect([forward, backward, newest]).toEqual([expected, expected.toReversed(), expected.toReversed()])
      // The next fill of a perp begins where the last one ended.
      const ends = new Map<string, bigint>()
      for (const [, { coin, side, sz, startPosition }] of own) {
        if (/^[@#]|\//.test(coin)) continue
        const start = whole(startPosition)
        expect(ends.get(coin) ?? start).toBe(start)
        ends.set(coin, start + (side === 'B' ? whole(sz) : -whole(sz)))
      }
    }
    // The same over a socket, from an earlier block on and live, and to a pipeline.
    const first = frames[0]!.block_height
    interface FillRow extends Pick<Fill, 'coin' | 'tid'> {
      readonly _height: number
      readonly user: string
      readonly start_position: string
    }
    const { rows, close } = await pipelineOf<FillRow>({ topic: 'fills', execution_start_from: String(first) })
    const socket = await Socket.open<FillsFrame & Record<string, unknown>>(`${world.ws}/ws?key=${key}`)
    const addresses = users.map(([user]) => user)
    socket.send({ method: 'subscribe', subscription: { type: 'userFills', addresses }, fromBlock: first, meta: true })
    const own = () => socket.frames.filter(({ channel }) => channel === 'userFills')
    const live = height + 20
    const passed = () => [own().at(-1)?.block_height ?? 0, rows.at(-1)?._height ?? 0].every((last) => last > live)
    await expect.poll(passed, { timeout: 60_000, interval: 200 }).toBe(true)
    close()
    socket.close()
    const told = collected().filter(({ block_height: at }) => at <= live)
    const textOf = (at: number, user: string, { coin, tid }: Pick<Fill, 'coin' | 'tid'>, start: string) =>
      [at, user, coin, tid, start].join(' ')
    const expected = told.flatMap(({ block_height: at, fills }) =>
      fills.map(([user, fill]) => ({ user, text: textOf(at, user, fill, fill.startPosition) })),
    )
    const delivered = rows.filter(({ _height }) => _height <= live)
    expect(delivered.map((row) => textOf(row._height, row.user, row, row.start_position))).toEqual(
      expected.map(({ text }) => text),
    )
    const sent = own().filter(({ block_height: at }) => at <= live)
    const seen = sent.flatMap(({ block_height: at, fills }) =>
      fills.map(([user, fill]) => textOf(at, user, fill, fill.startPosition)),
    )
    expect(seen).toEqual(expected.flatMap(({ user, text }) => (addresses.includes(user) ? [text] : [])))
  })

  it('list the fills of a builder like the stream, newest first, at their price', async () => {
    const caller = await world.newKey('50')
    const builtOf = (frames: readonly FillsFrame[]) =>
      frames.flatMap(({ fills }) => fills).filter(([, fill]) => fill.builder !== undefined)
    await vi.waitFor(() => expect(builtOf(collected())).not.toEqual([]), { timeout: 30_000, interval: 250 })
    const frames = collected()
    const { block_height: height, time } = frames.at(-1)!
    const built = builtOf(frames)
    const builder = built[0]![1].builder
    const expected = built
      .filter(([, fill]) => fill.builder === builder)
      .map(([user, { builder: _, twapId: __, deployerFee: ___, ...fill }]) => ({ user, ...fill }))
    const { body, cost, left } = await ask(caller, height, { type: 'builderFills', builder })
    expect((body as Fill[]).filter((fill) => fill.time <= time).reverse()).toEqual(expected)
    expect(cost).toBe('1')
    const user = expected[0]!.user
    const summary = await world.info(caller, { type: 'userPnlSummary', user })
    expect(Number(summary.headers.get('x-credits-remaining'))).toBe(left - 10)
  })
})
