// One soak: starts everything, runs clients and faults, compares and audits. Invariant: it always ends within its
// limits with its findings so far, and leaves no process and no file.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listedCoins } from '../../src/client/subscription.ts'
import { MINUTE_MS } from '../../src/core/time.ts'
import { Prng, seedState } from '../../src/devnet/exchange/prng.ts'
import type { Trade } from '../../src/protocol/feed/trades.ts'
import type { InfoRequest } from '../../src/relay/channel.ts'
import { hashOf } from '../kit/book-hash.ts'
import { until } from '../kit/until.ts'
import { WorkerProcess } from '../kit/worker-process.ts'
import { churn } from './churn.node.ts'
import type { Crew } from './clients.node.ts'
import { faultPlan, isRestart, strike } from './faults.node.ts'
import { heapReport } from './heap.node.ts'
import { audit, issueKeys, type Keyed } from './ledger.node.ts'
import { giveWay, Machine } from './machine.node.ts'
import { mixOf } from './mix.ts'
import { NodeRows } from './node-rows.node.ts'
import { lookAtPast, type Truth } from './past.node.ts'
import { Plant, type Scale } from './plant.node.ts'
import { type Quiet, quietEnd } from './quiet.node.ts'
import type { Comparison, Findings } from './table.ts'

export interface SoakOrder extends Scale {
  readonly minutes: number
  readonly clients: number
  readonly faultEveryMs: number
  /** That come and go in the end, while memory is measured. */
  readonly connections: number
  readonly state: string
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/** All must be up so long after the start, and so long after the last fault. */
const UP_MS = 300_000
const FELT_MS = 5_000
const CALM_MS = 90_000
const COMPARE_EVERY_MS = 180_000
const PROGRESS_MS = 30_000
/** Books of the exchange for the archive to be held against. Devnet hashes all of them, at mainnet size for a second. */
const TRUTH_MS = { small: 2_000, mainnet: 15_000 }
const TRUTHS_MOST = 2_000
const LOOK_MS = 2_000
const CONNECT_EVERY_MS = 40
const OPEN_AT_ONCE = 50
/** Some ninety seconds: what is looked at in them lies within one minute of candles if they begin so early in it. */
const QUIET_BLOCKS = 1_300
const IN_A_MINUTE_MS = 8_000
const LATE_IN_A_MINUTE_MS = 38_000
/** Of a wildcard while the run goes on; all of them in the end. */
const SOME_COINS = 40
/** Heights ahead of the log at which books are compared, and how far it must be beyond before they are. */
const AHEAD = 200
const MOST_AHEAD = 20_000
const REFUSED_WITHIN_MS = 2_000
const BEYOND = 40
const SETTLE_MS = 8_000
const COMPARE_WITHIN_MS = 120_000
/** Of a listed market in which nobody trades: the exchange tells of none. */
const NO_ORDERS = hashOf([[], []])

export async function soak(order: SoakOrder): Promise<Findings> {
  const plant = await Plant.start(order.state, order, order.say)
  const crew = startCrew()
  const run = new Run(order, plant, crew)
  try {
    return await run.all()
  } finally {
    crew.stop()
    await plant.stop()
  }
}

function startCrew(): Crew {
  const crew: Crew = new WorkerProcess(join(import.meta.dirname, 'clients.node.ts'), 180_000, {
    execArgv: ['--max-old-space-size=6000'],
    // A Ctrl-C is for the parent, who asks for what there is so far.
    detached: true,
  })
  giveWay(crew.pid)
  return crew
}

class Run {
  readonly #order: SoakOrder
  readonly #plant: Plant
  readonly #crew: Crew
  readonly #chance: Prng
  readonly #machine = new Machine()
  readonly #faults: string[] = []
  readonly #comparisons: Comparison[] = []
  readonly #troubles: string[] = []
  readonly #epochs = new Set<unknown>()
  readonly #truths: Truth[] = []
  #clients: Keyed[] = []
  #coins: readonly string[] = []
  #startMs = 0
  #liveMs = 0
  /** Of nobody's client. */
  #key = ''
  #rows: NodeRows | null = null
  #heights: { first: number; last: number } | null = null
  /** Behind the last fault. */
  #calmHeight = 0
  #gaps = 0

  constructor(order: SoakOrder, plant: Plant, crew: Crew) {
    this.#order = order
    this.#plant = plant
    this.#crew = crew
    this.#chance = new Prng(seedState(order.seed))
  }

  async all(): Promise<Findings> {
    const looking = setInterval(() => void this.#look(), LOOK_MS)
    const telling = setInterval(() => void this.#tell(), PROGRESS_MS)
    const truths = setInterval(() => void this.#takeTruth(), TRUTH_MS[this.#order.scale])
    await this.#step(async () => {
      await this.#open()
      await this.#storm()
    })
    // Each of these is worth having, whatever became of the others.
    this.#order.say('calm: all must be live')
    this.#calmHeight = this.#heights?.last ?? 0
    // The last fault takes its time to be felt: before it is, all seem to be live.
    await sleep(FELT_MS, undefined, { signal: this.#order.signal }).catch(() => {})
    if (this.#plant.pids()['second feeder'] !== undefined) await this.#plant.toggleSecondFeeder()
    const missing = (await this.#step(() => this.#allLive(CALM_MS))) ?? []
    await this.#step(() => this.#compare(null))
    const quiet = await this.#step(() => this.#quiet())
    clearInterval(truths)
    const past = await this.#step(() => this.#past())
    const heap = await this.#step(() => heapReport(this.#plant.inspector))
    const churned = await this.#step(() => this.#churn())
    const tallies = (await this.#step(() => this.#crew.call('end'))) ?? []
    const audited = await this.#step(() => audit(this.#plant, this.#clients, tallies))
    clearInterval(looking)
    clearInterval(telling)
    return {
      ...this.#order,
      minutes: Math.min(this.#order.minutes, this.#minutes()),
      clients: this.#clients.length,
      blocks: this.#heights ? this.#heights.last - this.#heights.first : 0,
      gaps: this.#gaps,
      epochs: this.#epochs.size,
      faults: this.#faults,
      absences: tallies.flatMap(({ number, absences }) =>
        absences.map((absence) => ({ ...absence, client: `client ${number}`, kind: this.#clients[number]!.kind })),
      ),
      missing,
      comparisons: this.#comparisons,
      quiet,
      past,
      audit: audited,
      heap,
      churn: churned,
      taken: this.#machine.taken(),
      busy: this.#machine.busy,
      troubles: [...this.#troubles, ...(this.#rows?.troubles ?? [])],
    }
  }

  /** Makes the exchange quiet, and looks at what everybody was told. */
  async #quiet(): Promise<Quiet> {
    await sleep(quietInMs(this.#liveMs, Date.now()), undefined, { signal: this.#order.signal }).catch(() => {})
    this.#order.say('quiet: the exchange rests')
    await this.#crew.call('rest')
    const height = await this.#plant.disturb({ what: 'quiet', blocks: QUIET_BLOCKS })
    const rows = this.#rows!
    await this.#passes(height, () => rows.height > height)
    rows.stop()
    const askers = {
      exchange: (question: InfoRequest) => this.#plant.answerOf('exchange', question),
      gateway: (question: InfoRequest) => this.#plant.answerOf('gateway', question, this.#key),
      coins: this.#coins,
    }
    return quietEnd(this.#crew, askers, this.#clients, rows)
  }

  #past() {
    const { rows } = this.#rows!
    const fills = rows.filter(({ of }) => of === 'fill')
    // Books that begin anew are said not to be known until they do.
    const isAnew = this.#epochs.size > 1
    return lookAtPast({
      reaches: this.#calmHeight,
      mayLackBooks: (_, reason) => isAnew && /are unknown|books restarted/.test(reason),
      mayMiss: (_, to) => isAnew && to === undefined,
      plant: this.#plant,
      key: this.#key,
      truths: this.#truths,
      fills,
      chance: this.#chance,
    })
  }

  async #churn() {
    const { connections, say } = this.#order
    const order = { plan: 'enterprise', credits: String(100 + 4 * connections) }
    const { key } = await this.#plant.operate<{ key: string }>('POST', '/keys', order)
    const { url, inspector } = this.#plant
    const found = await churn({ url, inspector, key, coins: this.#coins, connections })
    say(`${connections} connections came and went`)
    return found
  }

  async #takeTruth(): Promise<void> {
    if (this.#startMs === 0 || this.#truths.length >= TRUTHS_MOST) return
    const truth = await this.#plant.truth().catch(() => null)
    if (truth) this.#truths.push({ ...truth, atMs: Date.now() })
  }

  /** What a part of the run comes to; null, and a note, where it breaks. */
  async #step<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      this.#troubles.push(`the run broke: ${(error as Error).stack}`)
      return null
    }
  }

  /** Waits for the feed, makes accounts and keys, and connects everybody. */
  async #open(): Promise<void> {
    const { say, clients, signal } = this.#order
    await until(async () => (await this.#plant.now())?.state === 'live', 'the feed is not live', {
      withinMs: UP_MS,
      signal,
    })
    this.#liveMs = Date.now()
    this.#coins = Object.keys((await this.#plant.truth())!.books)
    const rows = new NodeRows(join(this.#order.state, 'node'))
    this.#rows = rows
    const { key } = await this.#plant.operate<{ key: string }>('POST', '/keys', {
      plan: 'enterprise',
      credits: '10000',
    })
    this.#key = key
    const { wallets, takers } = await this.#wallets()
    rows.want(wallets)
    await until(async () => rows.builders().length > 0, 'no fill has a builder', { withinMs: UP_MS, signal })
    const listed = { coins: this.#coins, wallets, takers, builders: rows.builders() }
    const plans = mixOf(clients, listed, this.#chance)
    this.#clients = await issueKeys(this.#plant, plans)
    say(`${this.#coins.length} coins, ${this.#clients.length} clients with keys of their own`)
    this.#startMs = performance.now()
    const ways = this.#plant.clientWays
    const placed = this.#clients.map((client) => ({ ...client, url: ways[client.number % ways.length]!.url }))
    // In parts, since a process of clients that is busy joining takes its time for each, and a call is bounded.
    for (let from = 0; from < placed.length; from += OPEN_AT_ONCE) {
      const plans = placed.slice(from, from + OPEN_AT_ONCE)
      await this.#crew.call('open', { plans, coins: this.#coins, wallets, everyMs: CONNECT_EVERY_MS })
    }
    for (const one of await this.#allLive(UP_MS)) this.#troubles.push(`not live in the beginning: ${one}`)
  }

  async #storm(): Promise<void> {
    const { minutes, faultEveryMs, signal, say } = this.#order
    const beganMs = performance.now()
    const passed = () => performance.now() - beganMs
    let comparing: Promise<void> | null = null
    let comparedMs = 0
    for (const [number, { atMs, kind }] of faultPlan(minutes * 60_000, faultEveryMs, this.#chance).entries()) {
      await sleep(Math.max(0, atMs - passed()), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      say(`fault ${number + 1}: ${kind}`)
      this.#faults.push(kind)
      await this.#crew.call('fault', isRestart(kind))
      strike(this.#plant, kind, number).catch((error) => this.#troubles.push(`${kind}: ${(error as Error).message}`))
      if (comparing !== null || passed() - comparedMs < COMPARE_EVERY_MS) continue
      comparedMs = passed()
      comparing = this.#compare(this.#some())
        .catch((error) => void this.#troubles.push(`comparison: ${(error as Error).message}`))
        .finally(() => {
          comparing = null
        })
    }
    await comparing
  }

  /** Who is not live in the end, in words; nobody, or after `withinMs`. */
  async #allLive(withinMs: number): Promise<string[]> {
    const deadline = Date.now() + withinMs
    for (;;) {
      const missing = await this.#crew.call('missing')
      if (missing.length === 0 || Date.now() > deadline || this.#order.signal.aborted)
        return missing.map(
          ({ number, kind, badMs, ends }) =>
            `client ${number} (${kind}) for ${Math.round(badMs / 1000)} s, ended with ${JSON.stringify(ends)}`,
        )
      await sleep(1_000)
    }
  }

  /** Catches everybody's books at one height to come, and compares them; `some`: coins of wildcards, null for all. */
  async #compare(some: readonly string[] | null): Promise<void> {
    const { height, truth } = await this.#heightToCome()
    await this.#crew.call('capture', height)
    const known = await truth
    if (known === null) throw new Error(`the exchange does not tell of height ${height}`)
    await this.#passes(height)
    await sleep(SETTLE_MS)
    const captured = await this.#crew.call('captured', some)
    const books = Object.entries(captured).flatMap(([client, hashes]) =>
      Object.entries(hashes).map(([coin, hash]) => ({ client, coin, hash })),
    )
    const wrong = books.filter(({ coin, hash }) => (known.books[coin] ?? NO_ORDERS) !== hash)
    const isWhole = ({ number, bodies: [body] }: Keyed) =>
      (listedCoins(body!) ?? some ?? this.#coins).every((coin) => captured[number]![coin] !== undefined)
    const asked = this.#clients.filter(({ number }) => captured[number] !== undefined)
    this.#comparisons.push({
      height,
      clients: asked.length,
      books: books.length,
      wrong: wrong.map(({ client, coin }) => `client ${client} ${coin}`),
      absent: asked.filter((client) => !isWhole(client)).length,
    })
    this.#order.say(`height ${height}: ${books.length} books compared, ${wrong.length} wrong`)
  }

  /** A height that the exchange, which may be far ahead of the log, has not reached, and its answer in time. */
  async #heightToCome() {
    const last = Number((await this.#plant.now())?.height ?? 0)
    for (let height = last + AHEAD; height < last + MOST_AHEAD; height += 2 * AHEAD) {
      const truth = this.#plant.truth(height)
      if ((await Promise.race([truth, sleep(REFUSED_WITHIN_MS, 'waits')])) !== null) return { height, truth }
    }
    throw new Error(`the exchange is more than ${MOST_AHEAD} heights ahead of the log`)
  }

  async #passes(height: number, holds = () => true): Promise<void> {
    const isBeyond = async () => Number((await this.#plant.now())?.height) > height + BEYOND && holds()
    await until(isBeyond, `the log does not come to height ${height}`, { withinMs: COMPARE_WITHIN_MS })
  }

  #some(): string[] {
    const pick = () => this.#coins[this.#chance.below(this.#coins.length)]!
    return [...new Set(Array.from({ length: SOME_COINS }, pick))]
  }

  /** Some that trade. */
  async #wallets(): Promise<Record<'wallets' | 'takers', string[]>> {
    const wallets = new Set<string>()
    const takers = new Set<string>()
    await until(
      async () => {
        for (const coin of this.#coins.slice(0, 5)) {
          const trades = await this.#plant.answerOf('gateway', { type: 'recentTrades', coin }, this.#key)
          for (const { side, users } of trades as unknown as Trade[]) {
            for (const user of users) wallets.add(user)
            takers.add(users[side === 'B' ? 0 : 1])
          }
        }
        return takers.size >= 5
      },
      'nobody trades',
      { withinMs: UP_MS, signal: this.#order.signal },
    )
    return { wallets: [...wallets].sort(), takers: [...takers].sort() }
  }

  async #look(): Promise<void> {
    this.#machine.look({ ...this.#plant.pids(), 'process of clients': this.#crew.pid, 'soak itself': process.pid })
    const status = await this.#plant.now()
    if (status === null || typeof status.height !== 'number') return
    this.#heights = { first: this.#heights?.first ?? status.height, last: status.height }
    this.#gaps = (status.gaps as unknown[]).length
    this.#epochs.add(status.epoch)
  }

  #minutes(): number {
    return this.#startMs === 0 ? 0 : (performance.now() - this.#startMs) / 60_000
  }

  async #tell(): Promise<void> {
    const missing = await this.#crew.call('missing').catch(() => [])
    const names = missing.map(({ number, kind }) => ` (${number} ${kind})`)
    const memory = this.#machine.taken().map(({ name, peakMb }) => `${name} ${peakMb.toFixed(0)}`)
    this.#order.say(
      `${this.#minutes().toFixed(1)} min, height ${this.#heights?.last ?? '?'}, ${this.#faults.length} faults, ` +
        `${missing.length} not live${names.join('')}, ${this.#gaps} gaps, MB at most: ${memory.join(', ')}`,
    )
  }
}

/** Until a whole minute of candles lies behind the beginning, and not late in one. */
function quietInMs(liveMs: number, nowMs: number): number {
  const wholeMs = (Math.ceil(liveMs / MINUTE_MS) + 1) * MINUTE_MS + IN_A_MINUTE_MS
  const nextMs = MINUTE_MS - (nowMs % MINUTE_MS) + IN_A_MINUTE_MS
  return Math.max(wholeMs - nowMs, nowMs % MINUTE_MS > LATE_IN_A_MINUTE_MS ? nextMs : 0, 0)
}
