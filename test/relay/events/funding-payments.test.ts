import { expect, it } from 'vitest'
import type { RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import type { InfoRequest } from '../../../src/relay/channel.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { FirstFrames, type HistoryResponse } from '../../../src/relay/events/first-frames.ts'
import { FundingPayments } from '../../../src/relay/events/funding-payments.ts'
import { eventsTarget } from '../targets.ts'
import type { Frame } from '../world.ts'

const [A, B] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
const TIME = 1_790_000_000_123
const AMOUNTS = { coin: 'BTC', usdc: '-0.1', szi: '1.0', fundingRate: '0.0000125', nSamples: null }
const paymentAt = (time: number, coin = 'BTC') => ({
  time,
  hash: `0x${'0'.repeat(64)}`,
  delta: { type: 'funding', ...AMOUNTS, coin },
})
const row = (time: number, coin = 'BTC') => ({ time, ...AMOUNTS, coin })

/** A relay's fan-out, sources with payments, and manual time. */
class World {
  height = 1
  readonly payments: Record<string, ReturnType<typeof paymentAt>[]> = { [A]: [], [B]: [] }
  readonly questions: InfoRequest[] = []
  readonly waits: (() => void)[] = []
  isDown = false
  readonly fanout = new EventFanout<Receiver>(CHANNELS)
  readonly ports = {
    read: async (question: InfoRequest): Promise<HistoryResponse | null> => {
      this.questions.push(question)
      const {
        user,
        startTime,
        endTime = Number.POSITIVE_INFINITY,
      } = question as unknown as { user: string; startTime: number; endTime?: number }
      const rows = this.payments[user]!.filter(({ time }) => time >= startTime && time <= endTime)
      return this.isDown ? null : { body: JSON.stringify(rows), height: this.height }
    },
    wait: () => new Promise<void>((end) => this.waits.push(end)),
    blockHeight: () => this.height,
    clock: { nowMs: TIME },
  }
  readonly funding = new FundingPayments<Receiver>(this.ports, this.fanout)
  readonly first = new FirstFrames<Receiver>(this.ports, this.fanout, (target, rows) =>
    this.funding.onHistory(target, rows),
  )

  subscribe(type: string, user = A): Receiver {
    const receiver = new Receiver()
    const target = eventsTarget({ type, user })
    if (target.channel.history) void this.first.start(`${type} ${user}`, target, false, receiver)
    else this.fanout.add(`${type} ${user}`, target, false, receiver)
    return receiver
  }

  pay(time = TIME): void {
    const block: RelayEvents = { v: 1, t: 'events', height: ++this.height, time, fills: [], ledger: [] }
    const paying = { ...block, funding: [{ coin: 'BTC', perUnit: '0.1' }] }
    this.fanout.deliver(paying)
    void this.funding.onBlock(paying)
  }

  /** Ends every pending wait. */
  async pass(): Promise<void> {
    for (const end of this.waits.splice(0)) end()
    await settled()
  }
}

class Receiver {
  readonly frames: Frame[] = []
  send(text: string): void {
    this.frames.push(JSON.parse(text))
  }
}

const settled = () => new Promise((done) => setImmediate(done))

// WS-104, WS-105
it('fetches the payments of subscribers and sends them as rows of the block', async () => {
  const world = new World()
  const listed = world.subscribe('userFundings')
  const other = world.subscribe('userFundings', B)
  const events = world.subscribe('userEvents')
  await settled()
  expect(listed.frames).toEqual([{ channel: 'userFundings', data: { isSnapshot: true, user: A, fundings: [] } }])
  world.questions.length = 0
  world.payments[A] = [paymentAt(TIME - 3_600_000), paymentAt(TIME), paymentAt(TIME, 'ETH')]
  world.pay()
  await world.pass()
  const rows = [row(TIME), row(TIME, 'ETH')]
  expect(listed.frames.slice(1)).toEqual([{ channel: 'userFundings', data: { user: A, fundings: rows } }])
  expect(events.frames).toEqual(rows.map((funding) => ({ channel: 'user', data: { funding } })))
  expect(other.frames).toHaveLength(1)
  expect(world.questions).toMatchObject([{ user: A }, { user: B }])
})

// WS-105
it('retries while sources are late or down, then stops', async () => {
  const world = new World()
  const receiver = world.subscribe('userFundings')
  await settled()
  world.pay()
  await world.pass()
  world.isDown = true
  await world.pass()
  expect(receiver.frames).toHaveLength(1)
  world.isDown = false
  world.payments[A] = [paymentAt(TIME + 50)]
  for (let i = 0; i < 6; i++) await world.pass()
  expect(receiver.frames.slice(1)).toMatchObject([{ data: { fundings: [row(TIME + 50)] } }])
  expect([world.questions.length, world.waits.length]).toEqual([4, 0])
})

// WS-105
it('sends a payment once to everyone, including those who subscribe during the fetch', async () => {
  const world = new World()
  const before = world.subscribe('userFundings')
  const events = world.subscribe('userEvents')
  await settled()
  world.pay()
  world.payments[A] = [paymentAt(TIME)]
  const during = world.subscribe('userFundings')
  await settled()
  for (let i = 0; i < 6; i++) await world.pass()
  const after = world.subscribe('userFundings')
  await settled()
  expect(before.frames.slice(1).map(({ data }) => data)).toEqual([{ user: A, fundings: [row(TIME)] }])
  expect(events.frames).toHaveLength(1)
  for (const { frames } of [during, after])
    expect(frames.map(({ data }) => data)).toEqual([{ isSnapshot: true, user: A, fundings: [row(TIME)] }])
})

// WS-105
it('separates payments of adjacent blocks', async () => {
  const world = new World()
  const receiver = world.subscribe('userFundings')
  await settled()
  world.pay()
  await world.pass()
  world.pay(TIME + 60_000)
  world.payments[A] = [paymentAt(TIME), paymentAt(TIME + 60_000)]
  for (let i = 0; i < 8; i++) await world.pass()
  expect(receiver.frames.slice(1).map(({ data }) => data.fundings)).toEqual([[row(TIME)], [row(TIME + 60_000)]])
})
