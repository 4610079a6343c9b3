// One seed: a tiny exchange, feeders, the log, hubs, relays, meters and clients in one process and in virtual time,
// first under faults, then without them until everything is healthy.

import type { Identity } from '../../src/accounts/identity.ts'
import type { HttpResponse } from '../../src/client/runtime.ts'
import { ModelNode } from '../feeder/model-node.ts'
import { identityOf } from '../kit/identity.ts'
import { type ClientPorts, SimClient } from './client.ts'
import { drawn, FAULTS, type FaultName, type Stage } from './faults.ts'
import { SimFeeder } from './feeder.ts'
import { install } from './globals.node.ts'
import type { Witness } from './laws.ts'
import { MoneyLaw } from './money.ts'
import { type Classes, HUBS, Network, type TradesRequest } from './network.node.ts'
import { Schedule } from './schedule.ts'
import type { Wish } from './subscriptions.ts'
import { Truth, USERS } from './truth.ts'

const FIRST = 100
const BEFORE = 20
/** Blocks from one fault to the next: short runs have some, too. */
const faultEvery = (blocks: number) => Math.min(30, Math.max(5, blocks / 5))
/** After the last fault all is well within this time: sockets that are mute are found within half a minute. */
const WELL_MS = 180_000
/** Blocks of one look. */
const LOOK = 6
/** Longer than a hub is waited for. */
const STILL_MS = 2500
/** After all clients are gone their relays have told the meters, and sockets that were mute are found. */
const OVER_MS = 100_000
const BEGIN_MS = 2500
/** Shorter ones, of which there are thousands, have some of the clients alone. */
const LONG = 100
const FEW = 3
const LAST_EVENTS = 60
const MICRO = 1_000_000
const RICH = 1_000_000 * MICRO
/** One account has little, and is given more when it is broke. */
const LITTLE = 25 * MICRO
const POOR = 'account 2'
const TOP_UP_MS = 3000
/** Trades that the node's own HTTP shows. */
const UPSTREAM_ROWS = 10

/** What of the product runs. */
export interface Product extends Classes {
  /** Answers `l2BookDiffSnapshot` over the hubs. */
  snapshot(hub: (index: number) => object, coin: string): Promise<HttpResponse>
  /** Answers `recentTrades` over the log, and over the node's own answer where that has too few. */
  trades(from: TradesSources, request: TradesRequest): Promise<unknown>
}

interface TradesSources {
  readonly log: () => object
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly ask: () => string
}

export interface Outcome {
  readonly seed: number
  readonly blocks: number
  readonly virtualMs: number
  readonly faults: Readonly<Record<string, number>>
  readonly checked: Readonly<Record<string, number>>
  /** What did not hold, null where all did. */
  readonly violation: string | null
  /** The last that happened. */
  readonly events: readonly string[]
}

const LISTED = { coin: ['BTC', 'ETH', 'xyz:GOLD'] }
const EVERY = { marketTypes: ['*'] } as const
const WISHES: readonly (readonly Wish[])[] = [
  [
    { books: 'l2BookDiff', scope: EVERY },
    { events: 'allFills', of: ['*'] },
  ],
  [{ books: 'l2BookDiff', scope: LISTED }, { events: 'userFills', of: USERS.slice(0, 2) }, { bbo: 'BTC' }],
  [
    { books: 'l2BookDiff2', scope: EVERY },
    { events: 'userNonFundingLedgerUpdates', of: USERS },
    { events: 'orderUpdates', of: USERS.slice(0, 2) },
  ],
  [{ books: 'l2BookDiff2', scope: LISTED }, { events: 'trades', of: ['BTC'] }, { bbo: 'xyz:GOLD' }],
  [
    { books: 'l2BookDiff', scope: {} },
    { events: 'allFills', of: ['*'] },
    { events: 'userFills', of: USERS.slice(2) },
    { events: 'orderUpdates', of: USERS },
  ],
]

class World implements Stage {
  readonly schedule: Schedule
  readonly network: Network
  readonly node: ModelNode
  readonly feeders: readonly SimFeeder[]
  readonly clients: readonly SimClient[]
  readonly faults: Record<string, number> = {}
  readonly checked: Record<string, number> = {}
  readonly events: string[] = []
  violation: string | null = null
  blocks = 0
  readonly #truth: Truth
  readonly #money: MoneyLaw
  readonly #intervalMs: number
  readonly #isSkewed: boolean
  #first = FIRST
  #isPaused = false
  #pausedUntilMs = 0
  #isCalm = false
  /** Chance of a fault with each block. */
  #faults = 0

  constructor(seed: number, blocks: number, product: Product) {
    this.schedule = new Schedule(seed)
    this.#intervalMs = [100, 300, 1000][seed % 3]!
    this.#isSkewed = seed % 4 === 0
    this.node = new ModelNode(this.schedule.random, FIRST)
    this.#truth = new Truth(this.schedule)
    for (let i = 0; i < BEFORE; i++) this.#truth.grow(this.node, this.#intervalMs)
    this.#money = new MoneyLaw(this.wrong, this.#look, () => this.schedule.nowMs, !this.#isSkewed)
    this.network = new Network({
      classes: product,
      schedule: this.schedule,
      money: this.#money,
      intervalMs: this.#intervalMs,
      wrong: this.wrong,
      identityOf: (keyHash) => callerOf(this.clients.find(({ name }) => name === keyHash)!),
      trades: (log, request) => {
        const ask = () => JSON.stringify(this.#truth.recentTrades(request.coin, UPSTREAM_ROWS))
        const sleep = (ms: number) => new Promise<void>((resolve) => this.schedule.after(ms, resolve))
        return product.trades({ log, now: () => this.schedule.nowMs, sleep, ask }, request)
      },
    })
    this.feeders = ['f', 'g'].slice(0, 1 + (seed % 2)).map((name) => this.#feeder(name))
    const ports = this.#clientPorts(product)
    const count = blocks < LONG ? FEW : WISHES.length
    const wished = Array.from({ length: count }, (_, at) => WISHES[(at + seed) % WISHES.length]!)
    this.clients = wished.map((wishes, at) => new SimClient(`client ${at}`, `account ${at % 3}`, wishes, ports))
  }

  readonly wrong = (what: string): void => {
    this.violation ??= what
  }

  pauseNode(ms: number): void {
    this.#pausedUntilMs = this.schedule.nowMs + ms
  }

  grow(blocks: number): void {
    for (let i = 0; i < blocks; i++) this.#truth.grow(this.node, this.#intervalMs)
    this.blocks += blocks
  }

  prune(): number {
    this.#first = Math.max(this.#first, this.node.head - this.schedule.between(5, 60))
    return this.#first
  }

  skew(): string {
    return this.network.skew(this.#isSkewed ? /^(log|hub|relay)/ : /^(log|hub)/)
  }

  /** Blocks under faults, and after them until all is well, and then until all are gone. */
  async run(blocks: number): Promise<void> {
    for (const account of new Set(this.clients.map((client) => client.account)))
      void this.network.give(account, account === POOR ? LITTLE : RICH)
    for (const feeder of this.feeders) this.schedule.after(this.schedule.below(1000), () => feeder.start())
    this.schedule.after(this.#intervalMs, () => this.#tick())
    // What was before the first block of a log is told to nobody.
    this.pauseNode(BEGIN_MS / 2)
    await this.#pass(BEGIN_MS)
    this.#faults = 1 / faultEvery(blocks)
    const end = this.blocks + blocks
    for (const client of this.clients) client.start()
    while (this.blocks < end && this.violation === null) await this.#pass(1000)
    this.#faults = 0
    this.#note('no more faults')
    await this.#settle()
    // Order statuses, too, come now without a hole.
    this.#isCalm = true
    if (blocks >= LONG) await this.#settle()
    if (this.violation === null) await this.#end()
  }

  /** Until everybody has everything: then nothing is silent for ever. */
  async #settle(): Promise<void> {
    this.network.calm()
    for (const feeder of this.feeders) feeder.start()
    void this.network.give(POOR, RICH)
    const endMs = this.schedule.nowMs + WELL_MS
    let missing: string | null = 'nothing was looked at'
    while (missing !== null && this.violation === null) {
      if (this.schedule.nowMs >= endMs) return this.wrong(`${WELL_MS / 1000} s after the last fault: ${missing}`)
      for (const client of this.clients) client.wantAll()
      this.#isPaused = false
      await this.#pass(LOOK * this.#intervalMs)
      this.#isPaused = true
      await this.#pass(STILL_MS)
      missing = this.#missing()
    }
  }

  #missing(): string | null {
    for (const client of this.clients) {
      const missing = client.missing(this.node.head)
      if (missing !== null) return missing
    }
    const misfits = this.feeders.reduce((sum, one) => sum + one.misfits, 0)
    return misfits > 0 ? `${misfits} diffs did not fit the feeders' books` : null
  }

  async #end(): Promise<void> {
    for (const feeder of this.feeders) feeder.kill(0)
    for (const client of this.clients) client.close()
    await this.#pass(OVER_MS)
    for (const [account, tables] of this.network.accounts()) this.#money.over(account, tables)
    this.#money.allPaid()
  }

  async #pass(ms: number): Promise<void> {
    const untilMs = this.schedule.nowMs + ms
    for (let run = this.schedule.next(untilMs); run && this.violation === null; run = this.schedule.next(untilMs)) {
      run()
      await turn()
    }
  }

  #tick(): void {
    if (!this.#isPaused && this.schedule.nowMs >= this.#pausedUntilMs) this.grow(1)
    if (this.#faults > 0 && this.schedule.chance(this.#faults)) this.#strike(drawn(this.schedule))
    this.schedule.after(this.#intervalMs, () => this.#tick())
  }

  #strike(name: FaultName): void {
    const what = FAULTS[name][1](this)
    if (what === undefined) return
    this.faults[name] = (this.faults[name] ?? 0) + 1
    this.#note(`${name}: ${what}`)
  }

  #note(event: string): void {
    const seconds = ((this.schedule.nowMs % 3_600_000) / 1000).toFixed(3)
    this.events.push(`${seconds.padStart(9)} s  block ${this.node.head}  ${event}`)
    if (this.events.length > LAST_EVENTS) this.events.shift()
  }

  readonly #look = (what: string): void => {
    this.checked[what] = (this.checked[what] ?? 0) + 1
  }

  #broke(client: SimClient): void {
    if (this.#faults === 0) return
    this.#look('accounts that had too little')
    this.schedule.after(TOP_UP_MS, () => {
      void this.network.give(client.account, LITTLE).then(() => client.wantAll())
    })
  }

  #feeder(name: string): SimFeeder {
    const { schedule, node } = this
    return new SimFeeder(name, { schedule, node, first: () => this.#first, dial: () => this.network.dialLog() })
  }

  #clientPorts(product: Product): ClientPorts {
    const { schedule, network } = this
    const witness: Witness = {
      truth: this.#truth,
      isCalm: () => this.#isCalm,
      hasJumped: () => network.hasJumped,
      hubs: HUBS,
      nowMs: () => schedule.nowMs,
      checked: this.#look,
      wrong: this.wrong,
    }
    return {
      schedule,
      witness,
      dial: (client) => network.dialRelay(client.name, callerOf(client)),
      snapshot: (coin) => product.snapshot((index) => network.hub(index), coin),
      isLate: (relay) => network.isLate(relay),
      served: (what, ms) => this.#money.served(what, ms),
      broke: (client) => this.#broke(client),
    }
  }
}

function callerOf({ name, account }: Pick<SimClient, 'name' | 'account'>): Identity {
  return identityOf('professional', ['info', 'stream'], account, name)
}

/** Everything that follows from what has run has run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Runs one seed. Not more than one at a time: it takes the place of clock and chance of the whole process. */
export async function simulate(seed: number, blocks: number, product: Product): Promise<Outcome> {
  const world = new World(seed, blocks, product)
  const { schedule, network } = world
  const uninstall = install(network.platform)
  const unhandled = (error: unknown) => {
    if (!(error instanceof Error && /^this object is gone/.test(error.message)))
      world.wrong(`nobody caught: ${error instanceof Error ? error.stack : String(error)}`)
  }
  process.on('unhandledRejection', unhandled)
  const beganMs = schedule.nowMs
  try {
    await world.run(blocks)
  } finally {
    await turn()
    process.off('unhandledRejection', unhandled)
    uninstall()
    network.platform.close()
  }
  const { faults, checked, violation, events } = world
  return { seed, blocks: world.blocks, virtualMs: schedule.nowMs - beganMs, faults, checked, violation, events }
}
