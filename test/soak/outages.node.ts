// One run of outages: a node that loses its files again and again, two feeders on two copies of the node's folder, and
// `npx weir repair` beside them. In the end, what the gateway has is compared with the exchange's own record. No other source
// is configured, so every row that it shows is from its own archive.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from '../../src/cli/launch/build.node.ts'
import { childrenOf } from '../../src/cli/launch/processes.node.ts'
import type { Responses } from '../../src/console/responses.ts'
import { Prng, seedState } from '../../src/devnet/exchange/prng.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { Gateway, startWorld, type World } from '../kit/gateway.ts'
import { nodeBlocks } from '../kit/node-blocks.ts'
import { ROOT } from '../kit/program.ts'
import { until } from '../kit/until.ts'
import { Children } from './children.node.ts'
import { NodeCopies } from './node-copies.node.ts'
import { type OutageKind, outagePlan } from './outage-plan.ts'
import { askedBooks, playFills, type Truth } from './past.node.ts'
import { compareAccounts, compareKeptCandles, type LostSpan } from './past-accounts.node.ts'
import { answerOf, freePorts, type Scale, truthOf } from './plant.node.ts'
import { rowsOfFills, type TrueRow } from './rows.ts'

interface OutageOrder extends Scale {
  readonly outages: number
  readonly minutes: number
  readonly state: string
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

type StatusGap = {
  readonly from: number
  readonly to: number
  readonly repair: string | null
  readonly repairedFrom: readonly string[]
}
interface Status {
  readonly state: string
  readonly height: number | null
  readonly archive: {
    readonly height: number | null
    readonly files: { readonly height: number | null; readonly gaps: number } | null
  } | null
  readonly gaps: readonly StatusGap[]
}

/** An outage that is over. `from` and `to`: heights that node A lacks. */
interface PastOutage {
  readonly kind: OutageKind
  readonly from: number
  readonly to: number
  readonly ms: number
  /** As `/status` shows it in the end; null where no gap was recorded. */
  readonly gap: StatusGap | null
  /** From its record until it was repaired or beyond repair. */
  readonly settledMs: number | null
}

export interface OutageFindings {
  readonly blocks: number
  readonly outages: readonly PastOutage[]
  readonly faults: readonly string[]
  readonly repaired: number
  readonly lost: number
  readonly rows: number
  readonly books: number
  /** Books of heights after gaps, before new ones came. */
  readonly unknownBooks: number
  readonly candles: number
  readonly accounts: Readonly<Record<'fills' | 'ledger' | 'payments' | 'trades', number>>
  readonly wrong: readonly string[]
}

const UP_MS = 300_000
/** Five tries of each source at the pace below, and new files. */
const SETTLED_WITHIN_MS = 420_000
/** Seconds between passes of the repair, and percent of its usual delays. */
const REPAIR = ['--min-age', '0', '--every', '3', '--pace', '1']
const TRUTH_MS = { small: 2_000, mainnet: 15_000 }
/** Blocks after a gap without books: a feeder fetches new ones from its node, and then the archive needs a checkpoint. */
const WITHOUT_BOOKS = { small: 400, mainnet: 2_600 }
const LEAST_BOOKS = 20
const LOOK_MS = 1_000

export async function outageSoak(order: OutageOrder): Promise<OutageFindings> {
  await build(ROOT)
  const [port = 0, gatewayPort = 0] = await freePorts(2)
  const children = new Children(order.state, order.say)
  const node = join(order.state, 'node')
  const size = ['--scale', order.scale, '--seed', String(order.seed), '--funding-blocks', String(order.fundingBlocks)]
  children.run('devnet', 'devnet', ['--data', node, '--port', String(port), ...size])
  const world = await startWorld({ isArchived: true, state: join(order.state, 'gateway'), port: gatewayPort })
  const run = new OutageRun(order, children, world, new Gateway(`http://127.0.0.1:${port}`))
  try {
    return await run.all()
  } finally {
    await run.stop()
    await children.stopAll()
    await world.stop(true)
  }
}

class OutageRun {
  readonly #order: OutageOrder
  readonly #children: Children
  readonly #world: World
  readonly #exchange: Gateway
  readonly #chance: Prng
  readonly #folders: Readonly<Record<'a' | 'b', string>>
  readonly #copies: NodeCopies
  readonly #truths: Truth[] = []
  readonly #faults: string[] = []
  readonly #wrong: string[] = []
  /** By first height: when a gap was recorded, and when it was no longer open. */
  readonly #gaps = new Map<number, { readonly sinceMs: number; settledMs: number | null; last: StatusGap }>()
  readonly #timers: ReturnType<typeof setInterval>[] = []

  constructor(order: OutageOrder, children: Children, world: World, exchange: Gateway) {
    this.#order = order
    this.#children = children
    this.#world = world
    this.#exchange = exchange
    this.#chance = new Prng(seedState(order.seed))
    const folder = (name: string) => join(order.state, `node-${name}`)
    this.#folders = { a: folder('a'), b: folder('b') }
    this.#copies = new NodeCopies(join(order.state, 'node'), Object.values(this.#folders), (error) =>
      this.#wrong.push(`copying broke: ${error.stack}`),
    )
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#copies.stop()
  }

  async all(): Promise<OutageFindings> {
    const { outages, minutes, scale, say, signal } = this.#order
    this.#startFeeder('a')
    this.#startFeeder('b')
    const isLive = async () => (await this.#status()).state === 'live'
    await until(isLive, 'the feed is not live', { withinMs: UP_MS, signal })
    const sources = Object.entries(this.#folders).map(([name, folder]) => `${name}=${folder}`)
    this.#children.run('repair', 'repair', ['--url', this.#world.url, ...REPAIR, ...sources])
    this.#timers.push(setInterval(() => void this.#look().catch(() => {}), LOOK_MS))
    this.#timers.push(setInterval(() => void this.#takeTruth().catch(() => {}), TRUTH_MS[scale]))
    const plan = outagePlan(outages, minutes * 60_000, this.#chance)
    const past: Omit<PastOutage, 'gap' | 'settledMs'>[] = []
    for (const [number, { kind, ms, calmMs }] of plan.entries()) {
      await this.#rest(calmMs)
      if (signal.aborted) break
      say(`outage ${number + 1} of ${Math.round(ms / 1000)} s: ${kind}`)
      past.push({ kind, ms, ...(await this.#outage(kind, ms)) })
      this.#strike()
    }
    say('calm: the last gaps are repaired')
    return await this.#compare(past)
  }

  /** Ends with both nodes and both feeders up. Returns the heights that node A lacks. */
  async #outage(kind: OutageKind, ms: number): Promise<{ readonly from: number; readonly to: number }> {
    const isAlone = kind === 'repaired' || kind === 'partly lost'
    const { a, b } = this.#folders
    if (isAlone) await this.#children.stop('feeder b')
    this.#copies.goOut(a)
    if (kind === 'lost') this.#copies.goOut(b)
    await this.#rest(ms / 2)
    if (kind === 'partly lost') this.#copies.goOut(b)
    await this.#rest(ms / 2)
    const lost = this.#copies.comeBack(a)
    const isPassed = async () => Number((await this.#status()).height) > lost.to
    await this.#until(isPassed, `the log does not pass ${lost.to}`)
    if (isAlone) this.#startFeeder('b')
    return lost
  }

  /** One fault after each outage, while its gap is repaired. */
  #strike(): void {
    const victims = ['feeder a', 'feeder b', 'repair', 'workerd']
    const name = victims[this.#chance.below(victims.length)] ?? ''
    const [workerd] = childrenOf(process.pid, 'workerd')
    const pid = name === 'workerd' ? workerd : this.#children.pids[name]
    if (pid === undefined) return
    this.#order.say(`fault: ${name} killed`)
    this.#faults.push(`${name} killed`)
    process.kill(pid, 'SIGKILL')
  }

  #startFeeder(name: 'a' | 'b'): void {
    const own = ['--data', this.#folders[name], '--state', join(this.#order.state, `feeder-${name}`), '--name', name]
    const args = [...own, '--info', this.#exchange.url, '--gateway', this.#world.url]
    this.#children.run(`feeder ${name}`, 'feed', args)
  }

  /** Tried again while workerd restarts. */
  async #status(): Promise<Status> {
    let status: Status | undefined
    const isServing = async () => {
      status = await this.#world.status<Status>()
      return true
    }
    await until(isServing, 'the gateway does not respond', { withinMs: UP_MS })
    return status!
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#order.signal }).catch(() => {})
  }

  async #look(): Promise<void> {
    const { gaps } = await this.#status()
    for (const gap of gaps) {
      const known = this.#gaps.get(gap.from) ?? { sinceMs: Date.now(), settledMs: null, last: gap }
      this.#gaps.set(gap.from, known)
      known.last = gap
      const isSettled = gap.repair === 'repaired' || gap.repair === 'beyond_repair'
      if (isSettled) known.settledMs ??= Date.now() - known.sinceMs
    }
  }

  async #takeTruth(): Promise<void> {
    const truth = await truthOf(this.#exchange)
    if (truth) this.#truths.push({ ...truth, atMs: Date.now() })
  }

  /** Waits until no gap is open, and then until files have all of that. Returns the gaps that are left. */
  async #settle(): Promise<{ readonly lost: readonly LostSpan[]; readonly end: number }> {
    const expected = this.#copies.lostByAll()
    let left: Responses['showBackfill']['gaps'] = []
    const isSettled = async () => {
      const { gaps } = await this.#world.ask<Responses['showBackfill']>('GET', '/history/backfill')
      left = gaps.filter(({ recorded_ms }) => recorded_ms !== null)
      const { archive, gaps: shown } = await this.#status()
      const isOpen = shown.some(({ repair }) => repair === 'open' || repair === 'partly_repaired')
      return !isOpen && archive?.files?.gaps === expected.length && left.every(({ beyond_ms }) => beyond_ms !== null)
    }
    await this.#until(isSettled, 'gaps stay open')
    const end = Number((await this.#status()).height)
    await this.#until(async () => Number((await this.#status()).archive?.files?.height) >= end, 'no files come')
    if (rangesText(left) !== rangesText(expected))
      this.#wrong.push(`beyond repair are ${rangesText(left)}, and nobody has ${rangesText(expected)}`)
    return { lost: left, end }
  }

  /** A condition that does not come true is a finding. */
  async #until(holds: () => Promise<boolean>, otherwise: string): Promise<void> {
    await until(holds, otherwise, { withinMs: SETTLED_WITHIN_MS, everyMs: 1_000 }).catch((error: Error) =>
      this.#wrong.push(error.message),
    )
  }

  async #compare(past: readonly Omit<PastOutage, 'gap' | 'settledMs'>[]): Promise<OutageFindings> {
    const { lost, end } = await this.#settle()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#look()
    const outages = past.map((one): PastOutage => {
      const gap = [...this.#gaps.values()].find(({ last }) => last.from <= one.to && last.to >= one.from)
      return { ...one, gap: gap?.last ?? null, settledMs: gap?.settledMs ?? null }
    })
    this.#wrong.push(...outages.flatMap(wrongOutcome), ...this.#unplanned(outages))
    const fills = this.#fills(lost)
    const fromMs = this.#truths[0]?.atMs ?? 0
    const truths = this.#truths.filter(({ height }) => height <= end)
    const last = truths.at(-1)
    if (!last) throw new Error('no books of the exchange were taken')
    const { key } = await this.#world.issue('1000000', { plan: 'enterprise' })
    const plant = {
      state: this.#order.state,
      url: this.#world.url,
      info: this.#world.info.bind(this.#world),
      answerOf: (whom: 'exchange' | 'gateway', question: Parameters<typeof answerOf>[1], own = '') =>
        answerOf(whom === 'exchange' ? this.#exchange : this.#world, question, own),
    }
    const asked = { plant, key, fromMs, untilMs: last.atMs, lost }
    const isIn = (height: number, more = 0) =>
      [...this.#gaps.values()].some(({ last: { from, to } }) => from <= height && height <= to + more)
    const { compared, unknown, wrong } = await askedBooks({
      plant,
      key,
      chance: this.#chance,
      truths: truths.filter(({ height }) => !isIn(height)),
      least: LEAST_BOOKS,
      mayLackBooks: (height, reason) =>
        isIn(height, WITHOUT_BOOKS[this.#order.scale]) && /are unknown|are missing|books restarted/.test(reason),
    })
    const candles = await compareKeptCandles({ ...asked, fills })
    const { wrong: wrongRows, ...accounts } = await compareAccounts(asked)
    const mayMiss = (first: number, last?: number) => lost.some(({ from, to }) => from === first && to === last)
    const played = await playFills({ plant, key, fills, mayMiss }, fromMs, last)
    return {
      blocks: end - (truths[0]?.height ?? 0),
      outages,
      faults: this.#faults,
      lost: sizeOf(lost),
      repaired: sizeOf(outages.flatMap(({ gap }) => gap ?? [])) - sizeOf(lost),
      rows: played.rows,
      books: compared,
      unknownBooks: unknown,
      candles: candles.compared,
      accounts,
      wrong: [...this.#wrong, ...wrong, ...candles.wrong, ...wrongRows, ...played.wrong],
    }
  }

  /** Rows of the exchange's own fills, less those that nobody has. */
  #fills(lost: readonly LostSpan[]): TrueRow[] {
    const blocks = nodeBlocks<UserFill>(join(this.#order.state, 'node'), 'fills')
    const kept = blocks.filter(({ height }) => !lost.some(({ from, to }) => from <= height && height <= to))
    return kept.flatMap(({ events }) => rowsOfFills(events)).filter(({ of }) => of === 'fill')
  }

  #unplanned(outages: readonly PastOutage[]): string[] {
    const planned = new Set(outages.map(({ gap }) => gap?.from))
    return [...this.#gaps.values()].flatMap(({ last: { from, to } }) =>
      planned.has(from) ? [] : [`the gap ${from} to ${to} belongs to no outage`],
    )
  }
}

const rangesText = (ranges: readonly { readonly from: number; readonly to: number }[]) =>
  ranges.map(({ from, to }) => `${from} to ${to}`).join()

const sizeOf = (ranges: readonly { readonly from: number; readonly to: number }[]) =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)

const OUTCOMES: Readonly<Record<OutageKind, string>> = {
  repaired: 'repaired from b',
  lost: 'beyond_repair from ',
  covered: 'none',
  'partly lost': 'beyond_repair from b',
}

/** Whether `/status` says what became of an outage. */
function wrongOutcome({ kind, from, to, gap }: PastOutage): string[] {
  const is = gap === null ? 'none' : `${gap.repair} from ${gap.repairedFrom.join()}`
  const range = gap === null ? '' : ` (${gap.from} to ${gap.to})`
  const isWhole = gap === null || (gap.from === from && gap.to === to)
  if (is === OUTCOMES[kind] && isWhole) return []
  return [`the outage ${from} to ${to} (${kind}) has the gap ${is}${range}`]
}
