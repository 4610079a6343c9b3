// Sections of subscriptions. Each is compared with the bare object, which broadcasts the frames that it receives.

import { median } from '../kit/statistics.ts'
import { COINS, COINS_PER_BLOCK, EXCHANGE_BLOCKS_PER_SECOND, WORST_CHANGES } from './blocks.ts'
import { type CrowdName, DISTINCT } from './crowds.ts'
import { deflateLine } from './deflate.node.ts'
import { alternate, compared, inTurn, spent } from './rounds.node.ts'
import { exchangeLine, type Line, ms, pairLine, us, whole } from './table.ts'
import type { Bench, Target } from './targets.node.ts'

const EVERY_MS = 1000 / EXCHANGE_BLOCKS_PER_SECOND
/** Blocks on their way at once: enough that the object always has work. */
const IN_FLIGHT = 4
const messages = (perSecond: number) => `${whole(perSecond)} messages/s`

async function resizeBoth({ load, both }: Bench, sockets: number, crowd: CrowdName): Promise<void> {
  for (const { name } of both) await load.call('resize', name, sockets, crowd)
}

const MEMORY_SOCKETS = 1000
/** Opened before, so that code is compiled. What the heap grows by under the others counts as theirs. */
const WARM = 30
const MEMORY_GOAL_KB = 95
const MEMORY_SETTLE_MS = 1500

/** Resident kilobytes of workerd per connection with a subscription. To be run on fresh processes. */
async function memoryLine(bench: Bench): Promise<Line> {
  const bare = await perConnection(bench, bench.bare)
  const weir = await perConnection(bench, bench.weir)
  const kilobytes = (value: number) => `${value.toFixed(0)} KB`
  const line = pairLine('memory per subscribed connection (of 1 000)', { bare, weir, ratio: weir / bare }, kilobytes)
  return { ...line, goal: `≤ ${MEMORY_GOAL_KB} KB`, met: weir <= MEMORY_GOAL_KB }
}

async function perConnection({ load }: Bench, { name, memory }: Target): Promise<number> {
  const settle = () => new Promise((resolve) => setTimeout(resolve, MEMORY_SETTLE_MS))
  await load.call('resize', name, WARM)
  await settle()
  const before = memory()
  await load.call('resize', name, WARM + MEMORY_SOCKETS)
  // Every socket has been sent something, as in use.
  await load.call('pace', name, 'single', 10, 69)
  await settle()
  return (memory() - before) / 1024 / MEMORY_SOCKETS
}

/** Of a p99, twenty blocks are above; of clients of several kinds six. */
const LATENCY_ROUNDS = { 'one coin': 10, mixed: 3 } as const
const LATENCY_NAMES = {
  'one coin': 'clients',
  mixed: 'clients, of whom 50 take all coins and 200 lists of 1 000 wallets each,',
} as const

/**
 * From the feeder's write to the client's read at the exchange's own rate: sixty coins change in every block. For the
 * middle and the last of so many clients, p50 and p99 over the blocks of all rounds.
 */
async function latencyLines(bench: Bench, sockets: number, crowd: keyof typeof LATENCY_ROUNDS): Promise<Line[]> {
  const { load, quick, say } = bench
  await resizeBoth(bench, sockets, crowd)
  const [rounds, blocks] = quick ? [1, 30] : [LATENCY_ROUNDS[crowd], 200]
  const outcomes = await alternate(bench, rounds, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'market', blocks, EVERY_MS)
  })
  const bare = outcomes.bare.at(-1)!
  const weir = outcomes.weir.at(-1)!
  const used = spent(outcomes, 'bare', (outcome) => outcome.blocks)
  say(`  worst block ${ms(bare.last.max)} bare, ${ms(weir.last.max)} Weir`)
  return (['middle', 'last'] as const).flatMap((client) =>
    (['p50', 'p99'] as const).map((name) => {
      const figures = { bare: bare[client][name], weir: weir[client][name] }
      const what = `feed to the ${client} of ${whole(sockets)} ${LATENCY_NAMES[crowd]} at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s, ${name} of ${whole(rounds * blocks)} blocks`
      return { ...pairLine(what, { ...figures, ratio: figures.weir / figures.bare }, ms, { most: 1.15 }), ...used }
    }),
  )
}

/** Blocks as fast as they go out: messages per second to so many sockets, all of one body or of a hundred. */
async function fanOutLine(bench: Bench, sockets: number, crowd: 'one coin' | 'distinct'): Promise<Line> {
  const { load, quick } = bench
  await resizeBoth(bench, sockets, crowd)
  const outcomes = await alternate(bench, quick ? 1 : 10, async ({ name }) => {
    await load.call('ping', name)
    return load.call('saturate', name, 'single', IN_FLIGHT, 700)
  })
  const what = `fan-out of one coin to ${whole(sockets)} sockets${crowd === 'distinct' ? ` of ${DISTINCT} bodies` : ''}, saturated`
  const rate = compared(outcomes, 'bare', ({ framesPerSecond }) => framesPerSecond)
  return { ...pairLine(what, rate, messages, { least: 0.9 }), ...spent(outcomes, 'bare', ({ frames }) => frames) }
}

/** What is asked for over /ws and over /graphql, and the blocks that bring it. */
const GRAPHQL = {
  'one coin': { ws: 'l2BookDiff', weir: 'graphql', block: 'traded' },
  'a part of all coins': { ws: 'all coins', weir: 'part over graphql', block: 'market' },
} as const

/** The same books over /ws and /graphql in turn; every client of GraphQL has an id of its own, as clients have it. */
async function graphqlLine(bench: Bench, sockets: number, kind: keyof typeof GRAPHQL): Promise<Line> {
  const { load, quick, weir } = bench
  const outcomes = await inTurn(bench, { ws: weir, weir }, quick ? 1 : 6, async ({ name }, way) => {
    await load.call('resize', name, sockets, GRAPHQL[kind][way])
    await load.call('ping', name)
    return load.call('saturate', name, GRAPHQL[kind].block, IN_FLIGHT, 700)
  })
  const what = `fan-out of ${kind} over GraphQL to ${whole(sockets)} sockets, against /ws`
  const rate = compared(outcomes, 'ws', ({ framesPerSecond }) => framesPerSecond)
  return { ...pairLine(what, rate, messages, { least: 0.8 }), ...spent(outcomes, 'ws', ({ frames }) => frames) }
}

const CHANNEL_SOCKETS = 300

/** CPU per frame of each channel against one of `l2BookDiff`: the same block to as many sockets, one frame each. */
async function channelLines(bench: Bench): Promise<Line[]> {
  const { load, quick, weir } = bench
  const lines: Line[] = []
  for (const channel of ['trades', 'bbo', 'l2Book'] as const) {
    const outcomes = await inTurn(bench, { bare: weir, weir }, quick ? 1 : 3, async (target, way) => {
      await load.call('resize', 'weir', CHANNEL_SOCKETS, way === 'bare' ? 'l2BookDiff' : channel)
      await load.call('ping', 'weir')
      const before = target.cpuMs()
      const { frames } = await load.call('saturate', 'weir', 'traded', IN_FLIGHT, quick ? 1000 : 3000)
      return { usPerFrame: ((target.cpuMs() - before) * 1000) / frames }
    })
    const what = `CPU of a frame of \`${channel}\` to each of ${whole(CHANNEL_SOCKETS)} sockets`
    const figures = compared(outcomes, 'bare', ({ usPerFrame }) => usPerFrame)
    lines.push(pairLine(what, figures, us, { most: 1, base: '`l2BookDiff`' }))
  }
  return lines
}

const BBO_CLIENTS = 10
const BBO_GOAL_KB = 5
/** One changed level and nothing else: less says nothing. */
const LEVEL_BYTES = '{"px":"81307.0","sz":"3.36432","n":8}'.length

/** The best levels of all coins at the exchange's rate: bytes a second to a client, and CPU per frame. */
async function bboLines(bench: Bench): Promise<Line[]> {
  const { load, quick } = bench
  await resizeBoth(bench, BBO_CLIENTS, 'bbo of all')
  const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'market', quick ? 30 : 145, EVERY_MS)
  })
  const { frames, bytes, blocks } = outcomes.weir.at(-1)!
  const framesPerSecond = (frames / BBO_CLIENTS / blocks) * EXCHANGE_BLOCKS_PER_SECOND
  const kbPerSecond = (perFrame: number) => (framesPerSecond * perFrame) / 1000
  const weir = kbPerSecond(bytes / frames)
  return [
    {
      what: `\`bbo\` of all ${COINS.length} coins at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s: a client takes ${whole(framesPerSecond)} frames a second of ${whole(bytes / frames)} bytes`,
      bare: `${kbPerSecond(LEVEL_BYTES).toFixed(1)} KB/s (of each one level of ${LEVEL_BYTES} bytes)`,
      weir: `${weir.toFixed(1)} KB/s`,
      goal: `< ${BBO_GOAL_KB} KB/s`,
      met: weir < BBO_GOAL_KB,
    },
    {
      what: `CPU of such a frame to each of ${BBO_CLIENTS} clients, that of the block it is of included`,
      weir: '',
      ...spent(outcomes, 'bare', (outcome) => outcome.frames),
    },
  ]
}

const STORM_CLIENTS = 1_000
const STORM_GOAL_MS = 2_000
const STORMS = [
  ['connected clients subscribe to a coin at once', 'one coin', 'single', true],
  ['connected clients subscribe to a coin with its Snapshot (15 KB) at once', 'l2BookDiff', 'traded', true],
  ['clients connect at once, and subscribe to a coin', 'one coin', 'single', false],
] as const

/** A thousand clients that come in the same moment, until the last of them has live data. */
async function stormLines(bench: Bench): Promise<Line[]> {
  const { load, quick, say } = bench
  const lines: Line[] = []
  for (const [what, crowd, kind, isConnected] of STORMS) {
    const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) =>
      load.call('storm', name, crowd, STORM_CLIENTS, isConnected, kind, EVERY_MS),
    )
    const { ackedMs, middleMs } = outcomes.weir.at(-1)!
    say(`  the last acknowledgement after ${ms(ackedMs)}, the middle one live after ${ms(middleMs)}`)
    const figures = compared(outcomes, 'bare', ({ lastMs }) => lastMs)
    lines.push({
      ...pairLine(`${whole(STORM_CLIENTS)} ${what}: the last is live after`, figures, ms),
      ...spent(outcomes, 'bare', () => STORM_CLIENTS),
      ...(isConnected && { goal: `≤ ${ms(STORM_GOAL_MS)}`, met: figures.weir <= STORM_GOAL_MS }),
    })
  }
  return lines
}

const ORDER_SOCKETS = 300
const FOLLOWERS = 3

/** p50 and p99 of the last client of level books, with nobody and with some who follow every order of the same coin. */
async function orderLines({ load, quick, weir, say }: Bench): Promise<Line[]> {
  const [rounds, blocks] = quick ? [1, 30] : [5, 200]
  const outcomes = await inTurn({ load }, { bare: weir, weir }, rounds, async (_, way) => {
    await load.call('resize', 'weir', ORDER_SOCKETS, 'one coin')
    const followers = way === 'bare' ? 0 : FOLLOWERS
    // All orders are of a block that has come since they were asked for.
    while ((await load.call('follow', 'weir', followers)) === null)
      await load.call('pace', 'weir', 'empty', 10, EVERY_MS)
    await load.call('ping', 'weir')
    const before = await load.call('follow', 'weir', followers)
    const { last } = await load.call('pace', 'weir', 'market', blocks, EVERY_MS)
    return { last, blocks, told: (await load.call('follow', 'weir', followers))! - before! }
  })
  await load.call('follow', 'weir', 0)
  say(`  told of blocks with all orders, of ${blocks}: ${outcomes.weir.map(({ told }) => told).join(', ')}`)
  if (outcomes.weir.some(({ told }) => told < blocks)) throw new Error('who follows orders was not told of all blocks')
  const used = spent(outcomes, 'bare', (outcome) => outcome.blocks)
  return (['p50', 'p99'] as const).map((name) => {
    const figures = compared(outcomes, 'bare', ({ last }) => last[name])
    const what = `feed to the last of ${whole(ORDER_SOCKETS)} clients, ${name}, while ${FOLLOWERS} others take 5.6 MB of orders a second each`
    return { ...pairLine(what, figures, ms, { most: 1.15, base: 'nobody does' }), ...used }
  })
}

/** Blocks ahead of the acknowledgements: about 4 MiB, a sixteenth of what a feeder holds. */
const INGEST_IN_FLIGHT = 256
/** In a round a client gets 14 MB: more than 16 MiB without its ping being read would end it (local workerd reads no
 * other socket while one has always something to read). */
const INGEST_BLOCKS = 900

/** All-market blocks per second, acknowledged and delivered to a client of all its coins. */
async function ingestLine({ load, quick }: Bench): Promise<Line> {
  await load.call('resize', 'weir', 1, 'sixty coins')
  const rates: number[] = []
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    await load.call('ping', 'weir')
    rates.push((await load.call('ingest', 'weir', 'market', INGEST_IN_FLIGHT, INGEST_BLOCKS)).perSecond)
  }
  return exchangeLine(
    `ingest of all markets (${COINS_PER_BLOCK} coins, 300 levels, 4 fills a block)`,
    median(rates),
    10,
  )
}

const WORST_GOAL_MS = 10

/** From the write of the worst block to its whole frame at a client of all coins, beyond an echo of that frame. */
async function worstBlockLine(bench: Bench): Promise<Line> {
  const { load, quick } = bench
  await resizeBoth(bench, 1, 'all coins')
  const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'worst', quick ? 10 : 12, 80)
  })
  const { bare, weir } = compared(outcomes, 'bare', ({ last }) => last.p50)
  return {
    what: `the worst recorded block (${whole(WORST_CHANGES)} changes) to a client of all coins, p50`,
    bare: `${ms(bare)} (echo)`,
    weir: ms(weir),
    ratio: `+${ms(weir - bare)}`,
    goal: `< +${WORST_GOAL_MS} ms`,
    met: weir - bare < WORST_GOAL_MS,
  }
}

/** In this order: memory needs fresh processes, and fewer sockets come after more. */
export const STREAM_SECTIONS = {
  memory: async (bench) => [await memoryLine(bench)],
  latency: async (bench) => [
    ...(await latencyLines(bench, 1000, 'one coin')),
    ...(await latencyLines(bench, 300, 'one coin')),
  ],
  mixed: (bench) => latencyLines(bench, 1000, 'mixed'),
  'fan-out': async (bench) => [await fanOutLine(bench, 1000, 'one coin'), await fanOutLine(bench, 100, 'one coin')],
  distinct: async (bench) => [await fanOutLine(bench, 1000, 'distinct')],
  graphql: async (bench) => [
    await graphqlLine(bench, 1000, 'one coin'),
    await graphqlLine(bench, 100, 'one coin'),
    await graphqlLine(bench, 200, 'a part of all coins'),
  ],
  channels: channelLines,
  bbo: bboLines,
  deflate: async (bench) => [await deflateLine(bench)],
  storm: stormLines,
  orders: orderLines,
  ingest: async (bench) => [await ingestLine(bench)],
  worst: async (bench) => [await worstBlockLine(bench)],
} as const satisfies Readonly<Record<string, (bench: Bench) => Promise<Line[]>>>
