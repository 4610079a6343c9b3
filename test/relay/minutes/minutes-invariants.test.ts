// The invariant of stream minutes over several dying relays and a lossy, repeating and delaying meter connection:
// served time is charged, and no rest of a minute is used twice.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { StreamReport } from '../../../src/metering/streams/stream-api.ts'
import { Account } from '../../../src/relay/minutes/account.ts'
import type { Minutes } from '../../../src/relay/minutes/minutes.ts'
import { Connection } from '../../../src/relay/sockets/connection.ts'
import { identityOf } from '../../kit/identity.ts'
import { ModelStreams } from '../../metering/streams/model-streams.ts'

const K = keyHashOf('k')

const RELAYS = 3
const paidUntilMs = ({ sinceMs, paid }: Minutes) => sinceMs + paid * MINUTE_MS
const PRICE = 1_000_000
const TICK_MS = 5_000
/**
 * Maximum consecutive failed exchanges of a relay, two per report: more than two minutes. That its sockets end is
 * another test.
 */
const MAX_FAILURES = 60

type Fate = 'kept' | 'lost' | 'answer lost'
type Step =
  | { readonly do: 'subscribe'; readonly relay: number; readonly body: string }
  | { readonly do: 'end'; readonly which: number }
  /** Cannot be served. */
  | { readonly do: 'fail'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** Time passes without a tick. */
  | { readonly do: 'skip'; readonly ms: number }
  | { readonly do: 'kill'; readonly relay: number }
  | { readonly do: 'echo'; readonly which: number }
  | { readonly do: 'fates'; readonly fates: readonly Fate[] }

const relay = fc.nat(RELAYS - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('subscribe' as const), relay, body: fc.constantFrom('a', 'b') }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), which: fc.nat(20) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.noBias(fc.integer({ min: 1, max: 40_000 })) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('skip' as const), ms: fc.noBias(fc.nat(TICK_MS)) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), relay }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('echo' as const), which: fc.nat(1_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fates' as const),
      fates: fc.array(fc.constantFrom<Fate>('kept', 'lost', 'answer lost'), { maxLength: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fates' as const),
      fates: fc.array(fc.constantFrom<Fate>('lost', 'lost', 'lost', 'answer lost'), { minLength: 20, maxLength: 60 }),
    }),
  },
)

interface Served {
  readonly minutes: Minutes
  readonly relay: number
  readonly sinceMs: number
  /** Paid part of its first minute: all of it, or the rest of another's. */
  readonly firstMs: number
  untilMs: number | null
  isKilled: boolean
}

/** Rest that an ended subscription, or a lost first minute, may have left for one other. */
interface Left {
  readonly minutes: Minutes
  readonly ms: number
  /** A rest that another borrowed and returned. */
  readonly isReturned?: boolean
}

class World {
  readonly clock = { nowMs: 1_000_000 }
  readonly meter = Object.assign(new ModelStreams(1e15), { unpaidMax: 5 * PRICE })
  readonly served: Served[] = []
  readonly left: Left[] = []
  attempts = 0
  /** Served by a relay that died before it requested the minute. */
  unpaidMs = 0
  readonly #reports: { readonly report: StreamReport; readonly atMs: number }[] = []
  /**
   * Delay of the report that first named a subscription. The meter counts from then, and nobody knows better if the
   * relay dies.
   */
  readonly #lateMs = new Map<string, number>()
  #fates: Fate[] = []
  /** Consecutive, per relay. */
  readonly #failures = Array.from({ length: RELAYS }, () => 0)
  #lookedMs = this.clock.nowMs
  #ids = 0
  readonly #accounts: Account[] = Array.from({ length: RELAYS }, (_, index) => this.#account(index))

  async run(one: Step): Promise<void> {
    switch (one.do) {
      case 'subscribe':
        return this.#subscribe(one.relay, one.body)
      case 'end':
        return this.#end(one.which)
      case 'fail':
        return this.#fail(one.which)
      case 'wait':
        return this.#wait(one.ms)
      case 'skip':
        this.clock.nowMs = Math.min(this.clock.nowMs + one.ms, this.#lookedMs + TICK_MS)
        return
      case 'kill':
        return this.#kill(one.relay)
      case 'echo': {
        const echoed = this.#reports[one.which % Math.max(1, this.#reports.length)]
        if (!echoed) return
        this.meter.take(echoed.report, this.clock.nowMs)
        for (const { subscription } of echoed.report.charges)
          this.#lateMs.set(subscription, Math.max(this.clock.nowMs - echoed.atMs, this.#lateMs.get(subscription) ?? 0))
        return
      }
      case 'fates':
        this.#fates = [...one.fates]
    }
  }

  /** Ends everything and delivers all reports. */
  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#end(0)
    this.#fates = []
    await this.#wait(2 * TICK_MS)
  }

  get #running(): Served[] {
    return this.served.filter(({ untilMs }) => untilMs === null)
  }

  async #subscribe(relay: number, body: string): Promise<void> {
    const account = this.#accounts[relay]!
    const identity = identityOf('enterprise', [], 'acme')
    const sink = { send: () => undefined, close: () => undefined }
    const connection = new Connection('c', { identity, terms: 0 }, sink, this.clock, () => undefined)
    if ((await account.admit(identity)) !== null) return
    account.add(connection)
    const id = `s${this.#ids++}`
    const minutes = { id, keyHash: K, type: 'allFills', price: PRICE, body, sinceMs: this.clock.nowMs, paid: 0 }
    this.attempts++
    const answer = await account.start(minutes, connection).catch(() => null)
    if (answer?.ok) {
      const firstMs = paidUntilMs(minutes) - this.clock.nowMs
      const sinceMs = this.clock.nowMs
      this.served.push({ minutes, relay, sinceMs, firstMs, untilMs: null, isKilled: false })
      if (!this.#isPaid(minutes)) this.#borrow(body, firstMs)
    } else this.left.push({ minutes, ms: MINUTE_MS })
    await account.settled()
  }

  /** Whether it paid for a minute of its own. */
  #isPaid({ id }: Minutes): boolean {
    return this.meter.charges.some(({ subscription }) => subscription.endsWith(`/${id}`))
  }

  /** An unpaid minute is the rest of a paid one, used once. */
  #borrow(body: string, ms: number): void {
    const fits = (one: Left) =>
      one.minutes.body === body && one.ms >= ms && (one.isReturned || this.#isPaid(one.minutes))
    const sources = this.left.filter(fits).sort((a, b) => a.ms - b.ms)
    expect(sources).not.toEqual([])
    this.left.splice(this.left.indexOf(sources[0]!), 1)
  }

  #over(one: Served, isKilled = false): void {
    const now = this.clock.nowMs
    one.untilMs = now
    // The last minutes may be unpaid: more than one if no report succeeded for long.
    let ms = paidUntilMs(one.minutes) - now
    while (ms < 0) ms += MINUTE_MS
    const lateMs = isKilled ? (this.#lateMs.get(`r${one.relay}/${one.minutes.id}`) ?? 0) : 0
    this.unpaidMs += lateMs
    this.left.push({ minutes: one.minutes, ms: ms + lateMs })
  }

  async #end(which: number): Promise<void> {
    const running = this.#running
    const one = running[which % Math.max(1, running.length)]
    if (!one) return
    this.#over(one)
    const account = this.#accounts[one.relay]!
    account.stop(one.minutes)
    await account.settled()
  }

  /** A subscription in its first minute. Its rest, or its minute if the relay died, may serve another. */
  async #fail(which: number): Promise<void> {
    const running = this.#running.filter(({ minutes }) => minutes.paid === 1 && paidUntilMs(minutes) > this.clock.nowMs)
    const one = running[which % Math.max(1, running.length)]
    if (!one) return
    this.served.splice(this.served.indexOf(one), 1)
    const ms = paidUntilMs(one.minutes) - this.clock.nowMs
    this.left.push({ minutes: one.minutes, ms, isReturned: !this.#isPaid(one.minutes) })
    this.#accounts[one.relay]!.stop(one.minutes, true)
    await this.#accounts[one.relay]!.settled()
  }

  async #wait(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.clock.nowMs += Math.min(left, TICK_MS)
      this.#lookedMs = this.clock.nowMs
      for (const account of this.#accounts) {
        account.tick()
        await account.settled()
      }
    }
  }

  async #kill(relay: number): Promise<void> {
    for (const one of this.served.filter((each) => each.relay === relay)) {
      if (one.untilMs === null) this.#over(one, true)
      // Also of ended ones, whose ends may not have arrived.
      else if (this.#failures[relay] === 0) continue
      one.isKilled = true
      this.unpaidMs += Math.max(0, one.untilMs! - paidUntilMs(one.minutes))
    }
    this.clock.nowMs++
    this.#accounts[relay] = this.#account(relay)
    this.#accounts[relay].report()
    await this.#accounts[relay].settled()
  }

  #account(index: number): Account {
    return new Account('acme', {
      relay: `r${index}`,
      life: this.clock.nowMs,
      clock: this.clock,
      exchange: async (_, report) => this.#exchange(index, report),
      refreshCallers: () => undefined,
    })
  }

  #exchange(index: number, report: StreamReport) {
    const failures = this.#failures[index]!
    const fate = failures < MAX_FAILURES ? (this.#fates.shift() ?? 'kept') : 'kept'
    this.#failures[index] = fate === 'kept' ? 0 : failures + 1
    this.#reports.push({ report, atMs: this.clock.nowMs })
    if (fate === 'lost') throw new Error('lost')
    const answer = this.meter.take(report, this.clock.nowMs)
    if (fate === 'answer lost') throw new Error('answer lost')
    return answer
  }
}

/** It ends a millisecond into its third minute, with only the first paid. */
const OWING_TWO: Step[] = [
  { do: 'subscribe', relay: 0, body: 'a' },
  { do: 'wait', ms: 40_000 },
  { do: 'fates', fates: Array(24).fill('lost') },
  { do: 'wait', ms: 40_000 },
  { do: 'wait', ms: 40_000 },
  { do: 'skip', ms: 1 },
  { do: 'end', which: 0 },
  { do: 'subscribe', relay: 0, body: 'a' },
]

/** A lost report arrives after all, and its relay dies. */
const LATE: Step[] = [
  { do: 'subscribe', relay: 0, body: 'a' },
  { do: 'wait', ms: 50_000 },
  { do: 'fates', fates: Array(40).fill('lost') },
  { do: 'wait', ms: 15_000 },
  { do: 'fates', fates: [] },
  { do: 'skip', ms: 2_000 },
  { do: 'echo', which: 12 },
  { do: 'kill', relay: 0 },
  { do: 'subscribe', relay: 1, body: 'a' },
]

// WS-37
test('served time is charged, whatever is lost, repeated, late or killed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      const world = new World()
      for (const one of steps) await world.run(one)
      await world.finish()
      const times = world.served.map(({ sinceMs, untilMs }) => untilMs! - sinceMs)
      const servedMs = times.reduce((sum, ms) => sum + ms, 0)
      const charged = world.meter.charges.length - world.meter.refunds.length
      expect(charged * MINUTE_MS).toBeGreaterThanOrEqual(servedMs - world.unpaidMs)
      // Never more than each would have paid alone.
      const alone = times.reduce((sum, ms) => sum + Math.max(1, Math.ceil(ms / MINUTE_MS)), 0)
      expect(charged).toBeLessThanOrEqual(alone + world.attempts - world.served.length)
      const names = world.meter.charges.map(({ subscription, ordinal }) => `${subscription} ${ordinal}`)
      expect(new Set(names).size).toBe(names.length)
      // Each pays for every minute that it started and did not borrow, except for what a killed relay had not
      // requested.
      for (const { minutes, sinceMs, untilMs, firstMs, isKilled } of world.served) {
        const paid = names.filter((name) => name.includes(`/${minutes.id} `))
        const later = Math.max(0, Math.ceil((untilMs! - sinceMs - firstMs) / MINUTE_MS))
        const startedCount = later + (paid.some((name) => name.endsWith(' 0')) ? 1 : 0)
        expect(paid.length).toBeLessThanOrEqual(startedCount)
        expect(paid.length).toBeGreaterThanOrEqual(isKilled ? 0 : startedCount)
      }
    }),
    { numRuns: 300, examples: [[OWING_TWO], [LATE]] },
  )
})
