// A pipeline whose log, archive, destination and machine fail at every step, in virtual time and from a seed.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toChunks } from '../../../src/core/chunks.ts'
import { planBackfill } from '../../../src/pipelines/backfill.ts'
import type { DeliveryResult } from '../../../src/pipelines/destinations/batch.ts'
import { FatalPipelineError } from '../../../src/pipelines/pipeline.ts'
import { Assembler } from '../../../src/pipelines/sink/batch-assembler.ts'
import { type Delivery, MAX_ATTEMPTS } from '../../../src/pipelines/sink/delivery.ts'
import type {
  BatchRows,
  DeliveryPorts,
  DeliveryState,
  DesiredState,
} from '../../../src/pipelines/sink/delivery-state.ts'
import { Source } from '../../../src/pipelines/sink/source.ts'
import { keyedRows, type TopicBlock, type TopicFold } from '../../../src/pipelines/topics/topic.ts'
import type { DurablePage } from '../../../src/protocol/feed/durable-api.ts'
import { ModelMeter } from '../../metering/model-meter.ts'
import { BLOCK_MS, expected, FIRST, LAST, ofKind, PAUSED, RUNNING, World } from './world.ts'

describe('a pipeline', () => {
  // PIPE-2, PIPE-7, PIPE-8, PIPE-9
  it('delivers every row once, in order, from the archive and then the log, and stops at its end', async () => {
    const world = new World()
    world.head = LAST + 5
    world.archivedTo = 40
    const delivery = await world.run()
    expect(ofKind(world, 'row').map(({ _key }) => _key)).toEqual(expected([]))
    expect(ofKind(world, 'gap')).toEqual([])
    expect(ofKind(world, 'reset')).toEqual([
      { _kind: 'reset', _key: 'reset:40', _height: 40, _time: 2_800, _epoch: 'b' },
    ])
    expect(delivery.state).toMatchObject({ isFinished: true, confirmed: { height: LAST }, flight: null })
    expect(delivery.phase(null)).toBe('finished')
  })

  // PIPE-6
  it('reports unavailable heights and damaged archive blocks', async () => {
    const world = new World({ missing: [39, 40], damaged: [17] })
    world.head = 50
    world.archivedTo = 37
    await world.run()
    const gaps = ofKind(world, 'gap').map(({ _from, _height, _reason }) => [_from, _height, _reason])
    expect(gaps).toEqual([
      [17, 23, 'the archive of these blocks is damaged'],
      [39, 40, 'these blocks are not available'],
    ])
    const rows = ofKind(world, 'row').map(({ _key }) => _key)
    expect(rows).toEqual(expected([17, 18, 19, 20, 21, 22, 23, 39, 40]))
  })

  // PIPE-1, PIPE-2, PIPE-3, PIPE-4
  it('delivers every row once and in order despite crashes and failures, and is never ahead of its destination', async () => {
    const fault = fc.oneof(
      { weight: 12, arbitrary: fc.constant('ok' as const) },
      { weight: 2, arbitrary: fc.constant('fails' as const) },
      { weight: 2, arbitrary: fc.constant('lost answer' as const) },
      { weight: 2, arbitrary: fc.constant('killed' as const) },
    )
    const draws = fc.infiniteStream(fault)
    let kills = 0
    await fc.assert(
      fc.asyncProperty(
        draws,
        fc.constantFrom('pause' as const, 'dead_letter' as const),
        fc.constantFrom(0, 60_000),
        async (faults, onFailure, gatherMs) => {
          const world = new World({ draw: () => faults.next().value, onFailure, gatherMs })
          await world.run()
          kills += world.kills
          const buried = world.letters.flatMap(({ rows }) => rows)
          const keys = [...ofKind(world, 'row'), ...buried.filter(({ _kind }) => _kind === 'row')].map(
            ({ _key }) => _key,
          )
          expect([...new Set(keys)].sort()).toEqual(expected([]).sort())
          const heights = [...world.applied.values()].map(({ _height }) => _height)
          expect(heights).toEqual(heights.toSorted((a, b) => a - b))
          // The fold went over each block once.
          for (const row of ofKind(world, 'row')) {
            const { _height: to } = row
            expect(row.sum).toBe(((FIRST + to) * (to - FIRST + 1)) / 2)
          }
        },
      ),
      { numRuns: 150 },
    )
    expect(kills).toBeGreaterThan(1_000)
  })

  // PIPE-33
  it('delivers the rows of repaired heights once, marked, in the order of repairs, despite crashes and failures', async () => {
    const fault = fc.oneof(
      { weight: 12, arbitrary: fc.constant('ok' as const) },
      { weight: 1, arbitrary: fc.constant('fails' as const) },
      { weight: 1, arbitrary: fc.constant('lost answer' as const) },
      { weight: 1, arbitrary: fc.constant('killed' as const) },
    )
    const missing = [20, 21, 22, 23, 37, 38, 39, 40]
    let kills = 0
    let marked = 0
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fault),
        fc.array(fc.nat(500), { minLength: 3, maxLength: 3 }),
        async (faults, at) => {
          const world = new World({ missing, draw: () => faults.next().value })
          world.end = null
          // The rest of a gap may be repaired before the gap is passed, and another one later.
          const repairs = [
            { id: 1, from: 38, to: 40 },
            { id: 4, from: 20, to: 23 },
            { id: 5, from: 37, to: 37 },
          ]
          const turns = at.toSorted((a, b) => a - b)
          await world.run(6_000, (turn) => {
            // Only archived heights have gaps to repair.
            for (const [index, one] of repairs.entries())
              if (turn >= turns[index]! && world.archivedTo >= one.to + 7 && world.repairs.length === index)
                world.repairs.push(one)
            const { repair, repairedTo, confirmed } = world.saved
            return repair === null && repairedTo === 5 && confirmed?.height === LAST + 5
          })
          kills += world.kills
          const rows = ofKind(world, 'row')
          expect(
            rows
              .map(({ _key }) => _key)
              .filter((key) => Number(key.split(':')[0]) <= LAST)
              .sort(),
          ).toEqual(expected([]).sort())
          const repaired = rows.filter(({ _repaired }) => _repaired).map(({ _height }) => _height)
          const late = repairs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
          expect(repaired).toEqual(late.flatMap((height) => repaired.filter((one) => one === height)))
          marked += repaired.length
        },
      ),
      { numRuns: 60 },
    )
    expect(kills).toBeGreaterThan(100)
    expect(marked).toBeGreaterThan(100)
  })

  it('delivers rows once that are repaired before they are read, also while it is behind', async () => {
    const world = new World({ missing: [20, 21, 22, 23] })
    world.end = null
    world.head = 70
    world.archivedTo = 60
    const { send } = world.ports
    const sent: string[] = []
    const delivery = world.delivery({
      send: (batch, affords) => {
        sent.push(...batch.rows.filter(({ _kind }) => _kind === 'row').map(({ _key }) => _key))
        return send(batch, affords)
      },
    })
    for (let turn = 0; turn < 100 || !delivery.isAtHead; turn++) {
      if (world.saved.repairedTo === 0 && world.repairs.length === 0)
        world.repairs.push({ id: 1, from: 20, to: 21 }, { id: 2, from: 22, to: 23 })
      world.nowMs += Math.max((await delivery.turn()) ?? 0, 1)
    }
    world.nowMs += 600_000
    for (let turn = 0; turn < 100; turn++) await delivery.turn()
    expect(world.saved.repairedTo).toBe(2)
    expect(sent.filter((key) => Number(key.split(':')[0]) <= LAST)).toEqual(expected([]))
  })

  it('finds a repair while it only waits for rows', async () => {
    const world = new World({ missing: [20, 21, 22, 23] })
    world.end = null
    world.head = 70
    world.archivedTo = 60
    const delivery = world.delivery()
    while (!delivery.isAtHead) world.nowMs += Math.max((await delivery.turn()) ?? 0, 1)
    world.repairs.push({ id: 1, from: 20, to: 23 })
    await delivery.rest()
    expect(delivery.waitsFrom).toBe(71)
    world.nowMs += 240_000
    await delivery.rest()
    expect([delivery.waitsFrom, delivery.isAtHead]).toEqual([null, false])
    while (world.saved.repair !== null || !delivery.isAtHead) await delivery.turn()
    expect(ofKind(world, 'row').flatMap(({ _height, _repaired }) => (_repaired ? [_height] : []))).toEqual([
      ...[20, 20, 22],
      ...[23, 23],
    ])
  })

  it('resumes at its position after a crash at any step', async () => {
    let calls = 0
    for (let at = 0; at <= calls; at++) {
      calls = 0
      const world = new World({ draw: () => (calls++ === at ? 'killed' : 'ok') })
      world.end = { height: FIRST + 5 }
      await world.run()
      const rows = expected([]).filter((key) => Number(key.split(':')[0]) <= FIRST + 5)
      expect([at, ofKind(world, 'row').map(({ _key }) => _key)]).toEqual([at, rows])
      expect(world.meter.accounted).toBe(rows.length * world.rowMicro)
      world.meter.checkLaws()
    }
    expect(calls).toBeGreaterThan(6)
  })
})

// PIPE-12
it('a pipeline that cannot run reports it once, and waits for a changed record', async () => {
  const world = new World()
  let asked = 0
  const assembler: DeliveryPorts['assembler'] = () => {
    asked++
    throw new FatalPipelineError('topic: not here')
  }
  const delivery = world.delivery({ assembler })
  expect([await delivery.turn(), await delivery.turn(), asked]).toEqual([null, null, 1])
  expect(delivery.phase(0)).toBe('failed')
  expect(delivery.state.lastError?.words).toBe('topic: not here')
  expect(world.logged).toEqual([expect.stringContaining('topic: not here')])
  delivery.applyDesired(RUNNING, 'rows')
  expect([delivery.phase(0), await delivery.turn(), asked]).toEqual(['live', null, 2])
})

// PIPE-12
it('an unreadable block of the log stops the pipeline instead of being retried forever', async () => {
  const world = new World()
  const line = world.line.bind(world)
  world.line = (height) => (height === FIRST + 4 ? '{' : line(height))
  const delivery = world.delivery()
  for (let turns = 0; (await delivery.turn()) !== null; turns++) expect(turns).toBeLessThan(9)
  expect(delivery.state).toMatchObject({ isFailed: true, flight: null, confirmed: { height: FIRST + 3 } })
  expect(delivery.state.lastError!.words).toMatch(new RegExp(`^Block ${FIRST + 4} `))
  // Whoever reads it now can.
  world.line = line
  delivery.applyDesired(RUNNING, 'none')
  await delivery.turn()
  expect(delivery.state.confirmed!.height).toBeGreaterThan(FIRST + 4)
})

// PIPE-28
it('a feed that was reset to lower heights stops it, until the log has what was read, or for good where it has another block', async () => {
  const world = new World()
  let offset = 0
  world.line = (height) => JSON.stringify({ height, time: height * BLOCK_MS + offset, epoch: `of ${offset}` })
  // Whether it is ahead of its destination is asked of heights that the log has.
  const save = (state: DeliveryState) => {
    world.saved = state
  }
  let delivery = world.delivery({ save })
  const settled = async () => {
    for (let waitMs = await delivery.turn(); waitMs === 0; ) waitMs = await delivery.turn()
    return delivery.state
  }
  world.end = null
  world.head = FIRST + 9
  expect((await settled()).confirmed!.height).toBe(FIRST + 9)
  for (const wakes of [false, true]) {
    world.head = FIRST + 5
    if (wakes) delivery = world.delivery({ save })
    expect(await settled()).toMatchObject({ isFailed: true, confirmed: { height: FIRST + 9 } })
    expect(delivery.state.lastError!.words).toMatch(
      new RegExp(`^Block ${FIRST + 9} .* block ${FIRST + 5}: .*"execution_start_from"`),
    )
    // The same chain.
    world.head = FIRST + 9
    delivery.applyDesired(RUNNING, 'none')
    expect(await settled()).toMatchObject({ isFailed: false })
  }
  // Another one that has passed it meanwhile: nobody saw it below.
  offset = 5
  world.head = FIRST + 12
  delivery.applyDesired(PAUSED, 'none')
  delivery.applyDesired(RUNNING, 'none')
  expect(await settled()).toMatchObject({ isFailed: true, confirmed: { height: FIRST + 9 } })
  expect(delivery.state.lastError!.words).toMatch(/^Block 19 /)
  // Its destination has nothing of these names any more.
  for (const seen of [world.ids, world.ranges, world.applied]) seen.clear()
  delivery.applyDesired(RUNNING, 'start')
  expect((await settled()).confirmed!.height).toBe(FIRST + 12)
})

// PIPE-25, PIPE-26, PIPE-27
it('what arrived is charged once, and nothing arrives that is not paid for, whatever is killed, redelivered or without credits', async () => {
  const fault = fc.oneof(
    { weight: 10, arbitrary: fc.constant('ok' as const) },
    { weight: 2, arbitrary: fc.constantFrom('fails' as const, 'lost answer' as const) },
    { weight: 3, arbitrary: fc.constant('killed' as const) },
  )
  let kills = 0
  let buried = 0
  let unpaid = 0
  let cuts = 0
  const worlds = fc.tuple(
    fc.infiniteStream(fault),
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 100, max: 900 }),
  )
  await fc.assert(
    fc.asyncProperty(worlds, async ([faults, credits, top]) => {
      const world = new World({ draw: () => faults.next().value, onFailure: 'dead_letter' })
      world.meter = new ModelMeter(credits)
      world.top = top
      world.isBad = ({ from }) => from % 3 === 0
      let delivery = await world.run()
      buried += world.letters.length
      for (let runs = 0; runs < 200 && world.letters.length > 0; runs++) delivery = await world.run()
      const { account, accounted } = world.meter
      const { owed } = delivery.state
      expect(ofKind(world, 'row')).toHaveLength(expected([]).length)
      expect(owed).toEqual({ rows: expected([]).length, spent: accounted, told: accounted, askAtMs: null })
      expect(accounted).toBe(expected([]).length * world.rowMicro)
      expect(account.available + account.spent).toBe(account.granted)
      kills += world.kills
      unpaid += world.logged.filter((words) => words.startsWith('Unpaid')).length
      expect(world.unpaid).toBe(0)
      cuts += world.cuts
    }),
    { numRuns: 100 },
  )
  expect(Math.min(kills / 10, buried, unpaid, cuts)).toBeGreaterThan(50)
})

describe('a bad day', () => {
  // PIPE-1
  it('without working storage ends no turn with an error, and sends no row before its range is stored', async () => {
    const world = new World()
    let isFull = true
    const full =
      <Asked extends unknown[]>(work: (...asked: Asked) => void) =>
      (...asked: Asked) => {
        if (isFull) throw new Error('database or disk is full')
        work(...asked)
      }
    const { save, log, count } = world.ports
    const delivery = world.delivery({ save: full(save), log: full(log), count: full(count) })
    for (let turn = 0; turn < 3; turn++) expect(await delivery.turn()).toBe(5_000)
    expect(world.sends).toBe(0)
    isFull = false
    await delivery.turn()
    expect([world.sends, delivery.state.batches]).toEqual([1, 1])
    // A destination that took a batch gets the next one, though that could not be written down.
    isFull = true
    world.answer = null
    await delivery.turn()
    isFull = false
    await delivery.turn()
    expect(new Set(world.applied.keys()).size).toBe(world.applied.size)
    expect(delivery.phase(0)).not.toBe('failed')
  })

  // PIPE-11
  it('with a clock that is set back a year causes no longer waits', async () => {
    const world = new World()
    world.answer = () => ({ ok: false, message: '500' })
    const delivery = world.delivery()
    expect([await delivery.turn(), await delivery.turn(), world.sends]).toEqual([4_500, 4_500, 1])
    world.nowMs -= 31_536_000_000
    await delivery.turn()
    expect(world.sends).toBe(2)
  })

  it('says once what goes on, as it can be shown', async () => {
    const world = new World()
    let words = 'away\u001b[2J'
    const unread = { take: async () => Promise.reject(new Error(words)), retryMs: 0, ordersFrom: null }
    const delivery = world.delivery({ assembler: () => unread })
    const turns = async () => {
      for (let turn = 0; turn < 50; turn++) world.nowMs += (await delivery.turn())!
    }
    await turns()
    expect(delivery.state.lastError).toMatchObject({ words: 'away\\u001b[2J', atMs: world.nowMs - 5_000 })
    words = 'gone'
    await turns()
    world.nowMs += 3_600_000
    await turns()
    expect(world.logged).toEqual(['away\\u001b[2J', 'gone', 'gone'])
  })

  // PIPE-13
  it('on which its beginning is changed sends dead letters once more all the same', async () => {
    const world = new World()
    const delivery = world.delivery()
    world.letters.push({ from: 1, to: 2, rows: [], texts: [] })
    delivery.redeliver()
    delivery.applyDesired(PAUSED, 'start')
    delivery.applyDesired(RUNNING, 'none')
    for (let turn = 0; turn < 2; turn++) await delivery.turn()
    expect(world.letters).toEqual([])
  })
})

describe('a batch that fails', () => {
  const failing = (outcome: DeliveryResult, onFailure: DesiredState['onFailure'] = 'pause') => {
    const world = new World({ onFailure })
    world.answer = () => outcome
    const delivery = world.delivery({}, { ...RUNNING, onFailure })
    return { world, delivery }
  }
  const bad: DeliveryResult = { ok: false, message: '500' }

  // PIPE-11, PIPE-12
  it('is attempted eight times within ten minutes, unchanged, and then the pipeline stops', async () => {
    const { world, delivery } = failing(bad)
    const begunMs = world.nowMs
    for (let waitMs = await delivery.turn(); waitMs !== null; waitMs = await delivery.turn()) world.nowMs += waitMs
    expect([world.sends, world.ids.size]).toEqual([MAX_ATTEMPTS, 1])
    expect(world.nowMs - begunMs).toBeGreaterThan(8 * 60_000)
    expect(world.nowMs - begunMs).toBeLessThan(11 * 60_000)
    expect(delivery.phase(0)).toBe('failed')
    expect(await delivery.turn()).toBeNull()
    world.answer = null
    delivery.applyDesired(RUNNING, 'none')
    expect(delivery.phase(0)).not.toBe('failed')
    await delivery.turn()
    expect(world.applied.size).toBeGreaterThan(0)
  })

  it('is an error until the destination confirms a batch, and then an incident', async () => {
    const { world, delivery } = failing(bad)
    const sinceMs = world.nowMs
    for (const _ of [1, 2]) world.nowMs += (await delivery.turn())!
    expect(delivery.state).toMatchObject({ lastError: { sinceMs, words: '500' }, lastIncident: null })
    world.answer = null
    const untilMs = world.nowMs
    await delivery.turn()
    const over = { lastError: null, lastIncident: { sinceMs, untilMs, words: '500' } }
    expect(delivery.state).toMatchObject(over)
    expect(world.saved).toMatchObject(over)
    await delivery.turn()
    expect(delivery.state).toMatchObject(over)
  })

  it('is retried immediately, with all attempts, when the pipeline is set to running', async () => {
    const { world, delivery } = failing(bad)
    for (const _ of [1, 2, 3]) world.nowMs += (await delivery.turn())!
    const waitMs = (await delivery.turn())!
    expect([world.sends, waitMs > 30_000, delivery.phase(0)]).toEqual([4, true, 'retrying'])
    delivery.applyDesired(RUNNING, 'none')
    await delivery.turn()
    expect([world.sends, delivery.state.flight?.attempts]).toEqual([5, 1])
  })

  it('is not tried, and so not counted, while its secret is not opened, nor where that cannot be any more', async () => {
    const world = new World()
    let ready = async (): Promise<void> => Promise.reject(new Error('the gateway is away'))
    const delivery = world.delivery({ ready: () => ready() })
    for (let turn = 0; turn < 20; turn++) expect(await delivery.turn()).toBe(5_000)
    expect(delivery.state).toMatchObject({ lastError: { words: 'the gateway is away' }, isFailed: false })
    delivery.redeliver()
    expect([await delivery.turn(), delivery.state.isRedelivering, world.sends]).toEqual([5_000, true, 0])
    ready = async () => {
      throw new FatalPipelineError('send it again')
    }
    expect([await delivery.turn(), delivery.phase(0)]).toEqual([null, 'failed'])
    ready = async () => undefined
    delivery.applyDesired(RUNNING, 'rows')
    await delivery.turn()
    await delivery.turn()
    expect([world.sends, delivery.state.batches, delivery.state.isRedelivering]).toEqual([1, 1, false])
  })

  it('is read again if the record changes or stops while its secret is decrypted', async () => {
    const world = new World()
    let opened: () => void = () => undefined
    const ready = async () => opened()
    const delivery: Delivery = world.delivery({ ready })
    opened = () => delivery.applyDesired(RUNNING, 'rows')
    expect([await delivery.turn(), world.sends, delivery.state.flight]).toEqual([0, 0, null])
    opened = () => delivery.applyDesired(PAUSED, 'none')
    expect([await delivery.turn(), world.sends, delivery.phase(0)]).toEqual([null, 0, 'paused'])
  })

  // PIPE-12
  it('is stored as a dead letter and not retried if its object crashed while storing it', async () => {
    const { world } = failing({ ok: false, message: 'no such column', isFinal: true }, 'dead_letter')
    const order = { ...RUNNING, onFailure: 'dead_letter' } as const
    const bury = async (parcel: BatchRows) => {
      world.letters.push(parcel)
      throw new Error('it ended')
    }
    await world.delivery({ putDeadLetter: bury }, order).turn()
    world.answer = null
    const next = world.delivery({}, order)
    await next.turn()
    expect([world.sends, world.letters.length, next.state.deadLetters, world.applied.size]).toEqual([1, 1, 1, 0])
  })

  // PIPE-9, PIPE-12
  it('is put aside, and counted, where its record changes as it is put there: the end that it had is none', async () => {
    const { world } = failing({ ok: false, message: 'no such column', isFinal: true }, 'dead_letter')
    const order = { ...RUNNING, onFailure: 'dead_letter' } as const
    let change: 'end' | 'start' = 'end'
    const bury = async (parcel: BatchRows) => {
      world.letters.push(parcel)
      world.end = { height: LAST }
      delivery.applyDesired(order, change)
    }
    world.end = { height: FIRST + 1 }
    const delivery: Delivery = world.delivery({ putDeadLetter: bury }, order)
    await delivery.turn()
    expect(delivery.state).toMatchObject({ deadLetters: 1, isFinished: false, confirmed: { height: FIRST + 1 } })
    change = 'start'
    await delivery.turn()
    expect([delivery.state.deadLetters, delivery.state.at, world.letters.length]).toEqual([2, null, 2])
  })

  // PIPE-12
  it('is not stored if there are already a thousand dead letters; the pipeline then stops', async () => {
    const { world } = failing({ ok: false, message: 'no such column', isFinal: true }, 'dead_letter')
    const order = { ...RUNNING, onFailure: 'dead_letter' } as const
    const delivery = world.delivery({}, order, { ...world.saved, deadLetters: 1_000 })
    expect([await delivery.turn(), delivery.phase(0), world.letters]).toEqual([null, 'failed', []])
  })

  // PIPE-12, PIPE-13
  it('is stored as a dead letter if configured, and can be sent again', async () => {
    const { world, delivery } = failing({ ok: false, message: 'no such column', isFinal: true }, 'dead_letter')
    expect(await delivery.turn()).toBe(0)
    expect([world.sends, world.letters.length, delivery.state.deadLetters]).toEqual([1, 1, 1])
    world.answer = null
    delivery.redeliver()
    while (delivery.state.isRedelivering) await delivery.turn()
    expect([world.letters.length, delivery.state.deadLetters]).toEqual([0, 0])
    expect(world.applied.size).toBeGreaterThan(0)
    // What arrives late counts, and is told.
    expect(delivery.state.rows).toBe(world.applied.size)
    expect(world.logged.at(-1)).toMatch(/: \d+ rows$/)
  })

  // PIPE-13
  it('that does not arrive once more stays, and what is behind it is sent, with live rows between', async () => {
    const { world, delivery } = failing({ ok: false, message: 'no such column', isFinal: true }, 'dead_letter')
    world.head = LAST
    for (let turn = 0; turn < 9 && world.letters.length < 3; turn++) await delivery.turn()
    world.answer = null
    world.poison = world.letters.slice(0, 2).map(({ from }) => from)
    delivery.redeliver()
    const sends = world.sends
    await delivery.turn()
    expect([delivery.state.lastError?.words, world.sends]).toEqual([expect.stringMatching(/: poison$/), sends])
    await delivery.turn()
    expect([world.sends, delivery.state.isRedelivering]).toEqual([sends + 1, true])
    for (let turn = 0; turn < 9 && delivery.state.isRedelivering; turn++) await delivery.turn()
    expect([world.letters.map(({ from }) => from), delivery.state.deadLetters]).toEqual([world.poison, 2])
  })

  // PIPE-13
  it('is sent once more also where the pipeline waits for somebody with another batch', async () => {
    const { world } = failing({ ok: false, message: 'gone', isFinal: true })
    const delivery = world.delivery()
    await delivery.turn()
    expect([delivery.phase(0), delivery.state.flight]).toEqual(['failed', expect.anything()])
    world.letters.push({ from: 1, to: 2, rows: [], texts: [] })
    delivery.redeliver()
    for (let turn = 0; turn < 9 && delivery.state.isRedelivering; turn++) await delivery.turn()
    expect([world.letters, delivery.phase(0)]).toEqual([[], 'failed'])
  })

  // PIPE-13
  it('does not delay live rows if dead letters cannot be read', async () => {
    const world = new World()
    const unbury = async () => Promise.reject(new Error('no bucket'))
    const delivery = world.delivery({ sendDeadLetter: unbury })
    delivery.redeliver()
    await delivery.turn()
    expect([delivery.state.isRedelivering, delivery.state.lastError?.words]).toEqual([
      false,
      expect.stringMatching(/: no bucket$/),
    ])
    await delivery.turn()
    expect(world.sends).toBe(1)
  })

  // PIPE-11
  it('waits as long as the destination requests', async () => {
    const { delivery } = failing({ ok: false, message: '429', retryAfterMs: 30_000 })
    expect(await delivery.turn()).toBe(30_000)
    const { delivery: other } = failing({ ok: false, message: '429', retryAfterMs: 1e12 })
    expect(await other.turn()).toBe(600_000)
  })

  // PIPE-3, PIPE-15
  it('is read again with the order statuses that were known at the first read', async () => {
    const { world } = failing(bad)
    const flights: unknown[] = []
    const assembler: DeliveryPorts['assembler'] = (at, flight, repairs) => {
      flights.push(flight)
      return { ...world.ports.assembler(at, flight, repairs), ordersFrom: 7 }
    }
    await world.delivery({ assembler }).turn()
    world.nowMs += 60_000
    await world.delivery({ assembler }).turn()
    expect(flights).toEqual([null, expect.objectContaining({ attempts: 1, ordersFrom: 7 })])
    expect(world.saved.flight).toMatchObject({ attempts: 2, ordersFrom: 7 })
  })

  // PIPE-10
  it('is kept while the pipeline is paused, and is unchanged when it resumes', async () => {
    const { world, delivery } = failing(bad)
    await delivery.turn()
    expect(delivery.phase(0)).toBe('retrying')
    const { flight } = delivery.state
    delivery.applyDesired(PAUSED, 'none')
    expect([delivery.phase(0), await delivery.turn()]).toEqual(['paused', null])
    delivery.applyDesired(RUNNING, 'none')
    await delivery.turn()
    expect(delivery.state.flight).toMatchObject({ from: flight!.from, to: flight!.to, attempts: 1 })
    expect(world.ids.size).toBe(1)
  })
})

describe('rows that gather', () => {
  /** A log with a block a second, some with a row, that is asked for them for some minutes. */
  async function minutes(count: number, over: Partial<DesiredState>, hasRow: (height: number) => boolean = () => true) {
    let nowMs = 1_000_000_000
    // Of the machine's clock, which may be another one than that of blocks.
    let skewMs = 0
    const clock = () => nowMs + skewMs
    const sent: BatchRows[] = []
    const lags: number[] = []
    const asked = { log: 0 }
    const first = nowMs / 1_000
    const headNow = () => ({ height: Math.floor(nowMs / 1_000), time: Math.floor(nowMs / 1_000) * 1_000 })
    const durable = async (from: number): Promise<DurablePage> => {
      asked.log++
      const { height: head } = headNow()
      const heights = Array.from({ length: Math.max(0, head - from + 1) }, (_, at) => from + at)
      const lines = heights.map((height) => JSON.stringify({ height, time: height * 1_000 })).join('\n')
      const parts = heights.length === 0 ? [] : [{ first: from, last: head, lines: toChunks(lines) }]
      return { v: 1, head: headNow(), parts }
    }
    const fold: TopicFold<TopicBlock> = {
      parse: (line) => JSON.parse(line) as TopicBlock,
      rows: (block) => (hasRow(block.height) ? keyedRows(block, [['a', {}]]) : []),
      onGap: () => undefined,
      state: () => null,
    }
    const world = new World()
    const ports: Partial<DeliveryPorts> = {
      nowMs: clock,
      begin: async () => ({ place: { height: first }, epoch: null, timeMs: 0, fold: null }),
      end: async () => null,
      assembler: (at) =>
        new Assembler(new Source({ archive: null, head: async () => headNow(), durable }, 'events'), fold, at, clock),
      send: async (parcel) => {
        sent.push(parcel)
        return { ok: true, bytes: 1, billedRows: parcel.rows.length }
      },
      save: () => undefined,
    }
    const order: DesiredState = { ...RUNNING, ...over }
    const delivery = world.delivery(ports, order)
    const untilMs = nowMs + count * 60_000
    const phases = new Set<string>()
    while (nowMs < untilMs) {
      const waitMs = await delivery.turn()
      // As often as an alarm comes.
      nowMs += Math.min(waitMs ?? 0, 10_000)
      const lagMs = Math.floor(nowMs / 1_000) * 1_000 - (delivery.state.confirmed?.time ?? 0)
      lags.push(lagMs)
      phases.add(delivery.phase(lagMs))
    }
    const later = (ms: number) => (nowMs += ms)
    return { sent, asked, lags, phases, delivery, order, later, skew: (ms: number) => (skewMs += ms) }
  }

  // PIPE-5
  it('for a minute make one batch of it, for which the log is asked twice and not sixty times', async () => {
    const each = await minutes(10, {})
    const gathered = await minutes(10, { gatherMs: 60_000 })
    const all = (parcels: readonly BatchRows[]) => parcels.flatMap(({ rows }) => rows.map(({ _height }) => _height))
    expect([each.sent.length, gathered.sent.length]).toEqual([600, 10])
    expect(each.asked.log).toBeGreaterThan(600)
    expect(gathered.asked.log).toBeLessThanOrEqual(20)
    expect(all(gathered.sent)).toEqual(all(each.sent).slice(0, all(gathered.sent).length))
    expect(all(gathered.sent).length).toBeGreaterThan(540)
    // What is behind says so, and is live all the same.
    expect(Math.max(...gathered.lags)).toBe(60_000)
    expect([...gathered.phases]).toEqual(['live'])
  })

  // PIPE-5
  it('wait equally long if there are few', async () => {
    const { sent, asked } = await minutes(10, { gatherMs: 60_000 }, (height) => height % 90 === 0)
    expect(sent.length).toBeGreaterThan(4)
    expect(asked.log).toBeLessThanOrEqual(20)
  })

  // PIPE-10
  it('stay where they are once it is paused, and are read at once where something else is wanted', async () => {
    const { delivery, order, sent, later } = await minutes(0.5, { gatherMs: 60_000 })
    later(10_000)
    delivery.applyDesired({ ...order, isRunning: false }, 'none')
    expect([delivery.phase(0), await delivery.turn(), sent.length]).toEqual(['paused', null, 1])
    delivery.applyDesired(order, 'none')
    expect([await delivery.turn(), sent.length]).toEqual([20_000, 1])
    delivery.applyDesired(order, 'rows')
    await delivery.turn()
    expect(sent.length).toBe(2)
  })

  // PIPE-5
  it('wait no longer if the clock is set back', async () => {
    const { delivery, later, skew, sent } = await minutes(0.5, { gatherMs: 60_000 })
    skew(-31_536_000_000)
    later(60_000)
    await delivery.turn()
    expect(sent.length).toBe(2)
  })
})

describe('a record that changes', () => {
  it('while a batch is under way, to another beginning: what came of the batch is of no matter', async () => {
    const world = new World()
    const delivery: Delivery = world.delivery()
    world.answer = () => {
      delivery.applyDesired(RUNNING, 'start')
      return { ok: true, bytes: 1, billedRows: 1 }
    }
    expect(await delivery.turn()).toBe(0)
    expect(delivery.state).toMatchObject({ at: null, confirmed: null, batches: 0, flight: null })
    // Its rows arrived and were billed, so a backfill leaves them out.
    expect(delivery.state.earlier).toEqual([{ from: FIRST, to: FIRST + 3 }])
  })

  // PIPE-36
  it('remembers what it read before each restart, which a backfill leaves out, unless the chain is another one', async () => {
    const world = new World()
    world.end = null
    // The world expects every height from the first one.
    const save = () => undefined
    let height = 0
    const begin = async () => ({ place: { height }, epoch: null, timeMs: 0, fold: null })
    const delivery = world.delivery({ save, begin })
    const readTo = async (start: number, head: number) => {
      height = start
      world.head = head
      for (let waitMs: number | null = 0; waitMs === 0; ) waitMs = await delivery.turn()
      expect(delivery.state).toMatchObject({ first: start, confirmed: { height: head } })
    }
    await readTo(FIRST, FIRST + 5)
    delivery.applyDesired(RUNNING, 'start')
    const first = { from: FIRST, to: FIRST + 5 }
    expect(delivery.state).toMatchObject({ first: null, earlier: [first] })
    await readTo(FIRST + 20, FIRST + 25)
    delivery.applyDesired(RUNNING, 'start')
    delivery.applyDesired(RUNNING, 'start')
    const { earlier } = delivery.state
    expect(earlier).toEqual([first, { from: FIRST + 20, to: FIRST + 25 }])
    const known = { first: FIRST + 40, height: null, backfilled: earlier }
    expect(planBackfill({ from: FIRST + 3, to: FIRST + 22 }, known, false)).toEqual({
      ok: true,
      value: { from: FIRST + 6, to: FIRST + 19 },
    })
    delivery.applyDesired(RUNNING, 'chain')
    expect(delivery.state).toMatchObject({ at: null, earlier: [] })
  })

  // PIPE-10
  it('while a batch is under way, to a pause: it stops after the batch', async () => {
    const world = new World()
    const delivery: Delivery = world.delivery()
    world.answer = () => {
      delivery.applyDesired(PAUSED, 'none')
      expect(delivery.phase(0)).toBe('pausing')
      return { ok: true, bytes: 1, billedRows: 1 }
    }
    await delivery.turn()
    expect(delivery.state).toMatchObject({ batches: 1, flight: null })
    expect([delivery.phase(0), await delivery.turn()]).toEqual(['paused', null])
  })

  // PIPE-10
  it('while a batch is read, to a pause: it is not begun', async () => {
    const world = new World()
    const end = async () => {
      delivery.applyDesired(PAUSED, 'none')
      return world.end
    }
    const delivery: Delivery = world.delivery({ end })
    expect(await delivery.turn()).toBeNull()
    expect([world.sends, delivery.phase(0)]).toEqual([0, 'paused'])
    delivery.applyDesired(RUNNING, 'none')
    await delivery.turn()
    expect(world.sends).toBe(1)
  })

  // PIPE-10
  it('while a batch is read, to a pause and back: it is sent', async () => {
    const world = new World()
    const assembler: DeliveryPorts['assembler'] = (...of) => {
      const own = world.ports.assembler(...of)
      const take: typeof own.take = async (...asked) => {
        const taken = await own.take(...asked)
        delivery.applyDesired(PAUSED, 'none')
        delivery.applyDesired(RUNNING, 'none')
        return taken
      }
      return { ...own, take }
    }
    const delivery: Delivery = world.delivery({ assembler })
    for (let turn = 0; turn < 2; turn++) await delivery.turn()
    expect([world.sends, delivery.state.lastError]).toEqual([2, null])
  })

  // PIPE-9
  it('to a different end: a finished pipeline continues', async () => {
    const world = new World()
    world.end = { height: FIRST + 3 }
    const delivery = await world.run()
    expect(delivery.state.confirmed!.height).toBe(FIRST + 3)
    world.end = { height: FIRST + 12 }
    delivery.applyDesired(RUNNING, 'end')
    while ((await delivery.turn()) !== null) world.head++
    expect(delivery.state.confirmed!.height).toBe(FIRST + 12)
    expect(ofKind(world, 'row').map(({ _key }) => _key)).toEqual(
      expected([]).filter((key) => Number(key.split(':')[0]) <= FIRST + 12),
    )
  })
})

describe('an account', () => {
  const of = (credits: number, rowMicro = 100) => {
    const world = new World()
    world.meter = new ModelMeter(credits)
    world.rowMicro = rowMicro
    return { world, delivery: world.delivery() }
  }

  // PIPE-27
  it('without credits receives nothing; after a top-up, delivery resumes at its position', async () => {
    const { world, delivery } = of(0)
    expect([await delivery.turn(), delivery.phase(0), world.sends]).toEqual([60_000, 'unpaid', 0])
    delivery.applyDesired(PAUSED, 'none')
    expect([await delivery.turn(), delivery.phase(0)]).toEqual([null, 'paused'])
    world.meter.grant(100)
    // Somebody sets it to run, and it is not asked to wait for the minute to be over.
    delivery.applyDesired(RUNNING, 'none')
    const goOn = async () => {
      do await delivery.turn()
      while (delivery.phase(0) !== 'unpaid')
    }
    await goOn()
    expect([world.sends, world.meter.account.available, delivery.state.lastError?.words]).toEqual([
      ...[1, 0],
      expect.stringMatching(/^Unpaid: /),
    ])
    // The next block has two rows, and is not sent for the price of one.
    world.meter.grant(100)
    delivery.applyDesired(RUNNING, 'none')
    await goOn()
    expect([world.sends, delivery.state.lastError?.words]).toEqual([
      1,
      expect.stringMatching(/^Unpaid: .* 0\.0001 .* 0\.0002\. /),
    ])
    world.top = 1_000_000
    await world.run()
    expect(ofKind(world, 'row').map(({ _key }) => _key)).toEqual(expected([]))
  })

  // PIPE-29
  it('whose key has ended gets nothing more of one that failed or finished, whatever is changed or set to run', async () => {
    for (const fate of ['failed', 'finished'] as const) {
      const { world, delivery } = of(1_000_000)
      if (fate === 'finished') world.end = { height: FIRST + 3 }
      if (fate === 'failed') world.answer = () => ({ ok: false, message: 'no', isFinal: true })
      while ((await delivery.turn()) !== null) world.head++
      expect(delivery.phase(0)).toBe(fate)
      const { sends } = world
      world.ended.set('k1', 'revoked')
      world.nowMs += 60_000
      world.answer = null
      world.letters.push({ from: 1, to: 2, rows: [], texts: [] })
      // Another key renames it, sets it to run, or moves its end.
      for (const change of ['none', 'end'] as const) {
        delivery.applyDesired(RUNNING, change)
        delivery.redeliver()
        for (let turn = 0; turn < 9; turn++) await delivery.turn()
        expect([fate, change, delivery.phase(0), world.sends, world.letters.length]).toEqual([
          ...[fate, change, 'paused', sends, 1],
        ])
      }
      // Adopted by a key that works it goes on.
      world.ended.clear()
      delivery.applyDesired(RUNNING, 'none')
      for (let turn = 0; turn < 9; turn++) await delivery.turn()
      expect([fate, world.letters.length, world.sends > sends]).toEqual([fate, 0, fate === 'failed'])
    }
  })

  // PIPE-27
  it('without credits receives no dead letters, even from a finished pipeline', async () => {
    const { world, delivery } = of(1_000_000)
    world.end = { height: FIRST + 3 }
    while ((await delivery.turn()) !== null) world.head++
    expect([delivery.phase(0), delivery.state.owed.told]).toEqual(['finished', world.meter.account.spent])
    world.meter.charge('another', world.meter.account.available)
    world.letters.push({ from: 1, to: 2, rows: [], texts: [] })
    delivery.redeliver()
    world.nowMs += 10_000
    const woken = world.delivery()
    expect([await woken.turn(), woken.phase(0), world.letters.length]).toEqual([60_000, 'unpaid', 1])
  })

  // PIPE-25
  it('is told nothing of rows that are free, and asked about the key alone', async () => {
    const { world } = of(0, 0)
    await world.run()
    expect(ofKind(world, 'row')).toHaveLength(expected([]).length)
    expect(new Set(world.meter.told)).toEqual(new Set([0]))
  })

  // PIPE-26
  it('is told before its pipeline sleeps, and pays for a batch that was under way as the record changed', async () => {
    const { world, delivery } = of(1_000_000)
    world.answer = () => {
      delivery.applyDesired(PAUSED, 'start')
      return { ok: true, bytes: 1, billedRows: 3 }
    }
    await delivery.turn()
    expect([await delivery.turn(), world.meter.account.spent]).toEqual([null, 300])
    expect(delivery.state).toMatchObject({ at: null, owed: { rows: 3, spent: 300, told: 300 } })
  })

  // PIPE-26
  it('whose meter is unavailable receives rows until ten credits are owed; then the meter is retried', async () => {
    const { world, delivery } = of(1_000_000_000, 1_000_000)
    world.isAway = true
    world.head = LAST
    for (let turn = 0; turn < 30 && delivery.phase(0) !== 'retrying'; turn++) await delivery.turn()
    expect([delivery.phase(0), delivery.state.lastError?.words]).toEqual(['retrying', expect.stringContaining('meter')])
    const { sends } = world
    expect([await delivery.turn(), world.sends]).toEqual([10_000, sends])
    world.isAway = false
    world.nowMs += 10_000
    await delivery.turn()
    expect([world.sends, delivery.phase(0)]).toEqual([sends + 1, 'live'])
  })
})
