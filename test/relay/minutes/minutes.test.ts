import { expect, test } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import type { LogBatch } from '../../../src/metering/request-log/log-api.ts'
import { Accounts } from '../../../src/relay/minutes/account.ts'
import { MeterClient } from '../../../src/relay/minutes/meter-client.ts'
import { dueCharge, type Minutes, mustPay, restoredMinutes } from '../../../src/relay/minutes/minutes.ts'
import { closeStatus } from '../../../src/relay/sockets/close-status.ts'
import { Connection } from '../../../src/relay/sockets/connection.ts'
import { identityOf } from '../../kit/identity.ts'
import { ModelStreams } from '../../metering/streams/model-streams.ts'

const PRICE = 1_000_000
const minutesOf = (id: string, sinceMs: number, body = 'b', paid = 0): Minutes => {
  return { id, keyHash: keyHashOf('k'), type: 'allFills', price: PRICE, body, sinceMs, paid }
}

test('a minute is due once it has started, under its number, with its remaining time', () => {
  const running = minutesOf('s1', 0, 'digest', 1)
  expect(dueCharge('relay', running, 60_000)).toBeNull()
  const one = { subscription: 'relay/s1', ordinal: 1, count: 1, amount: 1_000_000, keyHash: 'k', body: 'digest' }
  expect(dueCharge('relay', running, 60_001)).toMatchObject({ ...one, leftMs: 59_999 })
  expect(dueCharge('relay', running, 130_000)).toMatchObject({ ...one, ordinal: 2, count: 2, leftMs: 50_000 })
  running.paid++
  expect(dueCharge('relay', running, 120_000)).toBeNull()
})

test('minutes wait until they are worth more than the meter allows, or there are ten; those of visitors never wait', () => {
  const charge = dueCharge('relay', minutesOf('s1', 0, 'b', 1), 130_000)!
  expect([2, 1.9].map((credits) => mustPay([charge], credits * PRICE))).toEqual([false, true])
  expect([9, 10].map((count) => mustPay([{ ...charge, count }], 100 * PRICE))).toEqual([false, true])
  expect(mustPay([{ ...charge, visitorsPerHour: 1 }], 100 * PRICE)).toBe(true)
  expect(mustPay([], 0)).toBe(false)
})

test('a restored relay requests all minutes again that may be unpaid, under their old numbers', () => {
  const { paid: _, ...started } = minutesOf('s1', 1000)
  const woken = restoredMinutes(started, 1000 + 150_000)
  expect(dueCharge('relay', woken, 1000 + 150_000)).toMatchObject({ ordinal: 2, count: 3, leftMs: 30_000 })
  const later = 1000 + 20 * 60_000 + 1
  expect(dueCharge('relay', restoredMinutes(started, later), later)).toMatchObject({ ordinal: 20, count: 11 })
})

/** A meter client whose meter can be taken away. */
function lineThatBreaks(relay = 'r', meter = new ModelStreams(1e15)) {
  const clock = { nowMs: 0 }
  const state = { away: 'no' as 'no' | 'deaf' | 'mute', running: [] as Minutes[], asked: 0 }
  const line = new MeterClient(
    'acme',
    {
      relay,
      life: 1,
      clock,
      exchange: async (_, report) => {
        state.asked++
        if (state.away === 'deaf') throw new Error('lost')
        const answer = meter.take(report, clock.nowMs)
        if (state.away === 'mute') throw new Error('answer lost')
        return answer
      },
    },
    {
      status: () => ({
        sockets: 1,
        keys: [keyHashOf('k')],
        limits: { connections: 10, subscriptions: 1e6 },
        running: state.running,
      }),
      due: () =>
        state.running.flatMap((minutes) => {
          const charge = dueCharge(relay, minutes, clock.nowMs)
          return charge === null ? [] : [{ minutes, charge }]
        }),
      log: () => null,
      onLogged: () => undefined,
      onReply: () => undefined,
      onFailure: () => undefined,
    },
  )
  const reportAndSettle = async () => {
    line.report()
    await line.settled()
  }
  return { line, clock, meter, state, reportAndSettle }
}

test('all started minutes are requested at once', async () => {
  const { line, clock, meter, state, reportAndSettle } = lineThatBreaks()
  const running = Array.from({ length: 1_201 }, (_, index) => minutesOf(`s${index}`, 0, `b${index}`))
  await Promise.all(running.map((minutes) => line.requestMinute(minutes)))
  await line.settled()
  expect(meter.charges).toHaveLength(1_201)
  state.running = running
  clock.nowMs = 60_001
  await reportAndSettle()
  expect(meter.charges).toHaveLength(2_402)
  expect(line.isIdle).toBe(true)
})

test('events of sockets are logged once, with a report that is stored or after 15 s, and keep the relay awake', async () => {
  const clock = { nowMs: 1_000 }
  const meter = new ModelStreams(1e15)
  const taken: LogBatch[] = []
  let isAway = false
  const accounts = new Accounts({
    relay: 'r',
    life: 1,
    clock,
    exchange: async (_, report) => {
      if (isAway) throw new Error('away')
      if (report.log !== undefined) taken.push(report.log)
      return meter.take(report, clock.nowMs)
    },
    refreshCallers: () => undefined,
  })
  const account = accounts.of('acme')
  const identity = identityOf('enterprise', ['stream'], 'acme')
  const sink = { send: () => undefined, close: () => undefined }
  const connection = new Connection('c', { identity, terms: 0 }, sink, clock, () => undefined)
  account.add(connection)
  account.log(connection, { type: 'connect', status: 101, code: '' })
  account.report()
  await account.settled()
  expect([taken.length, accounts.hasPendingEvents]).toEqual([0, true])
  clock.nowMs += 15_000
  isAway = true
  account.tick()
  await account.settled()
  isAway = false
  account.tick()
  await account.settled()
  const event = { keyHash: 'k', product: 'stream', ms: null, micro: 0, requestId: '', code: '' }
  const connect = { ...event, atMs: 1_000, type: 'connect', status: 101 }
  expect(taken).toEqual([{ source: 'r 1000', number: 1, calls: 1, rows: [connect], counts: expect.any(Array) }])
  expect(accounts.hasPendingEvents).toBe(false)
  account.log(connection, { type: 'close', status: 200, code: '' })
  account.remove(connection)
  await account.settled()
  expect(taken[1]).toMatchObject({ number: 2, rows: [{ type: 'close', atMs: 16_000 }] })
  expect(account.isIdle).toBe(true)
  // A meter that is away for ten minutes does not keep a relay awake.
  isAway = true
  account.log(connection, { type: 'close', status: 200, code: '' })
  for (let i = 0; i < 64; i++, clock.nowMs += 10_000) {
    expect(accounts.hasPendingEvents).toBe(i < 62)
    account.tick()
    await account.settled()
  }
})

test.each([
  [1000, 200],
  [1006, 200],
  [3999, 200],
  [4402, 402],
  [4408, 408],
  [1008, 429],
  [1009, 413],
  [1011, 500],
  [1012, 503],
])('a close with %i counts as %i', (code, status) => {
  expect(closeStatus(code)).toBe(status)
})

test('a new report right after a reply is sent at once', async () => {
  const meter = new ModelStreams(1e15)
  for (let hops = 0; hops < 12; hops++) {
    const minutes = minutesOf('s', 0, `b${hops}`)
    const { line } = lineThatBreaks(`r${hops}`, meter)
    await line.requestMinute(minutes)
    for (let hop = 0; hop < hops; hop++) await Promise.resolve()
    line.end(minutes)
    await line.settled()
    await line.settled()
    expect(meter.stream(`r${hops}/s`)?.restMs).toBe(60_000)
  }
})

// WS-37, WS-38
test.each(['deaf', 'mute'] as const)(
  'an end is reported once the meter is back, however long it was %s',
  async (away) => {
    const { line, clock, meter, state, reportAndSettle } = lineThatBreaks()
    const one = minutesOf('s', 0)
    await line.requestMinute(one)
    state.away = away
    // Two more minutes have started, and the last has 50 s left.
    clock.nowMs = 130_000
    line.end(one)
    await line.settled()
    for (; clock.nowMs < 1_500_000; clock.nowMs += 10_000) {
      expect(line.hasPendingEnds).toBe(true)
      await reportAndSettle()
    }
    state.away = 'no'
    await reportAndSettle()
    expect([line.hasPendingEnds, line.isIdle]).toEqual([false, true])
    expect(meter.charges.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2])
    if (away === 'mute') return
    const next = minutesOf('t', clock.nowMs)
    expect(await line.requestMinute(next)).toEqual({ ok: true, leftMs: 50_000 })
    expect(meter.charges).toHaveLength(3)
  },
)

test('nothing starts above the limit of unreported ends, and all ends are reported', async () => {
  const { line, meter, state, reportAndSettle } = lineThatBreaks()
  const paid = Array.from({ length: 10 }, (_, index) => minutesOf(`p${index}`, 0, `p${index}`))
  await Promise.all(paid.map((minutes) => line.requestMinute(minutes)))
  state.away = 'deaf'
  const failed = Array.from({ length: 10_000 }, (_, index) =>
    line.requestMinute(minutesOf(`f${index}`, 0)).catch(() => 'failed'),
  )
  expect(new Set(await Promise.all(failed))).toEqual(new Set(['failed']))
  await line.settled()
  const { asked } = state
  await expect(line.requestMinute(minutesOf('late', 0))).rejects.toThrow()
  expect(state.asked).toBe(asked)
  for (const minutes of paid) line.end(minutes)
  await line.settled()
  state.away = 'no'
  await reportAndSettle()
  expect(line.hasPendingEnds).toBe(false)
  expect(paid.map(({ id }) => meter.stream(`r/${id}`)?.restMs)).toEqual(paid.map(() => 60_000))
})
