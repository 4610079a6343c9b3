// When a pipeline reports to its meter what it owes, in virtual time: a batch of so many rows a turn.

import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { ONE_CREDIT } from '../../../src/metering/tariff.ts'
import {
  addMinutes,
  addRows,
  billedRowCount,
  type DeliveryPorts,
  INITIAL_BILLING,
  INITIAL_DELIVERY,
  pendingDebts,
} from '../../../src/pipelines/sink/delivery-state.ts'
import { ModelMeter } from '../../metering/model-meter.ts'
import { PAUSED, RUNNING, World } from './world.ts'

const ROW = 100
const CREDIT_ROWS = ONE_CREDIT / ROW

function pipeline(credits: number, rowMicro = ROW, before = INITIAL_BILLING, minuteMicro = 0) {
  const world = new World()
  world.minuteMicro = minuteMicro
  world.meter = new ModelMeter(credits * ONE_CREDIT)
  world.rowMicro = rowMicro
  const { payer } = world
  /** What a batch has, how many were sent, and what happens before one is asked to be paid for. */
  const batch = { rows: 0, sent: 0, beforePaying: () => {} }
  let height = 0
  const take = async () => {
    height++
    const after = { place: { height: height + 1 }, epoch: null, timeMs: 0, fold: null }
    const row = { _kind: 'row' as const, _key: `${height}`, _height: height, _time: 0 }
    const taken = { from: height, to: height, rows: [row], texts: ['{}'], chars: 2, after, isEnd: false, isHead: false }
    return batch.rows === 0 ? null : taken
  }
  const send: DeliveryPorts['send'] = async (_, affords) => {
    const { rows } = batch
    batch.beforePaying()
    if (!(await affords(rows))) return { ok: false, message: 'unpaid', isNotAttempted: true, unpaidRows: rows }
    batch.sent++
    return { ok: true, bytes: 0, billedRows: rows }
  }
  const delivery = world.delivery(
    { end: async () => null, assembler: () => ({ take, retryMs: 0, ordersFrom: null }), send, save: () => undefined },
    RUNNING,
    { ...INITIAL_DELIVERY, owed: before },
  )
  /** Another key is the pipeline's now. */
  const handOver = (hash: string) => {
    const { hash: former } = payer
    payer.hash = keyHashOf(hash)
    delivery.changePayer(keyHashOf(former))
  }
  /** A batch each `everyMs`, until one has to wait; none where it has no rows. */
  const batches = async (count: number, rows: number, everyMs: number) => {
    batch.rows = rows
    for (let at = 0; at < count; at++) {
      const { sent } = batch
      const waitMs = await delivery.turn()
      if (batch.sent === sent && delivery.waitsFor !== null) return { batch: at, waitMs }
      world.nowMs += everyMs
    }
    return null
  }
  /** It has nothing to do. */
  const sleep = () => {
    delivery.applyDesired(PAUSED, 'none')
    return delivery.turn()
  }
  return { ...world, world, delivery, batch, batches, handOver, sleep, owed: () => delivery.state.owed }
}

// PIPE-25
describe('rows', () => {
  it('are counted individually, and long ones by size, so that merging a batch into one row saves nothing', () => {
    expect(billedRowCount(['{}', 'x'.repeat(1_024), 'x'.repeat(1_025), 'x'.repeat(10_240)])).toBe(1 + 1 + 2 + 10)
    expect(billedRowCount([])).toBe(0)
    expect(addRows({ rows: 5, spent: 500, told: 400, askAtMs: 7 }, 3, 100)).toEqual({
      rows: 8,
      spent: 800,
      told: 400,
      askAtMs: 7,
    })
  })

  it('that are free are not counted, and the meter is asked only about their key', async () => {
    const { batches, world, owed, delivery, sleep } = pipeline(0, 0)
    expect(await batches(50, 5_000, 1_000)).toBeNull()
    expect([await sleep(), await delivery.refusal(), world.asked]).toEqual([null, null, 3])
    expect(owed()).toEqual(INITIAL_BILLING)
  })

  it('that have become free do not cancel earlier debts', async () => {
    const { meter, batches } = pipeline(5, 0, { ...INITIAL_BILLING, rows: 3, spent: 300, askAtMs: 5 })
    await batches(1, 0, 0)
    expect(meter.account.spent).toBe(300)
  })
})

// PIPE-32
describe('minutes', () => {
  const MINUTE = ONE_CREDIT / 20
  const run = (credits: number, rowMicro = ROW) => pipeline(credits, rowMicro, INITIAL_BILLING, MINUTE)

  it('are charged once as they begin, not while the pipeline is paused, and not again after a short pause', async () => {
    const { batches, owed, sleep, delivery, world, meter } = run(1_000)
    for (let second = 0; second < 590; second++) await batches(1, 0, 1_000)
    expect(owed().spent).toBe(10 * MINUTE)
    await sleep()
    world.nowMs += 5_000
    delivery.applyDesired(RUNNING, 'none')
    await batches(1, 0, 0)
    expect(owed().spent).toBe(10 * MINUTE)
    await sleep()
    world.nowMs += 86_400_000
    delivery.applyDesired(RUNNING, 'none')
    await batches(1, 0, 0)
    await sleep()
    expect([owed().spent, meter.account.spent, owed().rows]).toEqual([11 * MINUTE, 11 * MINUTE, 0])
  })

  it('that cannot be paid stop the pipeline, also where rows are free', async () => {
    for (const rowMicro of [ROW, 0]) {
      const { batches, delivery, meter, world, owed } = run(0, rowMicro)
      meter.grant(2 * MINUTE)
      for (let second = 0; second < 600; second++) await batches(1, 0, 1_000)
      expect([delivery.waitsFor, meter.account.spent]).toEqual(['credits', 2 * MINUTE])
      expect(owed().spent).toBeLessThanOrEqual(3 * MINUTE)
      meter.grant(ONE_CREDIT)
      world.nowMs += 60_000
      await batches(2, 0, 1_000)
      expect(delivery.waitsFor).toBeNull()
    }
  })

  it('that ran under a key are owed by it, even if another key pays when they are charged', async () => {
    const { batches, bills, handOver, sleep, world } = run(1_000)
    await batches(1, 0, 290_000)
    handOver('k2')
    await batches(1, 0, 60_000)
    await batches(1, 0, 0)
    await sleep()
    expect(bills).toEqual([
      ['k1', MINUTE],
      ['k1', 5 * MINUTE],
      ['k2', 5 * MINUTE],
      ['k2', 6 * MINUTE],
    ])
    expect(world.meter.account.spent).toBe(6 * MINUTE)
  })

  it('of a pipeline that was not in memory are charged, up to half an hour', () => {
    const charged = (ms: number) =>
      addMinutes({ ...INITIAL_BILLING, paidToMs: 60_000 }, { isRunning: true, nowMs: 60_000 + ms, minuteMicro: 1 })
    expect([charged(-1), charged(0), charged(59_999)].map(({ spent }) => spent)).toEqual([0, 1, 1])
    expect(charged(240_000)).toMatchObject({ spent: 5, paidToMs: 360_000 })
    expect(charged(86_400_000)).toMatchObject({ spent: 30, paidToMs: 86_520_000 })
    // The clock was set back.
    expect(charged(-86_400_000)).toMatchObject({ spent: 1, paidToMs: -86_280_000 })
  })
})

// PIPE-26
describe('the meter', () => {
  it('is asked before the first batch, and then receives a report every ten seconds', async () => {
    const { batches, world, meter } = pipeline(1_000)
    expect(await batches(1, 10, 0)).toBeNull()
    expect([world.asked, meter.told]).toEqual([1, [0]])
    await batches(60, 10, 1_000)
    expect(world.asked).toBe(6)
    // Nothing arrives: there is nothing to tell, and the meter is asked about the key.
    for (let second = 0; second < 600; second++, world.nowMs += 1_000) await batches(1, 0, 0)
    expect(world.asked).toBe(6 + 600 / 20)
  })

  it('is told at once of ten credits, and of a small part of that where little is left', async () => {
    const ample = pipeline(1_000)
    await ample.batches(20, 5 * CREDIT_ROWS, 100)
    expect(ample.world.asked).toBe(10)
    const little = pipeline(64)
    await little.batches(10, CREDIT_ROWS, 100)
    // Once more for what each batch is to cost, before it is sent.
    expect(little.world.asked).toBe(10 + 9)
  })

  it('receives a report before the object sleeps, repeated until it responds', async () => {
    const { delivery, world, sleep, meter, owed } = pipeline(1)
    expect([await sleep(), world.asked]).toEqual([null, 0])
    delivery.chargeRows(7, keyHashOf('k1'))
    world.isAway = true
    expect(await sleep()).toBe(10_000)
    world.isAway = false
    expect(await sleep()).toBeNull()
    expect([meter.account.spent, owed()]).toEqual([700, { rows: 7, spent: 700, told: 700, askAtMs: null }])
  })

  it('that is away is tried every ten seconds; rows go on until ten credits are owed, then they wait', async () => {
    const { batches, world, delivery, meter, logged, owed } = pipeline(1_000)
    world.isAway = true
    expect(await batches(1_000, CREDIT_ROWS, 1_000)).toEqual({ batch: 10, waitMs: expect.any(Number) })
    expect([owed().spent, delivery.waitsFor, world.asked]).toEqual([10 * ONE_CREDIT, 'meter', 2])
    expect(logged).toEqual([expect.stringContaining('meter')])
    world.nowMs += 10_000
    world.isAway = false
    expect([await batches(1, 0, 0), meter.account.spent]).toEqual([null, 10 * ONE_CREDIT])
  })
})

// PIPE-27
describe('without credits', () => {
  it('no batch is sent, one log line reports it, and the meter is asked once a minute', async () => {
    const { batches, world, delivery, meter, logged } = pipeline(0)
    expect(await batches(1, 1, 0)).toEqual({ batch: 0, waitMs: 60_000 })
    for (let second = 0; second < 179; second++, world.nowMs += 1_000) await delivery.turn()
    expect([world.asked, delivery.waitsFor]).toEqual([3, 'credits'])
    expect(logged).toEqual([expect.stringMatching(/^Unpaid: .*top-up/)])
    meter.grant(ROW)
    expect(await delivery.turn()).toBeGreaterThan(0)
    world.nowMs += 1_000
    expect([await batches(1, 1, 0), logged.at(-1)]).toEqual([null, expect.stringContaining('Credits')])
  })

  it('the meter is asked again even if the clock is set back', async () => {
    const { batches, world, meter } = pipeline(0)
    await batches(1, 1, 0)
    meter.grant(100 * ONE_CREDIT)
    world.nowMs -= 31_536_000_000
    expect(await batches(1, 1, 0)).toBeNull()
    world.isAway = true
    world.nowMs -= 31_536_000_000
    const { batch, waitMs } = (await batches(99, 100_000, 0))!
    expect([batch, waitMs]).toEqual([1, 10_000])
    world.isAway = false
    world.nowMs -= 31_536_000_000
    expect(await batches(1, 0, 0)).toBeNull()
  })

  it('nobody waits any more once rows are free, though nobody can say so', async () => {
    const before = { rows: 1, spent: 20 * ONE_CREDIT, told: 0, askAtMs: 1_030_000 }
    const { batches, delivery, world, owed } = pipeline(0, 0, before)
    world.isAway = true
    expect(await batches(9, 5, 10_000)).toBeNull()
    delivery.chargeRows(5, keyHashOf('k1'))
    expect([delivery.waitsFor, owed().spent]).toEqual([null, 20 * ONE_CREDIT])
  })

  it('it is asked at once where somebody wants that', async () => {
    const { batches, world, delivery, meter } = pipeline(0)
    await batches(1, 1, 0)
    meter.grant(ONE_CREDIT)
    delivery.applyDesired(RUNNING, 'none')
    expect([await batches(1, 0, 0), world.asked]).toEqual([null, 2])
  })

  it('a batch that costs more than is left is not sent, and what it costs is waited for', async () => {
    for (const credits of [1, 3, 20, 100]) {
      const { batches, meter, logged, delivery, world } = pipeline(credits)
      await batches(10_000, 999, 20)
      expect([delivery.waitsFor, meter.account.writtenOff]).toEqual(['credits', 0])
      expect(meter.account.available).toBeLessThan(999 * ROW)
      expect(logged).toEqual([expect.stringMatching(/^Unpaid: .* 0\.0999\. /)])
      // Some, but not enough: it waits on without a word.
      meter.grant(ROW)
      world.nowMs += 60_000
      expect([await delivery.turn(), logged.length]).toEqual([60_000, 1])
      meter.grant(999 * ROW)
      world.nowMs += 60_000
      expect([await batches(1, 999, 0), logged.length]).toEqual([null, 2])
    }
  })

  it('what others spend meanwhile is heard of before a batch that comes near the end', async () => {
    const { batches, meter, world, delivery, handOver, batch } = pipeline(100)
    await batches(1, 1, 0)
    meter.charge('others', 99 * ONE_CREDIT)
    await batches(1, 2 * CREDIT_ROWS, 0)
    expect([delivery.waitsFor, batch.sent]).toEqual(['credits', 1])
    // A key that the pipeline was handed from has nothing sent any more.
    meter.grant(100 * ONE_CREDIT)
    world.nowMs += 60_000
    batch.beforePaying = () => handOver('k2')
    expect([await batches(1, 1, 0), batch.sent]).toEqual([null, 1])
  })

  it('less than one settlement was delivered unpaid where others spend, and is written off', async () => {
    // Somebody else has spent them meanwhile.
    const { batches, meter } = pipeline(1_000)
    await batches(1, 1, 0)
    meter.charge('others', 999.5 * ONE_CREDIT)
    await batches(100, CREDIT_ROWS, 100)
    expect(meter.accounted - 1_000 * ONE_CREDIT).toBeLessThan(11 * ONE_CREDIT)
  })

  it('what is away says nothing of credits: one that waits for them goes on waiting', async () => {
    const { batches, world, delivery } = pipeline(0)
    await batches(1, 1, 0)
    world.nowMs += 60_000
    world.isAway = true
    expect([await delivery.turn(), delivery.waitsFor]).toEqual([60_000, 'credits'])
  })

  it('the message names the cap of the key if that is exhausted', async () => {
    const { batches, world, logged } = pipeline(0)
    world.cap = 2.5 * ONE_CREDIT
    await batches(1, 1, 0)
    expect(logged[0]).toMatch(/^Unpaid: .*cap 2\.5/)
  })

  it('a test is refused, and where the meter is away', async () => {
    const { delivery, world, meter, owed } = pipeline(0)
    expect(await delivery.refusal()).toMatch(/^Unpaid: /)
    expect(owed().askAtMs).toBeNull()
    meter.grant(ONE_CREDIT)
    expect(await delivery.refusal()).toBeNull()
    world.isAway = true
    expect(await delivery.refusal()).toMatch(/meter/)
  })
})

// PIPE-29
describe('a key', () => {
  it('that was revoked or has expired sends nothing 20 s later, whether rows come, are free or do not come', async () => {
    for (const [rows, rowMicro] of [
      [10, ROW],
      [0, ROW],
      [10, 0],
    ] as const)
      for (const why of ['revoked', 'expired'] as const) {
        const { batches, ended, world, delivery, sleep, logged, owed } = pipeline(1_000, rowMicro)
        await batches(25, rows, 1_000)
        ended.set('k1', why)
        const beganMs = world.nowMs
        for (let second = 0; second < 60 && delivery.waitsFor === null; second++) await batches(1, rows, 1_000)
        expect(delivery.waitsFor).toBe('key')
        expect(world.nowMs - beganMs).toBeLessThanOrEqual(21_000)
        const words = why === 'revoked' ? 'was revoked' : 'has expired'
        expect(logged).toEqual([expect.stringMatching(`^Paused: .*"one" ${words}`)])
        expect(owed().ended?.words).toBe(logged[0])
        // What it has brought is still told before it sleeps, and nobody is asked then.
        await sleep()
        expect(owed().told).toBe(owed().spent)
      }
  })

  it('that has ended may work again, and is asked about when the pipeline is set to run', async () => {
    const { batches, ended, delivery, handOver, logged } = pipeline(10)
    ended.set('k1', 'expired')
    await batches(1, 1, 0)
    delivery.applyDesired(RUNNING, 'none')
    await batches(1, 1, 0)
    expect([delivery.waitsFor, logged.length]).toEqual(['key', 2])
    ended.delete('k1')
    delivery.applyDesired(RUNNING, 'none')
    expect(await batches(1, 1, 0)).toBeNull()
    ended.set('k2', 'revoked')
    handOver('k2')
    await batches(1, 1, 0)
    expect(delivery.waitsFor).toBe('key')
  })

  it('owes what arrived under it, to the row, whoever pays for what comes after it', async () => {
    const { delivery, sleep, batches, handOver, bills, owed, meter, world } = pipeline(10)
    await batches(1, 0, 0)
    delivery.chargeRows(3, keyHashOf('k1'))
    world.isAway = true
    handOver('k2')
    delivery.chargeRows(4, keyHashOf('k2'))
    // A test, by a third; and a batch of before that arrives late.
    delivery.chargeRows(5, keyHashOf('k3'))
    delivery.chargeRows(6, keyHashOf('k2'))
    delivery.chargeRows(7, keyHashOf('k1'))
    expect(pendingDebts(owed(), keyHashOf('k2')).map(({ by, rows }) => [by, rows])).toEqual([
      ...[['k1', 3] as const, ['k2', 7] as const, ['k3', 12] as const, ['k2', 18] as const, ['k1', 25] as const],
    ])
    await sleep()
    world.isAway = false
    bills.length = 0
    expect(await sleep()).toBeNull()
    const last = ['k2', 25 * ROW] as const
    expect(bills).toEqual([['k1', 300], ['k2', 700], ['k3', 1_200], ['k2', 1_800], ['k1', 2_500], last])
    expect([meter.account.spent, owed().debts, pendingDebts(owed(), keyHashOf('k2'))]).toEqual([
      25 * ROW,
      undefined,
      [],
    ])
  })

  it('that tests a pipeline of another pays for the test, and its cap counts', async () => {
    const { delivery, bills, ended, world } = pipeline(10)
    expect(await delivery.refusal({ hash: keyHashOf('k9'), name: 'tester' })).toBeNull()
    expect(bills.at(-1)).toEqual(['k9', 0])
    ended.set('k9', 'revoked')
    expect(await delivery.refusal({ hash: keyHashOf('k9'), name: 'tester' })).toMatch(/^Paused: .*"tester"/)
    world.isAway = true
    expect(await delivery.refusal({ hash: keyHashOf('k9'), name: 'tester' })).toMatch(/did not respond/)
  })
})
