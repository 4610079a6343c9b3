// Runs pipelines of two topics to a webhook that loses responses, to objects and to tables, while the gateway,
// workerd and the destinations are killed. Invariant: every row arrives, once per key and in order, and is charged
// once.

import { setTimeout as sleep } from 'node:timers/promises'
import { RunningFeeder } from '../../kit/feeder.ts'
import { seededRandom } from '../../kit/random.ts'
import { until } from '../../kit/until.ts'
import { buildPlant, Plant } from '../plant/plant.node.ts'
import { blockOf, evmHeadAt, FIRST, logsTo, startEvmNode, tidsTo } from './chain.ts'
import { type Destination, type Destinations, recordOf, startDestinations } from './destinations.ts'

export interface KillsOrder {
  readonly kills: number
  readonly seed: number
  say(line: string): void
}

const BLOCKS_A_TICK = 25
const TICK_MS = 250
const PATIENCE_MS = 240_000
const ROWS_A_CREDIT = 10_000

/** Answers after how many kills of what; throws where a row is missing, twice there, or out of order. */
export async function killsRun({ kills, seed, say }: KillsOrder): Promise<Record<string, number>> {
  await buildPlant()
  const draw = seededRandom(seed)
  const node = await startEvmNode()
  const plant = new Plant([{ name: 'evm', urls: [node.url] }])
  const destinations = await startDestinations(plant, draw)
  const struck: Record<string, number> = { workerd: 0, gateway: 0, destination: 0, sql: 0 }
  let feeder: RunningFeeder | null = null
  try {
    await plant.start()
    const owner = await plant.owner('1000')
    feeder = new RunningFeeder(plant.ws, FIRST, blockOf)
    for (const destination of destinations.all) await plant.apply(recordOf(destination, owner))
    let head = FIRST
    const advance = (blocks: number) => {
      head += blocks
      feeder!.advance(head)
      node.advance(head)
    }
    advance(150)
    await archived(plant)
    for (const which of ['workerd', 'process'] as const) {
      await killedSql(plant, which, () => advance(BLOCKS_A_TICK))
      struck.sql!++
    }
    for (let done = 0; done < kills; ) {
      for (let ticks = 4 + Math.floor(draw() * 28); ticks > 0; ticks--) {
        advance(BLOCKS_A_TICK)
        look(plant, destinations.all[ticks % destinations.all.length]!)
        await sleep(TICK_MS)
      }
      const what = await strike(draw(), plant, destinations)
      if (what === null) continue
      struck[what]!++
      done++
      say(`kill ${done} of ${kills}: ${what}, at block ${head}`)
    }
    if (plant.isOver) await plant.start()
    const counts: Record<string, number> = {}
    for (const destination of destinations.all) {
      const end = destination.record.topic === 'evm_logs' ? evmHeadAt(head) : head
      const ended = { execution_mode: 'bounded', execution_stop_from: String(end), revision: 2 } as const
      await plant.apply({ ...recordOf(destination, owner), ...ended })
      await finished(plant, destination)
      counts[destination.id] = await compare(destination, destination.record.topic ? logsTo(end) : tidsTo(end))
    }
    const rows = Object.values(counts).reduce((sum, count) => sum + count)
    await charged(plant, owner.account, rows)
    return { ...struck, ...counts, rows, ...destinations.counts() }
  } finally {
    feeder?.end()
    node.close()
    await plant.end()
    await destinations.end()
    plant.remove()
  }
}

/** One that was killed amid its work goes on sooner where somebody looks, so that the next kill strikes it at work. */
function look(plant: Plant, { id }: Destination): void {
  plant.sink(id, 'status', {}, 0).catch(() => undefined)
}

async function strike(at: number, plant: Plant, destinations: Destinations): Promise<string | null> {
  if (plant.isOver) await plant.start()
  // Killed as it starts, it is not started again.
  if (at < 0.5) return (await answers(plant)) && plant.killWorkerd() ? 'workerd' : null
  if (at < 0.7) {
    await plant.end()
    await plant.start()
    return 'gateway'
  }
  await destinations.strike()
  return 'destination'
}

/** Amid batches with transforms, and again once there is another one. */
async function killedSql(plant: Plant, which: 'workerd' | 'process', advance: () => void): Promise<void> {
  const isKilled = () => {
    advance()
    return plant.killSql(which)
  }
  await until(isKilled, `nothing runs SQL: no ${which}`, { withinMs: PATIENCE_MS, everyMs: TICK_MS })
}

const answers = (plant: Plant) =>
  plant.status().then(
    () => true,
    () => false,
  )

/**
 * The log keeps what is to be archived from when it has heard of an archive. Times run ahead here: what a destination does
 * not take within seconds would be older than the log's window before that, and be told as a gap.
 */
interface Archived {
  readonly archive: { readonly height: number | null } | null
}

async function archived(plant: Plant): Promise<void> {
  const isArchived = async () => (await plant.status<Archived>()).archive?.height
  await until(async () => Boolean(await isArchived()), 'nothing is archived', { withinMs: PATIENCE_MS })
}

/** It was told of an end, so that what gathers is not waited for. */
async function finished(plant: Plant, { id }: Destination): Promise<void> {
  const isFinished = async () => (await plant.statusOf(id)).phase === 'finished'
  await until(isFinished, `${id} stands still`, { withinMs: PATIENCE_MS })
}

/** Neither lost nor charged twice. */
async function charged(plant: Plant, account: string, rows: number): Promise<void> {
  for (const untilMs = Date.now() + 30_000; ; await sleep(200)) {
    const path = `/accounts/${account}`
    const { spent, written_off } = await plant.ask<{ spent: string; written_off: string }>('GET', path)
    const { totals } = await plant.ask<{ totals: { pipeline_rows: number } }>('GET', `${path}/usage`)
    const paid = Math.round((Number(spent) + Number(written_off)) * ROWS_A_CREDIT)
    if (paid === rows && totals.pipeline_rows === rows) return
    if (paid > rows || Date.now() > untilMs)
      throw new Error(`${rows} rows arrived: spent ${spent}, written off ${written_off}, ${JSON.stringify(totals)}`)
  }
}

async function compare(destination: Destination, expected: readonly number[]): Promise<number> {
  const { id } = destination
  const rows = await destination.rows()
  const notes = rows.filter(({ _kind }) => _kind !== 'row')
  if (notes.length > 0) throw new Error(`${id}: told of ${JSON.stringify(notes.slice(0, 9))}`)
  const found = rows.map(({ tid }) => tid)
  const had = new Set(found)
  const missing = expected.filter((tid) => !had.has(tid))
  if (missing.length > 0) throw new Error(`${id}: ${missing.length} rows are missing: ${missing.slice(0, 9).join()}`)
  if (found.length !== expected.length) throw new Error(`${id}: ${found.length} rows in place of ${expected.length}`)
  const wrong = found.findIndex((tid, at) => tid !== expected[at])
  if (wrong >= 0) throw new Error(`${id}: row ${found[wrong]} in place of ${expected[wrong]}`)
  return found.length
}
