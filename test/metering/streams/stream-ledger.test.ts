import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import type { MinuteCharge, StreamReport } from '../../../src/metering/streams/stream-api.ts'
import { ModelStreams } from './model-streams.ts'

const CREDIT = 1_000_000
const charge = (name: string, ordinal: number, leftMs = 60_000): MinuteCharge => ({
  subscription: `r/${name}`,
  ordinal,
  count: 1,
  keyHash: keyHashOf('k'),
  type: 'allFills',
  amount: CREDIT,
  body: 'b',
  leftMs,
})
const report = (over: Partial<StreamReport>): StreamReport => ({
  v: 1,
  relay: 'r',
  life: 1,
  alive: null,
  sockets: 1,
  subscriptions: 0,
  perMinute: 0,
  keys: [keyHashOf('k')],
  limits: { connections: 10, subscriptions: 10 },
  connects: [],
  charges: [],
  ends: [],
  ...over,
})
const end = (name: string, leftMs: number) => ({ subscription: `r/${name}`, body: 'b', leftMs })

describe('an unserved first minute', () => {
  const unserved = { type: 'allFills', amount: CREDIT }

  it('is refunded once, however often its end is reported, and leaves no rest', () => {
    const meter = new ModelStreams(CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    expect(meter.account).toMatchObject({ available: 0, spent: CREDIT })
    for (const nowMs of [5_000, 6_000]) meter.take(report({ ends: [{ ...end('first', 60_000), unserved }] }), nowMs)
    expect(meter.account).toMatchObject({ available: CREDIT, spent: 0, granted: CREDIT })
    meter.take(report({ charges: [charge('second', 0)] }), 7_000)
    expect(meter.charges).toHaveLength(2)
  })

  it('restores the rest that it used', () => {
    const meter = new ModelStreams(CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    meter.take(report({ ends: [end('first', 40_000)] }), 20_000)
    meter.take(report({ charges: [charge('second', 0)] }), 21_000)
    meter.take(report({ ends: [{ ...end('second', 40_000), unserved }] }), 25_000)
    expect(meter.take(report({ charges: [charge('third', 0)] }), 26_000).minutes).toEqual([
      { ok: true, leftMs: 40_000 },
    ])
    expect([meter.charges.length, meter.refunds]).toEqual([1, []])
  })

  it('that was never charged is not refunded', () => {
    const meter = new ModelStreams(CREDIT)
    meter.take(report({ ends: [{ ...end('first', 60_000), unserved }] }), 0)
    expect(meter.refunds).toEqual([])
  })
})

describe('the rest of a minute', () => {
  it('is 0 if the minute was refused', () => {
    const meter = new ModelStreams(CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    const due = charge('first', 1, 59_000)
    expect(meter.take(report({ charges: [due] }), 61_000).minutes).toMatchObject([{ ok: false, reason: 'exhausted' }])
    // The relay ends the socket, and requests the minute again with the end.
    meter.take(report({ charges: [due], ends: [end('first', 58_000)] }), 62_000)
    const back = meter.take(report({ connects: [keyHashOf('k')], charges: [charge('second', 0)] }), 63_000)
    expect(back.connects).toEqual(['exhausted'])
    expect(back.minutes).toMatchObject([{ ok: false, reason: 'exhausted' }])
    expect(meter.charges).toHaveLength(1)
  })

  it('is kept if the minute was paid with the end', () => {
    const meter = new ModelStreams(2 * CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    meter.take(report({ charges: [charge('first', 1, 58_000)], ends: [end('first', 58_000)] }), 62_000)
    expect(meter.take(report({ sockets: 0, connects: [keyHashOf('k')] }), 63_000).connects).toEqual(['in'])
    const back = meter.take(report({ charges: [charge('second', 0)] }), 63_000)
    expect(back.minutes).toEqual([{ ok: true, leftMs: 58_000 }])
    expect(meter.charges).toHaveLength(2)
  })
})

it('several minutes are paid one after another, as far as the balance reaches, and each of them once', () => {
  const meter = new ModelStreams(3 * CREDIT)
  meter.take(report({ charges: [charge('first', 0)] }), 0)
  const due = { ...charge('first', 5, 30_000), count: 5 }
  expect(meter.take(report({ charges: [due] }), 330_000).minutes).toMatchObject([{ ok: false, reason: 'exhausted' }])
  expect(meter.charges.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2])
  meter.grant(10 * CREDIT)
  for (const nowMs of [331_000, 332_000]) meter.take(report({ charges: [due] }), nowMs)
  expect(meter.charges.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4, 5])
})

describe('minutes that have passed', () => {
  it('are charged with the end even if their key was revoked meanwhile, and their rest serves nothing', () => {
    const meter = new ModelStreams(100 * CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    meter.revoked.add('k')
    const due = { ...charge('first', 9, 20_000), count: 9 }
    const ended = report({ charges: [due], ends: [end('first', 20_000)] })
    for (const nowMs of [580_000, 581_000]) meter.take(ended, nowMs)
    expect(meter.account.spent).toBe(10 * CREDIT)
    const back = meter.take(report({ connects: [keyHashOf('k')], charges: [charge('second', 0)] }), 582_000)
    expect([back.connects, back.minutes]).toEqual([['revoked'], [{ ok: false, reason: 'revoked' }]])
  })

  it('are charged with the response that ends the sockets of a revoked key', () => {
    const meter = new ModelStreams(100 * CREDIT)
    meter.take(report({ charges: [charge('first', 0)] }), 0)
    meter.revoked.add('k')
    const answer = meter.take(report({ charges: [{ ...charge('first', 3, 50_000), count: 3 }] }), 190_000)
    expect([answer.revoked, meter.account.spent]).toEqual([['k'], 4 * CREDIT])
  })
})
