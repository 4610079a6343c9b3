// The request log: counting, bounds, repeats and pages, from the isolate to a page; and what it costs the operator.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { OBJECT_GB, PER_GB_SECOND, PER_MILLION } from '../../src/http/platform/month-bill.ts'
import type { Charging } from '../../src/metering/charging.ts'
import type { LeaseRequest } from '../../src/metering/lease-api.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { CallBuffer, LogRoom } from '../../src/metering/request-log/call-buffer.ts'
import type { LogBatch, LogChunk, LoggedCall } from '../../src/metering/request-log/log-api.ts'
import { LogHours } from '../../src/metering/request-log/log-hours.ts'
import { callsOf } from '../../src/metering/request-log/log-lines.ts'
import { type LogPosition, searchLog } from '../../src/metering/request-log/log-search.ts'
import {
  emptyTail,
  type LogTail,
  readTail,
  splitTail,
  tailText,
  trimTail,
  withBatch,
} from '../../src/metering/request-log/log-tail.ts'
import { dollarsOfObjects } from '../bench/cost.ts'
import { ManualClock } from '../http/manual-clock.ts'
import { identityOf } from '../kit/identity.ts'
import { ModelMeter } from './model-meter.ts'

/** Bytes that an account may store: after a burst, per second, and in a chunk. */
const BURST = (256 + 64) * 1024
const PER_SECOND = 64 + 16
const CHUNK = 24 * 1024
type LogQuery = Parameters<typeof searchLog>[1]

const NOW = 1_790_000_000_000
const KEYS = ['a1', 'b2', 'c3'].map((name) => name.repeat(32))

const call = (atMs: number, more: Partial<LoggedCall> = {}): LoggedCall => ({
  keyHash: keyHashOf(KEYS[0]!),
  atMs,
  product: 'info',
  type: 'l2Book',
  status: 200,
  code: '',
  ms: 3,
  micro: 1_000_000,
  requestId: 'req_9fKxWq2TbNkRzd5m',
  ...more,
})
const failed = (atMs: number, more: Partial<LoggedCall> = {}) =>
  call(atMs, { status: 429, code: 'rate_limited', micro: 0, ...more })

/** A stored log, as the meter keeps it: its newest part as text, and chunks. */
class StoredLog {
  text = ''
  chunks: LogChunk[] = []
  rowsWritten = 0
  readonly #keptMs: number

  constructor(keptMs = DAY_MS) {
    this.#keptMs = keptMs
  }

  take(batch: LogBatch, nowMs: number): void {
    const before = this.text === '' ? emptyTail(nowMs) : readTail(this.text)
    const { tail, chunk } = splitTail(withBatch(trimTail(before, nowMs - this.#keptMs), batch, nowMs))
    this.text = tailText(tail)
    if (chunk === null) return
    // A chunk is written once, and deleted once.
    this.rowsWritten += 2
    this.chunks = [chunk, ...this.chunks.filter(({ untilMs }) => untilMs >= nowMs - this.#keptMs)]
  }

  get tail(): LogTail {
    return readTail(this.text)
  }

  get all(): readonly LogChunk[] {
    return this.text === '' ? this.chunks : [this.tail, ...this.chunks]
  }

  get calls(): readonly LoggedCall[] {
    return this.all.flatMap(({ lines }) => callsOf(lines))
  }

  get leftOut(): number {
    return this.all.reduce((sum, { leftOut }) => sum + leftOut, 0)
  }

  get length(): number {
    return this.all.reduce((sum, { lines }) => sum + lines.length, 0)
  }
}

const anyCall = fc.record({
  afterMs: fc.nat(3_000),
  key: fc.nat(KEYS.length - 1),
  isFailed: fc.boolean(),
  type: fc.constantFrom('l2Book', 'meta', 'eth_call', 'x'.repeat(64)),
  ms: fc.option(fc.nat(5_000)),
})
/** What becomes of a report: it arrives, or it or its answer is lost. */
const anyFate = fc.constantFrom('kept', 'kept', 'lost', 'answer lost')

describe('calls on their way to the meter', () => {
  it('are counted exactly once, listed or left out, however reports are lost', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.array(anyCall, { maxLength: 120 }), anyFate), { maxLength: 40 }),
        fc.integer({ min: 0, max: 60 }),
        (steps, room) => {
          const log = new StoredLog()
          const buffers = [0, 1].map((number) => new CallBuffer(`source ${number}`, new LogRoom(room)))
          let nowMs = NOW
          let made = 0
          const report = (buffer: CallBuffer, fate: string) => {
            const batch = buffer.next(nowMs)
            if (batch === null) return
            if (fate !== 'lost') log.take(structuredClone(batch), nowMs)
            if (fate === 'kept') buffer.acknowledge(batch)
          }
          for (const [number, step] of steps.entries()) {
            const buffer = buffers[number % 2]!
            if (typeof step === 'string') report(buffer, step)
            else
              for (const { afterMs, key, isFailed, type, ms } of step) {
                nowMs += afterMs
                made++
                buffer.add((isFailed ? failed : call)(nowMs, { keyHash: keyHashOf(KEYS[key]!), type, ms }))
              }
          }
          for (const buffer of buffers) for (let i = 0; i < 2; i++) report(buffer, 'kept')
          expect(buffers.every(({ isEmpty }) => isEmpty)).toBe(true)
          expect(log.calls.length + log.leftOut).toBe(made)
        },
      ),
    )
  })

  it('are sampled evenly, and failed ones apart from answered ones', () => {
    const buffer = new CallBuffer('s', new LogRoom(1_000))
    for (let i = 0; i < 1_000; i++) {
      buffer.add(call(NOW + i))
      for (let j = 0; j < 50; j++) buffer.add(failed(NOW + i))
    }
    const { calls, rows } = buffer.next(NOW)!
    expect(calls).toBe(51_000)
    const answered = rows.filter(({ code }) => code === '').map(({ atMs }) => atMs - NOW)
    expect(answered.length).toBeGreaterThanOrEqual(32)
    const gaps = answered.slice(1).map((at, i) => at - answered[i]!)
    expect(new Set(gaps).size).toBe(1)
    expect(answered[0]).toBe(0)
    expect(rows.length - answered.length).toBeLessThanOrEqual(16)
  })

  it('have fewer rows in a batch that follows the one before it at once', () => {
    const buffer = new CallBuffer('s', new LogRoom(1_000))
    const rows = [NOW, NOW, NOW + 20_000, NOW + 20_001].map((nowMs) => {
      for (let i = 0; i < 1_000; i++) buffer.add(call(NOW + i))
      const batch = buffer.next(nowMs)!
      buffer.acknowledge(batch)
      return batch.rows.length
    })
    expect(rows).toEqual([63, 63, 16, 32])
  })

  it('of all buffers together take a bounded number of rows, and the room comes back', () => {
    const room = new LogRoom(30)
    const buffers = Array.from({ length: 5 }, (_, number) => new CallBuffer(`${number}`, room))
    const fill = () => {
      for (const buffer of buffers) for (let i = 0; i < 100; i++) buffer.add(call(NOW + i))
      return buffers.map((buffer) => buffer.next(NOW)!)
    }
    const first = fill()
    expect(first.flatMap(({ rows }) => rows).length).toBeLessThanOrEqual(30)
    expect(first.map(({ calls }) => calls)).toEqual([100, 100, 100, 100, 100])
    for (const [i, buffer] of buffers.entries()) buffer.acknowledge(first[i]!)
    expect(fill().flatMap(({ rows }) => rows).length).toBe(first.flatMap(({ rows }) => rows).length)
    for (const buffer of buffers) buffer.clear()
    expect(fill().flatMap(({ rows }) => rows).length).toBe(first.flatMap(({ rows }) => rows).length)
  })
})

let batches = 0
const batchOf = (rows: readonly LoggedCall[], calls = rows.length): LogBatch => ({
  source: `s${batches % 100}`,
  number: ++batches,
  calls,
  rows,
})

describe('the log of an account', () => {
  it('is bounded in size, and every call in it is younger than a day plus its chunk', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), fc.integer({ min: 1, max: 60_000 }), (size, everyMs) => {
        const log = new StoredLog(HOUR_MS)
        let nowMs = NOW
        for (let i = 0; i < 400; i++, nowMs += everyMs) {
          const rows = Array.from({ length: size }, (_, j) =>
            (j % 4 === 0 ? failed : call)(nowMs, { type: 'x'.repeat(64) }),
          )
          log.take(batchOf(rows), nowMs)
        }
        const seconds = Math.min(400 * everyMs, HOUR_MS) / 1_000
        const most = BURST + PER_SECOND * seconds
        // A chunk lives until its last call is too old.
        expect(log.length).toBeLessThanOrEqual(most + 2 * CHUNK)
      }),
      { numRuns: 8 },
    )
  })

  it('loses no answered call to a flood of failed ones', () => {
    const answered = (withFlood: boolean) => {
      const log = new StoredLog()
      for (let i = 0; i < 600; i++) {
        const nowMs = NOW + i * 1_000
        if (withFlood)
          log.take(
            batchOf(
              Array.from({ length: 8 }, () => failed(nowMs, { type: 'y'.repeat(64) })),
              10_000,
            ),
            nowMs,
          )
        log.take(batchOf([call(nowMs)]), nowMs)
      }
      return log.calls.filter(({ code }) => code === '').sort((a, b) => a.atMs - b.atMs)
    }
    expect(answered(true)).toEqual(answered(false))
    expect(answered(true).length).toBe(600)
  })

  it('returns every field as it was', () => {
    const calls = [
      call(NOW + 5, { ms: null, requestId: '' }),
      failed(NOW, { type: 'a"b\\n', keyHash: keyHashOf(KEYS[1]!) }),
    ]
    const log = new StoredLog()
    log.take(batchOf(calls), NOW)
    expect(new Set(log.calls)).toEqual(new Set(calls))
  })

  it('forgets old calls of a slow caller, and its counters with the last of them', () => {
    const log = new StoredLog(HOUR_MS)
    log.take(batchOf([call(NOW)], 4), NOW)
    log.take(batchOf([call(NOW + HOUR_MS)]), NOW + HOUR_MS)
    log.take(batchOf([call(NOW + HOUR_MS + 1)]), NOW + HOUR_MS + 1)
    expect(log.calls.map(({ atMs }) => atMs - NOW)).toEqual([HOUR_MS, HOUR_MS + 1])
    log.take(batchOf([call(NOW + 3 * HOUR_MS)]), NOW + 3 * HOUR_MS)
    expect([log.calls.length, log.leftOut, log.tail.sinceMs]).toEqual([1, 0, NOW + 3 * HOUR_MS])
  })
})

describe('a search', () => {
  const everything: LogQuery = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER }

  /** All pages, from a meter that returns at most `most` chunks. */
  function pages(chunks: readonly LogChunk[], query: LogQuery, limit: number, most: number) {
    const found: LoggedCall[] = []
    let from: LogPosition | null = null
    let count = 0
    do {
      const untilMs: number = Math.min(query.untilMs, from?.atMs ?? query.untilMs)
      const near = chunks
        .filter((chunk) => chunk.untilMs >= query.sinceMs && chunk.sinceMs <= untilMs)
        .sort((a, b) => b.untilMs - a.untilMs)
      const read = { chunks: near.slice(0, most), restMs: near[most]?.untilMs ?? null, keptMs: DAY_MS }
      const page = searchLog(read, query, from, limit)
      found.push(...page.calls)
      from = page.next
    } while (from !== null && ++count < 5_000)
    return found
  }

  it('finds each matching call once, newest first, over any pages', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(400), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 0, max: 1_500 }),
        (parts, limit, sinceMs) => {
          let number = 0
          const chunks = parts.map((offsets, part): LogChunk => {
            const rows = offsets.map((offset) => call(part * 200 + offset, { requestId: `${number++}` }))
            const { lines, sinceMs, untilMs } = withBatch(emptyTail(NOW), batchOf(rows), NOW)
            return { lines, sinceMs, untilMs, leftOut: 0 }
          })
          const query = { ...everything, sinceMs }
          const found = pages(chunks, query, limit, 4)
          const expected = chunks.flatMap(({ lines }) => callsOf(lines)).filter(({ atMs }) => atMs >= sinceMs)
          expect(found.map(({ atMs }) => atMs)).toEqual(expected.map(({ atMs }) => atMs).sort((a, b) => b - a))
          expect(new Set(found.map(({ requestId }) => requestId)).size).toBe(expected.length)
        },
      ),
    )
  })

  const log = new StoredLog()
  const rows = [
    ...Array.from({ length: 99 }, (_, i) => call(NOW + i, { ms: i + 1 })),
    call(NOW + 99, { ms: 900, type: 'meta' }),
    failed(NOW + 100, { ms: 1, keyHash: keyHashOf(KEYS[1]!) }),
    call(NOW + 101, { product: 'stream', type: 'connect', status: 101, ms: null }),
  ]
  log.take(batchOf(rows, 110), NOW)
  const search = (query: Partial<LogQuery>) =>
    searchLog({ chunks: log.all, restMs: null, keptMs: DAY_MS }, { ...everything, ...query }, null, 5)

  it.each<[Partial<LogQuery>, number]>([
    [{}, 102],
    [{ keyHash: KEYS[1]! }, 1],
    [{ product: 'stream' }, 1],
    [{ type: 'meta' }, 1],
    [{ code: 'rate_limited' }, 1],
    [{ statusClass: 2 }, 100],
    [{ statusClass: 4 }, 1],
    [{ sinceMs: NOW + 99 }, 3],
    [{ untilMs: NOW + 99 }, 100],
    [{ type: 'none' }, 0],
  ])('with %o finds %i calls', (query, count) => {
    const { matching, calls, leftOut } = search(query)
    expect([matching, calls.length, leftOut]).toEqual([count, Math.min(5, count), 8])
  })

  it('has the latency of calls, but not of events', () => {
    expect(search({ statusClass: 2 }).latency).toEqual({ p50: 50, p99: 99 })
    expect(search({ product: 'stream' }).latency).toBeNull()
  })
})

/** Isolates that charge and log calls of accounts, each with a model of its meter and a stored log. */
function deployment(clock: ManualClock) {
  const logs = new Map<string, StoredLog>()
  const meters = new Map<string, ModelMeter>()
  const exchanges: LeaseRequest[] = []
  const meterOf = (account: string) => ({
    lease: async (request: LeaseRequest) => {
      exchanges.push(request)
      const meter = meters.get(account) ?? new ModelMeter(1e12, clock.nowMs)
      meters.set(account, meter)
      const log = logs.get(account) ?? new StoredLog()
      logs.set(account, log)
      if (request.log !== undefined) log.take(structuredClone(request.log), clock.now)
      return meter.lease(request)
    },
  })
  const context = { meterOf, waitUntil: () => {}, meterFailure: 'closed', onRevoked: () => {} } as const
  const isolate = () => {
    const pool = new LeasePool(clock)
    return () => pool.charging(context)
  }
  return { logs, exchanges, isolate }
}

async function serve(charging: Charging, account: string, key: string, micro = 1_000_000) {
  const identity = identityOf('enterprise', ['info'], account, key)
  const hold = await charging.hold(identity, { product: 'info', type: 'meta', amount: micro })
  if (!hold.ok) throw new Error(hold.error.kind)
  hold.value.settle()
  charging.log?.(identity, {
    product: 'info',
    type: 'meta',
    status: 200,
    code: '',
    micro,
    requestId: `${account} ${key}`,
  })
}

describe('an isolate', () => {
  it('reports each call to its own account, under its own key, in exchanges that are stored anyway', async () => {
    const clock = new ManualClock(NOW)
    const { logs, exchanges, isolate } = deployment(clock)
    const first = isolate()
    const second = isolate()
    for (let i = 0; i < 60; i++) {
      await serve(first(), 'acme', 'k1')
      await serve(second(), 'acme', 'k2')
      await serve(first(), 'umbrella', 'k3')
      await clock.advance(500)
    }
    const without = exchanges.filter(
      ({ usage, need, close, forecast }) => usage.length + need + forecast === 0 && !close,
    )
    expect(without.filter(({ log }) => log !== undefined)).toEqual([])
    await clock.advance(60_000)
    for (const [account, keys] of [
      ['acme', ['k1', 'k2']],
      ['umbrella', ['k3']],
    ] as const) {
      const log = logs.get(account)!
      expect(log.calls.length + log.leftOut).toBe(60 * keys.length)
      expect(log.calls.length).toBeGreaterThan(25 * keys.length)
      expect(new Set(log.calls.map(({ requestId, keyHash }) => `${requestId} ${keyHash}`))).toEqual(
        new Set(keys.map((key) => `${account} ${key} ${key}`)),
      )
    }
  })

  it('that stops loses the calls of its last 25 seconds at most', async () => {
    const clock = new ManualClock(NOW)
    const { logs, isolate } = deployment(clock)
    const charging = isolate()
    for (let i = 0; i < 200; i++) {
      await serve(charging(), 'acme', 'k1')
      await clock.advance(1_000)
    }
    const log = logs.get('acme')!
    expect(Math.max(...log.calls.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(clock.now - 25_000)
    const reportedMs = log.tail.untilMs
    expect(log.calls.length + log.leftOut).toBe(Math.round((reportedMs - NOW) / 1_000) + 1)
  })

  it('reports calls without a lease, but not those of /platform', async () => {
    const clock = new ManualClock(NOW)
    const { logs, exchanges, isolate } = deployment(clock)
    const identity = identityOf('enterprise', ['info'], 'acme', 'k1')
    const charging = isolate()()
    const refused = { type: 'connect', status: 429, code: 'rate_limited', micro: 0, requestId: 'r' }
    charging.log?.(identity, { ...refused, product: 'platform' })
    await clock.advance(60_000)
    expect(exchanges).toEqual([])
    for (let i = 0; i < 500; i++) charging.log?.(identity, { ...refused, product: 'stream' })
    await clock.advance(60_000)
    const log = logs.get('acme')!
    expect(log.calls.length + log.leftOut).toBe(500)
    expect(exchanges.length).toBeLessThanOrEqual(3)
  })
})

describe('the operator’s cost per million calls', () => {
  /** Extra time that a meter takes to store a batch, generously. */
  const APPEND_S = 0.0005
  const GB_MONTH_USD = 0.2

  it.each([
    // Milliseconds between two calls of a key, isolates that they reach in turn, calls of a report, and reports.
    [30_000, 1, 3_000],
    [1_000, 20, 600],
    [1_000, 1, 3_000],
    [20, 1_000, 600],
    [1, 1_000, 600],
  ])('with a call every %i ms and %i calls in a report is below $0.02', (everyMs, perReport, reports) => {
    const log = new StoredLog()
    const buffer = new CallBuffer('0123456789ab', new LogRoom(1_000))
    let nowMs = NOW
    for (let i = 0; i < reports; i++) {
      for (let j = 0; j < perReport; j++, nowMs += everyMs) buffer.add(call(nowMs))
      const batch = buffer.next(nowMs)!
      log.take(batch, nowMs)
      buffer.acknowledge(batch)
    }
    const calls = reports * perReport
    // The tail is in a row that is written anyway, and reports need no request of their own.
    const objects = { requests: 0, messages: 0, rowsWritten: log.rowsWritten, objectSeconds: 0 }
    const gbMonths = (log.length / 1e9) * (DAY_MS / (30 * DAY_MS))
    const dollars = dollarsOfObjects(objects) + gbMonths * GB_MONTH_USD + PER_GB_SECOND * OBJECT_GB * APPEND_S * reports
    console.log(
      `a call every ${everyMs} ms, ${perReport} per report: $${((dollars * 1e6) / calls).toFixed(4)} per million`,
    )
    expect((dollars * 1e6) / calls).toBeLessThan(0.02)
    expect(PER_MILLION.objectRowWritten).toBe(1)
  })
})

describe('the hours of a log', () => {
  const kinds = [
    {},
    { code: 'rate_limited', status: 429 },
    { code: 'source_failed', status: 502 },
    { ms: null, product: 'stream' },
    { ms: null, product: 'stream', code: 'slow_consumer', status: 503 },
  ] as const

  it('count each call once by hour and outcome, and each call that the log lacks, over any pages', () => {
    const row = fc.record({ offset: fc.nat(400), kind: fc.nat(kinds.length - 1), ms: fc.nat(900) })
    const part = fc.record({ rows: fc.array(row, { minLength: 1, maxLength: 8 }), leftOut: fc.nat(9) })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), fc.integer({ min: 4, max: 6 }), (parts, most) => {
        const nowMs = NOW + 4 * HOUR_MS
        const chunks = parts
          .map(({ rows, leftOut }, i): LogChunk => {
            const calls = rows.map(({ offset, kind, ms }) => {
              // Some are older than the first of the hours.
              return call(NOW + (i * 200 + offset) * 10_000 - 2 * HOUR_MS, { ms, ...kinds[kind] })
            })
            const { lines, sinceMs, untilMs } = withBatch(emptyTail(NOW), batchOf(calls), NOW)
            return { lines, sinceMs, untilMs, leftOut }
          })
          .sort((a, b) => b.untilMs - a.untilMs)
        const hours = new LogHours(nowMs, 8)
        for (let untilMs: number | null = Number.MAX_SAFE_INTEGER; untilMs !== null; ) {
          const near = chunks.filter((chunk) => chunk.untilMs >= hours.firstMs && chunk.sinceMs <= untilMs!)
          const read = { chunks: near.slice(0, most), restMs: near[most]?.untilMs ?? null, keptMs: DAY_MS }
          hours.add(read, untilMs)
          untilMs = read.restMs
        }
        const isInHours = (atMs: number) => atMs >= hours.firstMs && atMs < hours.firstMs + 8 * HOUR_MS
        const all = chunks.flatMap(({ lines }) => callsOf(lines)).filter(({ atMs }) => isInHours(atMs))
        for (const { atMs, ok, refused, failed, latency } of hours.hours) {
          const calls = all.filter((one) => one.atMs >= atMs && one.atMs < atMs + HOUR_MS)
          const count = (test: (one: LoggedCall) => boolean) => calls.filter(test).length
          expect([ok, refused, failed]).toEqual([
            count(({ code, ms }) => code === '' && ms !== null),
            count(({ status }) => status === 429),
            count(({ status }) => status >= 500),
          ])
          const durations = calls.flatMap(({ ms }) => ms ?? []).sort((a, b) => a - b)
          expect(latency?.p99 ?? null).toBe(durations[Math.ceil(durations.length * 0.99) - 1] ?? null)
        }
        const leftOut = chunks.filter(({ untilMs }) => isInHours(untilMs)).reduce((sum, one) => sum + one.leftOut, 0)
        expect(hours.hours.reduce((sum, one) => sum + one.leftOut, 0)).toBe(leftOut)
        expect(hours.sinceMs).toBe(hours.firstMs)
      }),
    )
  })
})
