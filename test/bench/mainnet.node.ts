// Measures the whole product at the exchange's size, from files to clients: the cost of a block, the speed at which
// a backlog is processed, how long clients of all books wait for them, how long the feeder pauses, and how much each
// object stores. There is no bare baseline, because no bare target does the same. The goals are times and memory
// sizes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { BookReplicas } from '../kit/book-replicas.ts'
import { scratch } from '../kit/program.ts'
import { until } from '../kit/until.ts'
import { heapReport } from '../soak/heap.node.ts'
import { readProcess } from '../soak/machine.node.ts'
import { Plant } from '../soak/plant.node.ts'
import { exchangeLine, type Line, ms, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const SIZE = { scale: 'mainnet', seed: 1, fundingBlocks: 9_000 } as const
const READY_MS = 300_000
const JOINED_MS = 120_000
const JOIN_GOAL_MS = 10_000
const TOGETHER = 4
const STALL_GOAL_MS = 20
const OBJECT_GOAL_MB = 100
const WORKING = ['devnet', 'feeder', 'workerd'] as const

/** All figures of one plant, which is started and stopped here. */
export async function mainnetLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  const folder = scratch()
  const plant = await Plant.start(folder.path, SIZE, say)
  try {
    await until(async () => (await plant.now())?.state === 'live', 'the feed is not live', { withinMs: READY_MS })
    const coins = Object.keys((await plant.truth())!.books)
    return [
      ...(await steadyLines(plant, quick)),
      await backlogLine(plant, quick),
      await joinLine(plant, coins, 1),
      await joinLine(plant, coins, TOGETHER),
      stallLine(plant),
      ...(await heapLines(plant)),
    ]
  } finally {
    await plant.stop()
    folder.remove()
  }
}

/** CPU of each part for a block of all markets. */
async function steadyLines(plant: Plant, quick: boolean): Promise<Line[]> {
  const pids = plant.pids()
  const cpu = () => WORKING.map((name) => readProcess(pids[name])?.cpuMs ?? Number.NaN)
  const height = await heightOf(plant)
  const before = cpu()
  await sleep(quick ? 10_000 : 60_000)
  const blocks = (await heightOf(plant)) - height
  const used = cpu().map((after, at) => (after - before[at]!) / blocks)
  const what = `a block of ${SIZE.scale}: CPU of ${WORKING.join(', ')}`
  return [{ what, bare: '–', weir: used.map(ms).join(', ') }]
}

/** How fast the blocks of a feeder that stood still go through. */
async function backlogLine(plant: Plant, quick: boolean): Promise<Line> {
  plant.signal('feeder', 'SIGSTOP')
  await sleep(quick ? 5_000 : 20_000)
  const from = await heightOf(plant)
  plant.signal('feeder', 'SIGCONT')
  const beganMs = performance.now()
  const { height: goal } = (await plant.truth())!
  await until(async () => (await heightOf(plant)) >= goal, 'the backlog stays', { withinMs: READY_MS, everyMs: 200 })
  const rate = ((goal - from) * 1000) / (performance.now() - beganMs)
  return exchangeLine(
    `a backlog of ${whole(goal - from)} such blocks, from files to the log, all on this machine`,
    rate,
    2,
  )
}

/** Clients of all books of all markets that come at once, from their connecting to the last book of the last one. */
async function joinLine(plant: Plant, coins: readonly string[], clients: number): Promise<Line> {
  const { key } = await plant.operate<{ key: string }>('POST', '/keys', { plan: 'enterprise', credits: '100000' })
  const endpoint = { url: plant.url, key }
  const beganMs = performance.now()
  const connections = Array.from({ length: clients }, () => new Connection(nodeRuntime(), { endpoint: () => endpoint }))
  await Promise.all(connections.map((connection) => wholeBooks(connection, coins.length)))
  const lastMs = performance.now() - beganMs
  for (const connection of connections) connection.close()
  const isAlone = clients === 1
  return {
    what: `${isAlone ? 'a client' : `${clients} clients at once`} of all ${coins.length} books, all there after`,
    bare: '–',
    weir: ms(lastMs),
    ...(isAlone && { goal: `≤ ${ms(JOIN_GOAL_MS)}`, met: lastMs <= JOIN_GOAL_MS }),
  }
}

async function wholeBooks(connection: Connection, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const seen = new Set<string>()
  new BookReplicas(
    connection,
    { marketTypes: ['*'] },
    { changed: ({ coin }) => seen.add(coin).size >= count && resolve() },
  )
  connection.start()
  const late = sleep(JOINED_MS, 'late', { ref: false })
  if ((await Promise.race([promise, late])) === 'late')
    throw new Error(`${seen.size} of ${count} books in ${JOINED_MS} ms`)
}

/** The longest stretch in which the feeder read nothing, while it sent blocks; it says so itself every second. */
function stallLine(plant: Plant): Line {
  const lines = readFileSync(join(plant.state, 'log', 'feeder.log'), 'utf8').split('\n')
  const sending = lines.flatMap((line) => {
    const status = /\{"status":\{.*/.exec(line)
    return status ? [JSON.parse(status[0]) as { status: { state: string; stallMs: number } }] : []
  })
  const stalls = sending.filter(({ status }) => status.state === 'sending').map(({ status }) => status.stallMs)
  const worst = Math.max(0, ...stalls)
  return {
    what: `the feeder’s thread stands still at most, in ${whole(stalls.length)} s of sending`,
    bare: '–',
    weir: ms(worst),
    ratio: `${whole(stalls.filter((each) => each > 0).length)} s with more than ${STALL_GOAL_MS} ms`,
    goal: `≤ ${STALL_GOAL_MS} ms`,
    met: worst <= STALL_GOAL_MS,
  }
}

/** What the largest object of each class alone keeps alive. */
async function heapLines(plant: Plant): Promise<Line[]> {
  const { objects } = await heapReport(plant.inspector)
  return ['BlockLog', 'BookHub', 'Relay'].map((name) => {
    const mb = Math.max(...objects.filter((each) => each.name === name).map(({ bytes }) => bytes)) / 1e6
    return {
      what: `heap that the largest ${name} retains`,
      bare: '–',
      weir: `${mb.toFixed(1)} MB`,
      goal: `< ${OBJECT_GOAL_MB} MB`,
      met: mb < OBJECT_GOAL_MB,
    }
  })
}

const heightOf = async (plant: Plant) => Number((await plant.status())?.height ?? 0)
