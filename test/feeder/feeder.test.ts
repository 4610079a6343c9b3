// The whole feeder: real files, real sockets, a node and a gateway that crash and recover.

import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Feeder, type FeederOptions } from '../../src/feeder/feeder.node.ts'
import { NodeFiles } from '../../src/feeder/node-files.node.ts'
import type { WantFrame } from '../../src/protocol/feed/protocol.ts'
import { lineHeight } from '../../src/protocol/feed/replica-entries.ts'
import { startServer } from '../kit/http-server.ts'
import { seededRandom } from '../kit/random.ts'
import { FakeGateway } from './fake-gateway.ts'
import { FakeNode } from './fake-node.ts'
import { L4Client } from './l4-client.ts'
import { ModelGateway } from './model-gateway.ts'
import { ModelNode } from './model-node.ts'

const PATIENCE_MS = 60_000

let folder: string
let node: FakeNode
let gateway: FakeGateway
let urls: { info: string; gateway: string }
let said: string[]
const running: { feeder: Feeder; ended: Promise<number> }[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-feeder-test-'))
  node = new FakeNode(join(folder, 'data'), new ModelNode(seededRandom(7)))
  gateway = new FakeGateway()
  urls = { info: await node.listen(), gateway: await gateway.listen() }
  said = []
})

afterEach(async () => {
  for (const one of running.splice(0)) await stop(one)
  gateway.kill()
  node.close()
  rmSync(folder, { recursive: true, force: true })
  vi.restoreAllMocks()
  expect(gateway.errors).toEqual([])
})

function start(more: Partial<FeederOptions> = {}) {
  const stateDir = join(folder, 'state')
  const feeder = new Feeder(
    {
      dataDir: node.data,
      infoUrl: urls.info,
      gatewayUrl: urls.gateway,
      token: 'secret',
      chain: 'hyperliquid',
      name: 'test',
      stateDir,
      snapshotDir: join(stateDir, 'snapshots'),
      verifyMs: 600_000,
      checkpointMs: 30_000,
      ...more,
    },
    (sentence) => said.push(sentence),
    seededRandom(1),
  )
  const one = { feeder, ended: feeder.run() }
  running.push(one)
  return one
}

/** A feeder whose order books the gateway has. */
async function startSeeded(more: Partial<FeederOptions> = {}) {
  const one = start(more)
  await until('the seed', () => gateway.model.chain.booksKnown)
  return one
}

async function stop({ feeder, ended }: (typeof running)[number]): Promise<void> {
  feeder.stop()
  await ended
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited for: ${what}; the feeder said:\n${said.join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The gateway has everything the node wrote, and its order books. */
async function inStep(): Promise<void> {
  const { head } = node.model
  await until(`height ${head}`, () => gateway.model.durable === head && gateway.model.chain.booksKnown)
  const books = [...gateway.model.levels()!].filter(([, [bids, asks]]) => bids.length + asks.length > 0)
  const truth = node.model.books()
  expect(books.map(([coin]) => coin).sort()).toEqual(truth.coins().sort())
  for (const [coin, levels] of books) expect(levels).toEqual(truth.levels(coin))
}

const blocks = () => gateway.model.entries.flatMap((entry) => (entry.kind === 'block' ? [entry.block] : []))
const heights = () => blocks().map(({ height }) => height)
const ledger = () => blocks().flatMap((block) => block.ledger)
/** The next block's lines, with events in its diffs that the node's order books do not have. */
function append(...events: object[]): void {
  const { lines } = node.model.step()
  const diffs = JSON.parse(lines.get('diffs')!) as { events: unknown[] }
  diffs.events.push(...events)
  for (const [stream, line] of lines) node.append(stream, `${stream === 'diffs' ? JSON.stringify(diffs) : line}\n`)
}
const strayDiff = (coin: string, change: unknown, more: object = {}) => {
  return { user: '0x', oid: 999_999, coin, side: 'B', px: '91.5', raw_book_diff: change, ...more }
}
/** Number of blocks whose lines of misc events are delayed. */
function withoutMisc(count: number): string[] {
  const held: string[] = []
  for (let i = 0; i < count; i++)
    for (const [stream, text] of node.model.step().lines)
      if (stream === 'misc') held.push(`${text}\n`)
      else node.append(stream, `${text}\n`)
  return held
}
const gaps = () => gateway.model.entries.filter((entry) => entry.kind === 'gap')

test('an empty log starts with the node’s books; then every block comes once', async () => {
  mkdirSync(join(folder, 'state', 'snapshots'), { recursive: true })
  writeFileSync(join(folder, 'state', 'snapshots', 'l4-snapshot-999999999-1.json'), 'of a feeder that was killed')
  node.write(30)
  await startSeeded()
  node.write(50)
  await inStep()
  expect(gateway.tokens).toEqual(['Bearer secret'])
  expect(heights()).toEqual(Array.from({ length: 50 }, (_, i) => 130 + i))
  expect(gateway.model.seeds).toBe(1)
  expect(readdirSync(join(folder, 'state', 'snapshots'))).toEqual([])
})

test('a clock that is set back by an hour delays nothing', async () => {
  node.write(5)
  const { feeder } = await startSeeded()
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  node.hour = 10
  node.write(5)
  await inStep()
  await until('a second to be counted', () => feeder.status(0).blocksPerSecond > 0)
})

// FEED-26
test('a restart with a checkpoint is seamless: no new epoch, no block lost', async () => {
  node.write(10)
  const first = await startSeeded()
  node.write(20)
  await inStep()
  first.feeder.stop()
  expect(await first.ended).toBe(0)
  node.write(20)
  start()
  await inStep()
  expect(gateway.model.seeds).toBe(1)
  expect(node.snapshots).toBe(1)
  expect(blocks().flatMap(({ fills }) => fills.map(([, { tid }]) => tid))).toEqual(
    node.model.blocks.filter(({ height }) => height > 109).flatMap(({ tids }) => tids),
  )
})

test('a damaged checkpoint is ignored with a message: events continue, books start over', async () => {
  node.write(10)
  const first = await startSeeded()
  node.write(20)
  await inStep()
  await stop(first)
  const path = join(folder, 'state', 'books.checkpoint')
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20))
  node.write(20)
  start()
  await inStep()
  expect(said.filter((sentence) => sentence.includes('ignoring'))).toHaveLength(1)
  expect(gateway.model.seeds).toBe(2)
  expect(heights()).toEqual(Array.from({ length: 40 }, (_, i) => 110 + i))
})

test('a gateway that dies while blocks are in flight soon gets them again', async () => {
  node.write(10)
  await startSeeded()
  gateway.acknowledges = false
  node.write(30)
  await until('blocks on the way', () => gateway.model.chain.height === node.model.head)
  gateway.kill()
  node.write(10)
  await gateway.listen()
  gateway.acknowledges = true
  const since = Date.now()
  await inStep()
  expect(Date.now() - since).toBeLessThan(10_000)
  expect(gateway.model.seeds).toBe(1)
  expect(gaps()).toEqual([])
})

test('a line missing in one stream is a recorded gap and a new epoch', async () => {
  node.write(10)
  await startSeeded()
  node.write(5)
  node.write(1, ['fills'])
  node.write(5)
  await inStep()
  expect(gaps()).toEqual([{ kind: 'gap', from: 115, to: 115 }])
  node.write(1, ['diffs'])
  node.write(5)
  await inStep()
  expect(gaps()).toHaveLength(2)
  expect(gateway.model.seeds).toBe(3)
})

test('diffs that do not fit affect one coin, which is repaired within the epoch', async () => {
  node.write(10)
  const { feeder } = await startSeeded()
  const changed = strayDiff('BTC', { update: { origSz: '1.0', newSz: '0.5' } })
  append(changed, strayDiff('BTC', 'remove', { oid: 999_998 }))
  await until('the misfits', () => feeder.status(0).misfits === 2)
  await until('the repair', () =>
    gateway.model.entries.some((entry) => entry.kind === 'seed' && entry.frame.scope === 'coins'),
  )
  node.write(10)
  await inStep()
  expect(gateway.model.seeds).toBe(1)
})

test('diffs with invalid coins or sizes cost no block and no epoch', async () => {
  node.write(10)
  const { feeder } = await startSeeded()
  const { lines } = node.model.step()
  const diffs = JSON.parse(lines.get('diffs')!) as { events: unknown[] }
  const odd = (coin: string, sz = '1.0') => strayDiff(coin, { new: { sz } })
  // The last one is a byte that is not valid UTF-8.
  diffs.events.push(odd(''), odd('B C'), odd('x'.repeat(65)), odd('a\tb'), odd('BTC', '9'.repeat(31)), odd('\xff'))
  node.append('fills', `${lines.get('fills')}\n`)
  appendFileSync(node.path('diffs'), Buffer.from(`${JSON.stringify(diffs)}\n`, 'latin1'))
  node.write(10)
  await until('the repair', () => feeder.status(0).misfits === 6 && node.snapshots === 2)
  node.write(10)
  await inStep()
  expect([gaps(), gateway.model.seeds]).toEqual([[], 1])
})

test('an event that is nested too deeply to encode causes a gap, not a crash', async () => {
  node.write(10)
  await startSeeded()
  const { height, time, lines } = node.model.step()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  for (const stream of ['diffs', 'fills'] as const) node.append(stream, `${lines.get(stream)}\n`)
  const head = JSON.stringify({ local_time: time, block_time: time, block_number: height })
  node.append('misc', `${head.slice(0, -1)},"events":[${deep}]}\n`)
  node.write(10)
  await inStep()
  expect(gaps()).toEqual([{ kind: 'gap', from: height, to: height }])
})

test('drift without a misfit is found by comparison with the node', async () => {
  node.write(10)
  const { feeder } = await startSeeded({ verifyMs: 300 })
  append(strayDiff('ETH', { new: { sz: '1.0' } }, { side: 'A', px: '105.5' }))
  await until('the drift', () => feeder.status(0).drifted > 0)
  // The repair is sent with a later block.
  await vi.waitFor(
    async () => {
      node.write(1)
      await inStep()
    },
    { timeout: 30_000 },
  )
  expect(gateway.model.seeds).toBe(1)
  expect(feeder.status(0).drifted).toBe(1)
})

test('a restarted node writes heights again, even after a partial line: no gap, duplicate or conflict', async () => {
  node.write(30)
  const first = await startSeeded({ checkpointMs: 50 })
  node.write(30)
  await inStep()
  const again = () => node.model.blocks.slice(-20).flatMap(({ lines }) => [...lines])
  for (const [stream, text] of node.model.step().lines) node.append(stream, text.slice(0, 120))
  for (const [stream, text] of again()) node.append(stream, `${text}\n`)
  node.write(10)
  await inStep()
  await stop(first)
  // Both restart, and the node has not yet reached its previous height.
  for (const [stream, text] of again().slice(0, 10)) node.append(stream, `${text}\n`)
  start()
  await until('the place', () => said.some((sentence) => sentence.startsWith('books from checkpoint')))
  for (const [stream, text] of again().slice(10)) node.append(stream, `${text}\n`)
  node.write(10)
  await inStep()
  expect(gaps()).toEqual([])
  expect(gateway.model.seeds).toBe(1)
  expect(said.filter((sentence) => sentence.includes('came after'))).toEqual([])
})

// FEED-32
test('order statuses are read while wanted, across connections, and sent only for wanted wallets', async () => {
  const WANTED = `0x${'1'.repeat(40)}`
  const OTHER = `0x${'2'.repeat(40)}`
  /** A block with an order status for each. */
  const step = () => {
    const { height, time, lines } = node.model.step()
    const events = [OTHER, WANTED].map((user) => ({ time, user, status: 'open', order: { oid: height } }))
    const statuses = JSON.stringify({ local_time: time, block_time: time, block_number: height, events })
    for (const [stream, text] of [['statuses', statuses] as const, ...lines]) node.append(stream, `${text}\n`)
  }
  const want = (add: string[], drop: string[]) => gateway.send([{ type: 'want', orders: { add, drop } }])
  const told = () => blocks().flatMap(({ orders }) => (orders ?? []) as { user: string; order: { oid: number } }[])
  node.write(30)
  await startSeeded()
  want([WANTED], [])
  await until('a word about the flag', () => said.some((sentence) => sentence.includes('--write-order-statuses')))
  await until('order statuses', () => {
    step()
    return told().length > 20
  })
  await inStep()
  gateway.kill()
  await gateway.listen()
  for (let i = 0; i < 20; i++) step()
  await inStep()
  const [first] = told()
  const expected = Array.from({ length: node.model.head - first!.order.oid + 1 }, (_, i) => first!.order.oid + i)
  expect(told().map(({ order }) => order.oid)).toEqual(expected)
  expect(new Set(told().map(({ user }) => user))).toEqual(new Set([WANTED]))
  want([], [WANTED])
  await until('their end', () => {
    step()
    return told().at(-1)!.order.oid < gateway.model.durable! - 20
  })
})

/** A client that keeps the order-level books of coins from the gateway's data. */
class Keeper {
  readonly clients: ReadonlyMap<string, L4Client>
  #entries = gateway.model.entries.length

  constructor(coins: readonly string[]) {
    this.clients = new Map(coins.map((coin) => [coin, new L4Client(coin)]))
  }

  /** Whether all order books are known, once everything received was applied. */
  get isWhole(): boolean {
    for (const entry of gateway.model.entries.slice(this.#entries))
      if (entry.kind === 'block') for (const client of this.clients.values()) client.block(entry.block)
    this.#entries = gateway.model.entries.length
    for (const frame of gateway.model.l4.splice(0)) this.clients.get(frame.coin)!.part(frame)
    return [...this.clients.values()].every(({ orders }) => orders !== null)
  }

  /** Its order books are the node's, which lie below `far` additional orders of each coin. */
  check(far = 0): void {
    const truth = node.model.ordersOf([...this.clients.keys()])
    for (const [coin, { orders }] of this.clients) {
      const near = orders!.filter(({ oid }) => oid < FAR).map(({ oid, sz }) => `${oid} ${sz}`)
      expect([near.sort(), orders!.length - near.length], coin).toEqual([truth.get(coin), coin === 'BTC' ? far : 0])
    }
  }
}
const FAR = 1_000_000

// FEED-35, FEED-36, FEED-37
test('order-level books: rows while wanted, snapshots from one file, across connections and restarts', async () => {
  const COINS = ['BTC', '@107', 'never:seen']
  const want: WantFrame = { type: 'want', orders: { add: [], drop: [] }, l4: { add: COINS, drop: [] } }
  const ask = () => gateway.send([{ type: 'l4Reseed', coins: COINS }])
  node.writesStatuses = true
  node.write(30)
  const first = await startSeeded()
  expect(node.snapshots).toBe(1)
  gateway.wants = [{ ...want, whole: true }]
  gateway.send([want])
  ask()
  let keeper = new Keeper(COINS)
  const books = () =>
    until('books', () => {
      node.write(1)
      return keeper.isWhole
    })
  await books()
  node.write(20)
  await inStep()
  expect(keeper.isWhole).toBe(true)
  keeper.check()
  expect(node.snapshots).toBe(2)

  // A large order book is partly sent when the gateway dies. Requests of a connection end with it.
  const snapshotText = node.model.snapshotText.bind(node.model)
  vi.spyOn(node.model, 'snapshotText').mockImplementation(() => {
    const [height, coins] = JSON.parse(snapshotText())
    const [user, one] = coins.find(([coin]: [string]) => coin === 'BTC')[1][0][0]
    const far = Array.from({ length: 20_000 }, (_, i) => [user, { ...one, limitPx: '1.0', oid: FAR + i }])
    for (const [coin, [bids]] of coins) if (coin === 'BTC') bids.push(...far)
    return JSON.stringify([height, coins])
  })
  ask()
  await until('a part', () => gateway.model.l4.length > 1)
  const { parts } = gateway.model.l4[0]!
  gateway.kill()
  expect(gateway.model.l4.splice(0).length).toBeLessThan(parts)
  expect(parts).toBeGreaterThan(20)
  keeper = new Keeper(COINS)
  await gateway.listen()
  node.write(10)
  await inStep()
  const asked = node.snapshots
  ask()
  await books()
  await inStep()
  expect(keeper.isWhole).toBe(true)
  keeper.check(20_000)
  expect(node.snapshots).toBe(asked + 1)

  await stop(first)
  node.write(10)
  start()
  await inStep()
  keeper = new Keeper(COINS)
  ask()
  await books()
  await inStep()
  expect(keeper.isWhole).toBe(true)
  keeper.check(20_000)
  expect(gaps()).toEqual([])
})

test('a folder that stops growing, or is empty, stalls nothing; a late line is sent with the next block', async () => {
  mkdirSync(join(node.data, 'node_twap_statuses_by_block'), { recursive: true })
  node.write(60)
  const { feeder } = await startSeeded()
  const held = withoutMisc(60)
  await inStep()
  expect(gaps()).toEqual([])
  expect(held.length).toBeGreaterThan(3)
  node.append('misc', held.join(''))
  await until('the late lines', () => feeder.status(0).lateLines === held.length)
  expect(said.filter((sentence) => sentence.includes('came after its block'))).toHaveLength(held.length)
  expect(ledger()).toEqual([])
  node.write(1, ['misc'])
  await inStep()
  expect(ledger()).toHaveLength(held.length)
})

// FEED-32
test('intermittent interest in order statuses causes no late line, and files are opened once', async () => {
  const opens = vi.spyOn(NodeFiles.prototype, 'open')
  const looks = vi.spyOn(NodeFiles.prototype, 'presentStreams')
  const want = async (isWanted: boolean) => {
    const wallets = [`0x${'1'.repeat(40)}`]
    gateway.send([{ type: 'want', orders: { add: isWanted ? wallets : [], drop: isWanted ? [] : wallets } }])
    const before = looks.mock.calls.length
    await until('a look', () => looks.mock.calls.length > before + 1)
  }
  node.write(30)
  mkdirSync(join(node.data, 'node_order_statuses_by_block'), { recursive: true })
  const { feeder } = await startSeeded()
  const held = withoutMisc(60)
  await inStep()
  node.append('misc', held.join(''))
  await until('the late lines', () => feeder.status(0).lateLines === held.length)
  await want(true)
  node.write(1, ['misc'])
  await inStep()
  expect(ledger()).toHaveLength(held.length)
  const before = opens.mock.calls.length
  for (const isWanted of [false, true]) await want(isWanted)
  expect(opens.mock.calls.length).toBeLessThanOrEqual(before + 1)
})

test('a node that starts over while the feeder runs is refused', async () => {
  node.write(30)
  const { ended } = await startSeeded()
  node.write(10)
  await inStep()
  node.model = new ModelNode(seededRandom(8), 100, 3_600_000)
  node.write(5)
  expect(await ended).toBe(2)
  expect(said.at(-1)).toMatch(/started over/)
})

test('a node that started over is refused, before and after a restart', async () => {
  node.write(30)
  const first = await startSeeded({ checkpointMs: 50 })
  node.write(30)
  await inStep()
  await stop(first)
  node.wipe()
  node.model = new ModelNode(seededRandom(8), 100, 3_600_000)
  node.write(20)
  expect(await start().ended).toBe(2)
  expect(said.at(-1)).toMatch(/started over/)
  node.write(100)
  expect(await start().ended).toBe(2)
  expect(said.at(-1)).toMatch(/another chain/)
})

test('a new log for a node that started over survives a restart, whatever old checkpoints exist', async () => {
  node.write(30)
  const first = await startSeeded()
  await inStep()
  await stop(first)
  node.wipe()
  node.model = new ModelNode(seededRandom(8), 100, 3_600_000)
  node.write(20)
  gateway.model = new ModelGateway()
  const second = start()
  await until('the new seed', () => gateway.model.chain.booksKnown)
  node.write(5)
  await inStep()
  await stop(second)
  expect(readdirSync(join(folder, 'state')).filter((name) => name.endsWith('checkpoint'))).toHaveLength(2)
  start()
  node.write(5)
  await inStep()
  expect(gateway.model.seeds).toBe(1)
})

test('missing files are reported as a gap', async () => {
  node.write(10)
  const first = await startSeeded()
  await inStep()
  await stop(first)
  node.write(20)
  node.wipe()
  node.write(20)
  start()
  await inStep()
  expect(gaps()).toEqual([{ kind: 'gap', from: 110, to: 129 }])
})

/** The misc line of a block in which this many positions are funded, each of a user of its own. */
function fundingLine({ height, time }: { readonly height: number; readonly time: string }, positions: number): string {
  const deltas = Array.from({ length: positions }, (_, i) => ({
    user: `0x${i.toString(16).padStart(40, '0')}`,
    coin: i % 2 === 0 ? 'BTC' : 'ETH',
    funding_amount: '-0.5',
    szi: '2.0',
    funding_rate: '0.0000125',
  }))
  const event = { time, hash: `0x${'0'.repeat(64)}`, inner: { Funding: { deltas } } }
  return JSON.stringify({ local_time: time, block_time: time, block_number: height, events: [event] })
}
const FUNDING = ['BTC', 'ETH'].map((coin) => ({ coin, perUnit: '0.25' }))

test('an hour’s funding of many megabytes becomes one number per coin without delaying later blocks', async () => {
  node.write(10)
  await startSeeded()
  const block = node.model.step()
  const line = fundingLine(block, 60_000)
  expect(line.length).toBeGreaterThan(6_000_000)
  for (const [stream, text] of [...block.lines, ['misc', line]] as const)
    if (stream !== 'misc' || text === line) node.append(stream, `${text}\n`)
  node.write(10)
  await inStep()
  expect(gaps()).toEqual([])
  expect(blocks().flatMap((block) => block.funding)).toEqual(FUNDING)
})

test('an hour’s funding of many megabytes that comes late stops no block', async () => {
  node.write(10)
  const { feeder } = await startSeeded()
  const block = node.model.step()
  for (const [stream, text] of block.lines) if (stream !== 'misc') node.append(stream, `${text}\n`)
  await inStep()
  node.append('misc', `${fundingLine(block, 60_000)}\n`)
  await until('the late line', () => feeder.status(0).lateLines === 1)
  node.write(10)
  await inStep()
  expect(gaps()).toEqual([])
  const funding = blocks().flatMap((block) => block.funding)
  expect(funding).toMatchObject(FUNDING)
  const { time } = blocks().find(({ height }) => height === block.height)!
  expect(funding.map((paid) => paid.time)).toEqual(FUNDING.map(() => time))
})

test('a node without misc events works, and its misc events are sent once they appear', async () => {
  node.write(10, ['misc'])
  await startSeeded()
  node.write(10, ['misc'])
  await inStep()
  node.write(60)
  await inStep()
  await until('the stream to be noticed', () => {
    node.write(1)
    return ledger().length > 0
  })
  await inStep()
  expect(gaps()).toEqual([])
})

/** A line of an extra stream, as the node writes it. */
function extraLine({ height, time }: { height: number; time: string }, events: string): string {
  return `{"local_time":"${time}","block_time":"${time}","block_number":${height},"events":[${events}]}\n`
}

// FEED-39
test('oracle updates and writer actions come with their blocks, whatever the state of their files', async () => {
  gateway.wants = [{ type: 'want', orders: { add: [], drop: [] }, extras: ['oracle', 'writer'] }]
  node.write(10)
  const { feeder } = await startSeeded()
  await inStep()
  expect(
    blocks().some((block) => 'oracle' in block || 'writer' in block),
    'no file, nothing known',
  ).toBe(false)

  mkdirSync(join(node.data, 'system_and_core_writer_actions_by_block'), { recursive: true })
  const early = node.model.step()
  node.append('oracle', extraLine(early, '{"update_class":"Deployer"}'))
  for (const [stream, text] of early.lines) node.append(stream, `${text}\n`)
  await until('both streams to be noticed', () => {
    node.write(1)
    return blocks().at(-1)?.writer !== undefined
  })
  await inStep()

  const { head } = node.model
  for (const [at, events] of ['{"n":1}', '[', `"${'x'.repeat(200_000)}"`, '{"n":4}'].entries()) {
    const next = node.model.step()
    node.append('oracle', extraLine(next, events))
    if (at === 3) node.append('oracle', '{"local_time":"2026')
    for (const [stream, text] of next.lines) node.append(stream, `${text}\n`)
  }
  node.write(20)
  await inStep()
  const own = blocks().filter(({ height }) => height > head)
  const known = own.flatMap(({ oracle = [] }) => oracle)
  expect(known, 'an unreadable line and an oversized event are left out').toEqual([{ n: 1 }, { n: 4 }])
  expect(own.filter(({ oracle }) => oracle === undefined).length, 'the unreadable line is unknown').toBeLessThan(2)
  expect(feeder.status(0)).toMatchObject({ gaps: 0, refusedEvents: 2, lateLines: 0 })
  expect(said.join('\n')).toContain('an event has 200002 characters, more than 163840')
  expect([gaps(), gateway.model.seeds]).toEqual([[], 1])
})

test('an oracle line that comes after its block is counted and sent with the next one', async () => {
  gateway.wants = [{ type: 'want', orders: { add: [], drop: [] }, extras: ['oracle'] }]
  node.append('oracle', '')
  node.write(10)
  const { feeder } = await startSeeded()
  const late = node.model.step()
  for (const [stream, text] of late.lines) node.append(stream, `${text}\n`)
  await inStep()
  node.append('oracle', extraLine(late, '{"n":1}'))
  await until('the late line', () => feeder.status(0).lateExtraLines === 1)
  node.write(1)
  await inStep()
  expect(blocks().at(-1)).toMatchObject({ height: late.height + 1, oracle: [{ n: 1 }] })
  expect([feeder.status(0).lateLines, gaps()]).toEqual([0, []])
})

test('a feeder that catches up over several hours puts every oracle update into its own block', async () => {
  gateway.wants = [{ type: 'want', orders: { add: [], drop: [] }, extras: ['oracle'] }]
  node.append('oracle', '')
  node.write(10)
  const first = await startSeeded()
  await inStep()
  await stop(first)
  const updated: number[] = []
  for (const hour of [9, 10, 11]) {
    node.hour = hour
    for (let i = 0; i < 300; i++) {
      const next = node.model.step()
      // The last hour has none, so its file does not exist.
      if (i % 7 === 0 && hour < 11) {
        updated.push(next.height)
        node.append('oracle', extraLine(next, `{"of":${next.height},"text":"${'x'.repeat(4_000)}"}`))
      }
      for (const [stream, text] of next.lines) node.append(stream, `${text}\n`)
    }
  }
  const { feeder } = start()
  await inStep()
  const own = blocks().flatMap(({ height, oracle = [] }) => oracle.map((row) => [height, (row as { of: number }).of]))
  expect(own).toEqual(updated.map((height) => [height, height]))
  expect([feeder.status(0).lateExtraLines, gaps()]).toEqual([0, []])
})

// FEED-40
test('signed actions are read only while they are wanted, and come with their block or a later one', async () => {
  const want = (...extras: string[]) => gateway.send([{ type: 'want', orders: { add: [], drop: [] }, extras }])
  const file = join(node.data, 'replica_cmds', '2026-05-05T09:00:00Z', node.date, '100')
  mkdirSync(dirname(file), { recursive: true })
  const append = (text: string) => appendFileSync(file, text)
  const write = (count: number) => {
    for (let i = 0; i < count; i++) {
      append(`{"abci_block":{"signed_action_bundles":[]},"of":${node.model.head! + 1}}\n`)
      node.write(1)
    }
  }
  const read = () => blocks().flatMap(({ replica = [] }) => replica.flatMap((entry) => lineHeight(entry) ?? []))
  write(10)
  const { feeder } = await startSeeded()
  await inStep()
  want('replica')
  await until('signed actions', () => {
    write(1)
    return read().length > 0
  })
  node.write(1)
  await inStep()
  append('{"abci_block":{"signed_action_bundles":[]}}\n[\n')
  node.write(1)
  await until('the line that came late, and the unusable one', () => {
    node.write(1)
    return feeder.status(0).refusedEvents === 1
  })
  await inStep()
  const first = read()[0]!
  expect(read()).toEqual(Array.from(read(), (_, at) => first + at))
  const carrying = blocks().find(({ replica = [] }) => replica.some((entry) => lineHeight(entry) === first))!
  expect(carrying.height).toBeGreaterThanOrEqual(first)
  expect(carrying.replica).toContainEqual({ line: { height: first, block: {}, other: { of: first } } })
  expect(
    blocks()
      .filter(({ height }) => height < first && height > 110)
      .every(({ replica }) => !replica),
  ).toBe(true)
  want()
  await until('no signed actions', () => {
    write(1)
    return !blocks().at(-1)!.replica
  })
  await inStep()
  expect([feeder.status(0).gaps, gaps(), gateway.model.seeds]).toEqual([0, [], 1])
})

// FEED-27
test('pulses report the state, with or without blocks', async () => {
  node.write(10)
  const { feeder } = await startSeeded()
  node.write(5)
  await inStep()
  const last = () => gateway.model.pulses.at(-1)
  await until('a pulse of the newest block', () => last()?.head === node.model.head)
  expect(last()).toMatchObject({ state: 'sending', reconnects: 0, misfits: 0, stallMs: expect.any(Number) })
  expect(last()).toMatchObject({ stalls: expect.any(Number), lateLines: 0 })
  expect(Math.abs(last()!.now - Date.now())).toBeLessThan(60_000)
  await until('a pulse of a node that stands still', () => last()!.state === 'waiting for blocks')
  expect(feeder.status(Date.now())).toMatchObject({ state: 'waiting for blocks', why: null })
  expect(last()).toMatchObject({ head: node.model.head, unacked: 0 })
})

// FEED-29
test('without files it is connected and reports what is missing; once there are files, it reconnects', async () => {
  const { feeder } = start()
  await until('the greeting', () => gateway.model.pulses.length > 0)
  expect(gateway.model.pulses.at(-1)).toMatchObject({ state: 'waiting for files', head: null, time: null })
  expect(gateway.greetings).toMatchObject([{ first: null, head: null }])
  const trouble = () => feeder.status(0).why
  expect(trouble()).toContain('does not exist')
  mkdirSync(join(node.data, 'node_fills'), { recursive: true })
  await until('the layout to be noticed', () => trouble()!.includes('--batch-by-block'))
  node.write(10)
  await until('the seed', () => gateway.model.chain.booksKnown)
  expect(gateway.greetings.at(-1)).toMatchObject({ first: 100, head: 109 })
  expect(said.filter((sentence) => sentence.includes('--batch-by-block'))).toHaveLength(1)
  node.write(10)
  await inStep()
})

test('a rejected token is logged once, and shown with the missing files in every status', async () => {
  gateway.kill()
  let dials = 0
  const door = await startServer((_, response) => {
    response.writeHead(dials++ < 1 ? 401 : 404, { 'retry-after': '0' }).end()
  })
  const { feeder } = start({ gatewayUrl: door.url })
  await until('the refusal', () => feeder.status(0).state === 'refused by the gateway')
  expect(feeder.status(0).why).toMatch(/FEED_TOKEN.*; and the data folder .* does not exist/)
  await until('the next dial', () => feeder.status(0).why!.includes('404'))
  expect(said.filter((sentence) => sentence.includes('feed token'))).toHaveLength(1)
  door.close()
})

test('an unreachable node is reported at the start, and when its books are needed', async () => {
  node.close()
  node.write(10)
  const { feeder } = start()
  await until('the probe', () => said.some((sentence) => sentence.includes('--serve-info')))
  await until('the attempt', () => feeder.status(0).why?.includes('no snapshot') === true)
  expect(feeder.status(0).state).toBe('finding its place')
})

test('a chain that the gateway does not carry is refused, not waited for', async () => {
  node.write(10)
  gateway.refusesHello = { type: 'error', field: 'chain', message: 'this gateway carries x' }
  const { feeder } = start()
  await until('the refusal', () => feeder.status(0).state === 'refused by the gateway')
  expect(feeder.status(0).why).toBe('this gateway carries x')
})
