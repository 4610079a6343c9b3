// The objects of one gateway on their platform, and its faults: lost calls and frames during a storm, slow disks, cut
// links, clock jumps. The money invariants check reports to meters on their way.

import { IDENTITY_HEADER, type Identity } from '../../src/accounts/identity.ts'
import type { StreamReport, StreamResponse } from '../../src/metering/streams/stream-api.ts'
import { RING_MS } from '../../src/order-books/ring.ts'
import { MAX_WAITING_HEIGHTS } from '../../src/relay/books/block-join.ts'
import type { MeterTables, MoneyLaw } from './money.ts'
import { type Chances, type Host, LOST, type ObjectClass, Platform, type Reply } from './objects.node.ts'
import type { Schedule } from './schedule.ts'
import type { End, Wire } from './wire.ts'

export const HUBS = 2
const RELAYS = 2
const CHAIN = 'c'
const UPGRADE = { upgrade: 'websocket' }
/** A hub that was late is remembered for so long: its older frames may yet come, over links that are held up. */
const LATE_FOR_MS = 15_000
/** A hub is late that brings a height so long after another, or nothing for so long: sooner than a relay thinks so. */
const LATE_BY_MS = 900
const HEIGHTS_KEPT = 200

/** Classes of src/live.ts. */
export interface Classes {
  readonly BlockLog: ObjectClass
  readonly BookHub: ObjectClass
  readonly Relay: ObjectClass
  readonly CreditMeter: ObjectClass
}

interface NetworkPorts {
  readonly classes: Classes
  readonly schedule: Schedule
  readonly money: MoneyLaw
  readonly intervalMs: number
  wrong(what: string): void
  /** Who has the key with this hash. */
  identityOf(keyHash: string): Identity
  /** Answers what the gateway is asked for by relays: `recentTrades`, from what the log holds and what the node says. */
  trades(log: () => object, request: TradesRequest): Promise<unknown>
}

export interface TradesRequest {
  readonly type: 'recentTrades'
  readonly coin: string
  readonly rows: number
}

/** When a hub was late, when the first frame of each height came, and the last of each hub. */
interface Lateness {
  atMs: number
  highest: number
  readonly cameMs: Map<number, number>
  readonly heardMs: Map<string, number>
}

interface Stub {
  fetch(url: string, init: { readonly headers: object }): Promise<Reply>
  grantCredits(id: string, micro: number): Promise<unknown>
}

export class Network implements Chances {
  readonly platform: Platform
  /** Until when calls are lost, frames of unruly wires too, and disks slow. */
  readonly storms = { callsUntilMs: 0, framesUntilMs: 0, disksUntilMs: 0 }
  readonly #ports: NetworkPorts
  readonly #schedule: Schedule
  readonly #wires = new Set<Wire>()
  #jumpedMs = Number.NEGATIVE_INFINITY
  /** By relay. */
  readonly #late = new Map<string, Lateness>()
  /** By account, in micro-credits. */
  readonly #given = new Map<string, number>()

  constructor(ports: NetworkPorts) {
    const { classes, schedule } = ports
    this.#ports = ports
    this.#schedule = schedule
    const env: Record<string, unknown> = {
      CHAIN,
      BOOK_HUBS: String(HUBS),
      RELAY_SOCKETS: '500',
      FEED_REGION: '',
      PIPELINE_PRIVATE: 'off',
      PIPELINE_RESOLVER: 'https://resolver.example/',
      OWN_ZONES: '',
      PUBLIC_URL: '',
      REQUEST_LOG_HOURS: '24',
    }
    this.platform = new Platform(schedule, this, env, (what) => ports.wrong(what))
    env.BLOCK_LOG = this.platform.namespace('log', classes.BlockLog)
    env.BOOK_HUB = this.platform.namespace('hub', classes.BookHub)
    env.RELAY = this.platform.namespace('relay', classes.Relay)
    env.CREDIT_METER = this.platform.namespace('meter', classes.CreditMeter)
    env.GATEWAY = this.#gateway()
  }

  async dialLog(): Promise<End | null> {
    const { webSocket } = await this.#stub('BLOCK_LOG', CHAIN).fetch('http://log/feed', { headers: UPGRADE })
    return webSocket ?? null
  }

  async dialRelay(name: string, identity: Identity): Promise<Reply & { readonly relay: number }> {
    const relay = this.#schedule.below(RELAYS)
    const headers = { ...UPGRADE, [IDENTITY_HEADER]: JSON.stringify(identity) }
    const reply = await this.#stub('RELAY', relayName(relay)).fetch('http://relay/ws', { headers })
    if (reply.webSocket) reply.webSocket.wire.label = `${name}>${relayName(relay)}`
    return { ...reply, relay }
  }

  hub(index: number): object {
    return this.#stub('BOOK_HUB', `${CHAIN}/${index}`)
  }

  /** Gives an account credits: asks until its meter has said that it has them. */
  async give(account: string, micro: number): Promise<void> {
    const before = this.#given.get(account) ?? 0
    this.#given.set(account, before + micro)
    for (let isGiven = false; !isGiven; )
      isGiven = await this.#stub('CREDIT_METER', account)
        .grantCredits(String(before), micro)
        .then(
          () => true,
          () => false,
        )
  }

  /** What the tables of all meters say. */
  *accounts(): Generator<readonly [account: string, tables: MeterTables]> {
    for (const [account, given] of this.#given) {
      const { disk } = this.platform.hosts.get(`meter ${account}`)!
      const [row] = disk.rows('SELECT available, held, spent, granted FROM account')
      const [usage] = disk.rows(`SELECT coalesce(sum(amount), 0) + (SELECT coalesce(sum(value ->> 'amount'), 0)
        FROM account, json_each(account.usage)) AS used FROM usage`)
      const running = disk.rows('SELECT id FROM streams WHERE rest IS NULL').map(({ id }) => String(id))
      const balance = row as Pick<MeterTables, 'available' | 'held' | 'spent' | 'granted'>
      yield [account, { ...balance, used: Number(usage!.used), running, given }]
    }
  }

  /** True where a hub of this relay was lately late. */
  isLate(relay: number): boolean {
    return this.#schedule.nowMs - this.#lateAt(`relay ${relayName(relay)}`).atMs < LATE_FOR_MS
  }

  /** True where a machine lately took another time: what is to last so long may have ended at once. */
  get hasJumped(): boolean {
    return this.#schedule.nowMs - this.#jumpedMs < RING_MS
  }

  wires(): Wire[] {
    for (const wire of this.#wires) if (!wire.isOpen) this.#wires.delete(wire)
    return [...this.#wires]
  }

  /** The clock of a machine of one of these kinds of objects jumps. */
  skew(kinds: RegExp): string {
    const host = this.#schedule.pick([...this.platform.hosts.values()].filter(({ key }) => kinds.test(key)))!
    host.skewMs = this.#schedule.between(-30_000, 60_000)
    this.#lateAt(host.key).atMs = this.#jumpedMs = this.#schedule.nowMs
    return `${host.key} is off by ${host.skewMs} ms`
  }

  calm(): void {
    this.storms.callsUntilMs = this.storms.framesUntilMs = this.storms.disksUntilMs = 0
  }

  latencyMs(): number {
    return this.#schedule.chance(0.02) ? this.#schedule.between(20, 120) : this.#schedule.between(1, 12)
  }

  commitMs(): number {
    const isSlow = this.#schedule.nowMs < this.storms.disksUntilMs
    return isSlow ? this.#schedule.between(200, 2500) : this.#schedule.between(1, 20)
  }

  callFate(): 'answered' | 'lost' | 'answer lost' {
    if (this.#schedule.nowMs >= this.storms.callsUntilMs) return 'answered'
    const roll = this.#schedule.random()
    return roll < 0.25 ? 'lost' : roll < 0.5 ? 'answer lost' : 'answered'
  }

  wired(wire: Wire): void {
    this.#wires.add(wire)
    const [from, to] = wire.label.split('>') as [string, string]
    if (to.startsWith('log') || (from.startsWith('log') && to.startsWith('hub')))
      wire.unruly = () =>
        this.#schedule.nowMs < this.storms.framesUntilMs ? { lost: 0.04, doubled: 0.04, late: 0.04 } : null
    if (from.startsWith('hub') && to.startsWith('relay'))
      wire.arrived = (text) => this.#fromHub(from, to, Number(/"height":(\d+)/.exec(text)?.[1]))
  }

  called({ disk }: Host, method: string, args: readonly unknown[], make: () => unknown): unknown {
    if (method !== 'stream') return make()
    const spent = () => Number(disk.rows('SELECT spent FROM account')[0]?.spent ?? 0)
    const before = spent()
    // The decision is made before anything is waited for.
    const answer = make() as Promise<StreamResponse>
    const cost = spent() - before
    return answer.then((said) => {
      disk.gate(this.#ports.money.reported(args[0] as StreamReport, said, cost))
      return said
    })
  }

  crashed({ key, name }: Host): void {
    if (key.startsWith('relay')) this.#ports.money.killed(name)
  }

  #stub(namespace: 'BLOCK_LOG' | 'BOOK_HUB' | 'RELAY' | 'CREDIT_METER', name: string): Stub {
    return (this.platform.env[namespace] as ReturnType<Platform['namespace']>).getByName(name) as Stub
  }

  #fromHub(hub: string, relay: string, height: number): void {
    const late = this.#lateAt(relay)
    const { nowMs } = this.#schedule
    // Of a height below others that never came here, another hub was not asked.
    const firstMs = late.cameMs.get(height) ?? (height < late.highest ? 0 : nowMs)
    late.highest = Math.max(late.highest, height)
    const isBack = nowMs - (late.heardMs.get(hub) ?? 0) > this.#ports.intervalMs + LATE_BY_MS
    late.heardMs.set(hub, nowMs)
    if (isBack || nowMs - firstMs > LATE_BY_MS || late.highest - height >= MAX_WAITING_HEIGHTS) late.atMs = nowMs
    late.cameMs.set(height, firstMs)
    late.cameMs.delete(height - HEIGHTS_KEPT)
  }

  #lateAt(relay: string) {
    const known = this.#late.get(relay) ?? { atMs: 0, highest: -1, cameMs: new Map(), heardMs: new Map() }
    this.#late.set(relay, known)
    return known
  }

  #gateway() {
    const later = async <T>(answer: () => T): Promise<T> => {
      await new Promise<void>((resolve) => this.#schedule.after(this.latencyMs(), resolve))
      if (this.callFate() !== 'answered') throw new Error(LOST)
      return answer()
    }
    const { trades, identityOf } = this.#ports
    const log = () => this.#stub('BLOCK_LOG', CHAIN)
    return {
      read: async (type: TradesRequest['type'], request: Omit<TradesRequest, 'type'>) =>
        // Not on behalf of the object that asks: the gateway outlives it.
        this.platform.current.exit(() => later(() => trades(log, { type, ...request }))),
      caller: (keyHash: string) => later(() => ({ ok: true, identity: identityOf(keyHash) })),
      storeUsage: () => later(() => undefined),
      storeRefusals: () => later(() => undefined),
    }
  }
}

const relayName = (index: number): string => `${CHAIN}/local/${index}`
