// Operator cost of metering one client's streams for a month, counted with the relay's own account and the real meter.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import { PER_MILLION, STREAMS_PER_MINUTE } from '../../src/http/platform/month-bill.ts'
import { CHEAPEST_MINUTE } from '../../src/metering/tariff.ts'
import { hourOf } from '../../src/metering/usage.ts'
import { Account } from '../../src/relay/minutes/account.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import { identityOf } from '../kit/identity.ts'
import { withCountedMeter } from './counted-meter.worker.ts'
import { CREDIT } from './meter.worker.ts'

const HOURS = 2
const MONTH_HOURS = 720
const TICK_MS = 5_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it.each([
  // Coins, each with a subscription of its own that starts at its own time, and maximum dollars per month.
  [1, 0.06],
  [10, 0.15],
])('metering an always-on client of %i coins costs at most $%d a month', async (coins, dollars) => {
  await withCountedMeter(`streams ${coins}`, async ({ meter, counts, wake }) => {
    // In the future, so that the platform itself runs no alarm.
    const clock = { nowMs: hourOf(Date.now()) + 2 * HOUR_MS }
    vi.setSystemTime(clock.nowMs)
    await meter.grantCredits('g', 10_000 * CREDIT)
    let calls = 0
    const account = new Account('always on', {
      relay: 'hyperliquid/apac-ne/0',
      life: clock.nowMs,
      clock,
      exchange: (_, report) => {
        calls++
        return meter.stream(report)
      },
      refreshCallers: () => undefined,
    })
    const identity = identityOf('enterprise', ['stream'], 'always on')
    const sink = { send: () => undefined, close: () => undefined }
    const connection = new Connection('c', { identity, terms: 0 }, sink, clock, () => undefined)
    expect(await account.admit(identity)).toBeNull()
    account.add(connection)
    const pass = async (ms: number) => {
      for (const endMs = clock.nowMs + ms; clock.nowMs < endMs; ) {
        clock.nowMs += TICK_MS
        await wake(clock.nowMs)
        account.tick()
        await account.settled()
      }
    }
    for (let coin = 0; coin < coins; coin++) {
      const keyHash = keyHashOf(`key of ${coins}`)
      const body = { type: 'l2BookDiff', price: CHEAPEST_MINUTE, body: `digest ${coin}`, keyHash }
      const minutes = { id: `s${coin}`, ...body, sinceMs: clock.nowMs, paid: 0 }
      expect(await account.start(minutes, connection)).toMatchObject({ ok: true })
      await pass(TICK_MS)
    }
    // The first hour is not typical.
    await pass(60 * MINUTE_MS)
    const before = { ...counts, calls }
    await pass(HOURS * 60 * MINUTE_MS)
    const perMonth = (name: keyof typeof before) => ({ ...counts, calls })[name] - before[name]
    const months = MONTH_HOURS / HOURS
    const requests = (perMonth('calls') + perMonth('alarms')) * months
    const rows = (perMonth('objectRows') + perMonth('d1Rows')) * months
    const cost = (requests * PER_MILLION.objectRequest + rows * PER_MILLION.objectRowWritten) / 1e6
    const perMinute = (count: number) => (count / (MONTH_HOURS * 60)).toFixed(2)
    console.log(
      `${coins} coins: $${cost.toFixed(3)} a month, per minute ${perMinute(requests)} requests, ${perMinute(perMonth('objectRows') * months)} object rows, ${perMinute(perMonth('d1Rows') * months)} D1 rows`,
    )
    expect(cost).toBeLessThanOrEqual(dollars)
    // The bill of a month assumes at least this.
    const minutes = MONTH_HOURS * 60
    const assumed = (name: keyof typeof STREAMS_PER_MINUTE.first) =>
      minutes * (STREAMS_PER_MINUTE.first[name] + (coins - 1) * STREAMS_PER_MINUTE.further[name])
    expect(requests).toBeLessThanOrEqual(assumed('requests'))
    expect(perMonth('objectRows') * months).toBeLessThanOrEqual(assumed('objectRows'))
    expect(perMonth('d1Rows') * months).toBeLessThanOrEqual(assumed('d1Rows'))
  })
})
