// Memory of one gateway isolate with every cache at its limit. The platform allows 128 MB, of which code takes 10.
// Measured in Node, whose pointers are twice as long as workerd's; there it is about two thirds of this.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import { KeyCache } from '../../src/accounts/key-cache.ts'
import type { KeyRecord } from '../../src/accounts/key-record.ts'
import { RefusalBuffer } from '../../src/accounts/refused-calls.ts'
import { BoundedMap } from '../../src/core/bounded-map.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { RateLimiter } from '../../src/core/rate-limiter.ts'
import { SingleFlights } from '../../src/core/single-flight.ts'
import { UnbilledLimiter } from '../../src/core/unbilled-limiter.ts'
import { AnswerCache } from '../../src/info/answer/answer-tiers.ts'
import type { InfoCall } from '../../src/info/answer/call.ts'
import { CallMemo } from '../../src/info/answer/call.ts'
import { LINES_MAX } from '../../src/metering/credit-lease.ts'
import { LeasePool, LOCAL_ACCOUNTS_MAX } from '../../src/metering/leases.client.ts'
import { METER_API_VERSION } from '../../src/metering/meter-version.ts'
import { RelayRefusals } from '../../src/relay/sockets/placement.ts'

const MOST_MB = 115
const NOW = 1_764_291_234_567
/** Above every limit of entries. */
const MANY = 10_500
const LIMITS = {
  requestsPerSecond: 50,
  infoRequestsPerSecond: 5_000,
  streamConnections: 1_000,
  streamSubscriptions: 10_000,
  streamMessagesPerMinute: 2_000,
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Creates separate, flat strings. */
const text = (number: number, length: number) => Buffer.from(String(number).padStart(length, 'x')).toString('latin1')
const hash = (number: number) => text(number, 64)

function filled<T>(holder: T, fill: (holder: T, number: number) => void, times = MANY): T {
  for (let number = 0; number < times; number++) fill(holder, number)
  return holder
}

function record(number: number): KeyRecord {
  const ranges = Array.from({ length: 32 }, (_, at) => text(number * 32 + at, 18))
  return {
    v: 2,
    hash: keyHashOf(hash(number)),
    account: text(number, 30),
    kind: 'api',
    plan: text(number, 12),
    limits: { ...LIMITS },
    products: ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'],
    ranges,
    expires: NOW + number,
    revoked: null,
    replaced: false,
    at: NOW + number,
  }
}

const LIMIT = { name: 'address', quota: 9, windowSeconds: 2 }
const SEATS = 200

/** Active keys with as many kinds of calls as a lease counts. */
async function leases(): Promise<LeasePool> {
  let id = 0
  const pool = new LeasePool({ nowMs: () => NOW, sleep: () => new Promise(() => {}), newId: () => text(++id, 36) })
  const requests = { granted: 1_000, waitMs: 0, remaining: 50 }
  const answer = {
    v: METER_API_VERSION,
    ok: true,
    granted: 1e9,
    ttlMs: 30_000,
    remaining: 1e9,
    left: 1e9,
    requests,
  } as const
  const charging = pool.charging({
    meterOf: () => ({ lease: async () => answer }),
    waitUntil: () => {},
    meterFailure: 'closed',
    onRevoked: () => {},
  })
  for (let key = 0; key < SEATS; key++)
    for (let type = 0; type < LINES_MAX; type++) {
      const identity = { account: text(key, 30), keyHash: hash(key), limits: LIMITS } as Identity
      const hold = await charging.hold(identity, { amount: 1_000_000, product: 'info', type: `type${type}` })
      if (hold.ok) hold.value.settle()
    }
  return pool
}

const call = (key: string) => ({ query: {}, key, request: { type: 'userFills', user: key } }) as unknown as InfoCall
const body = (number: number) => text(number, 400)

/** Number of each structure in an isolate, and one at its limit. */
const HOLDERS: readonly (readonly [name: string, count: number, make: () => unknown])[] = [
  ['KeyMemory', 2, () => filled(new KeyCache(), (memory, n) => memory.set(hash(n), record(n), NOW))],
  [
    'changed and revoked keys',
    2,
    () => filled(new BoundedMap(10_000), (map, n) => map.set(hash(n), { at: NOW + n, n })),
  ],
  ['Gate', 10, () => filled(new RateLimiter(), (gate, n) => gate.take(text(n, 24), LIMIT, NOW + n))],
  ['FreeWork', 2, () => filled(new UnbilledLimiter(), (work, n) => work.take(hash(n), NOW + n))],
  ['Refusals', 2, () => filled(new RelayRefusals(), (refusals, n) => refusals.markHeavy(text(n, 30), NOW + n))],
  [
    'RefusedCalls',
    1,
    () =>
      filled(new RefusalBuffer(), (calls, n) =>
        calls.record(
          {
            caller: { account: text(n, 30), keyHash: keyHashOf(hash(n)) },
            requestId: text(n, 32),
            product: 'info',
            type: text(n, 64),
            failure: { kind: 'conflict', message: text(n, 300) },
          },
          NOW,
        ),
      ),
  ],
  ['CallMemo', 1, () => filled(new CallMemo(), (memo, n) => memo.set(body(n), call(body(n))))],
  [
    'AnswerCache',
    1,
    () => filled(new AnswerCache(), (cache, n) => cache.set(body(n), { body: body(n), at: n }), 90_000),
  ],
  ['LeasePool', LOCAL_ACCOUNTS_MAX / SEATS, leases],
  [
    'Flights',
    1,
    () => filled(new SingleFlights(1_000), (flights, n) => flights.start(body(n), () => new Promise(() => {}), NOW)),
  ],
]
/** Limited by JSON length: compressed responses and JSON-RPC results. */
const TEXTS_MB = 8 + 8

/** Timers and promises of an earlier structure are freed after a turn of the event loop. */
async function settled(): Promise<void> {
  collect()
  await new Promise((done) => setImmediate(done))
  collect()
}

async function megabytes(make: () => unknown): Promise<number> {
  await settled()
  const before = process.memoryUsage().heapUsed
  const holder = await make()
  await settled()
  const bytes = process.memoryUsage().heapUsed - before
  // Keeps it alive until here.
  return holder === null ? 0 : bytes / 1e6
}

it('a gateway isolate stays within its memory with all caches full', async () => {
  const measured: Record<string, number> = { texts: TEXTS_MB }
  for (const [name, count, make] of HOLDERS) measured[name] = count * (await megabytes(make))
  const sum = Object.values(measured).reduce((total, mb) => total + mb, 0)
  expect(
    sum,
    JSON.stringify(measured, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)),
  ).toBeLessThan(MOST_MB)
  // Every structure was measured.
  for (const [name] of HOLDERS) expect(measured[name], name).toBeGreaterThan(0.5)
})
