// Requests per second at the lease pool: several isolates, one meter and a manual clock.

import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import type { Charging, Price } from '../../src/metering/charging.ts'
import { type LeaseClock, LeasePool } from '../../src/metering/leases.client.ts'
import { identityOf } from '../kit/identity.ts'
import { ModelMeter } from '../metering/model-meter.ts'

const identity = identityOf('trial', ['info', 'rpc'])
const info: Price = { product: 'info', type: 'meta', amount: 1 }
const rpc: Price = { product: 'rpc', type: 'eth_call', amount: 1 }
const stream: Price = { product: 'stream', type: 'connect', amount: 1 }

function world() {
  let now = 1_000_000
  let ids = 0
  const clock: LeaseClock = { nowMs: () => now, newId: () => `l${ids++}`, sleep: () => new Promise(() => {}) }
  const meter = new ModelMeter(1e9, () => now)
  const isolate = () =>
    new LeasePool(clock).charging({
      meterOf: () => meter,
      waitUntil: () => {},
      meterFailure: 'closed',
      onRevoked: () => {},
    })
  return { isolate, meter, pass: (ms: number) => (now += ms) }
}

async function call(charging: Charging, price: Price, who = identity): Promise<string> {
  const hold = await charging.hold(who, price)
  if (hold.ok) hold.value.settle()
  return hold.ok ? 'ok' : hold.error.kind
}

async function serve(charging: Charging, price: Price, count: number, who = identity): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, () => call(charging, price, who)))
  expect(new Set(answers.filter((answer) => answer !== 'ok' && answer !== 'rate_limited'))).toEqual(new Set())
  return answers.filter((answer) => answer === 'ok').length
}

describe('requests per second', () => {
  it('follow the plan per key, whatever the number of isolates', async () => {
    const { isolate, pass } = world()
    const isolates = [isolate(), isolate(), isolate()]
    const all = async (who = identity) => {
      let served = 0
      for (const each of isolates) served += await serve(each, rpc, 10, who)
      return served
    }
    expect(await all()).toBe(4)
    expect(await all({ ...identity, keyHash: keyHashOf('another') })).toBe(4)
    let served = 0
    for (let i = 0; i < 40; i++) {
      pass(250)
      served += await all()
    }
    expect(served).toBeGreaterThanOrEqual(38)
    expect(served).toBeLessThanOrEqual(40)
  })

  it('of info have a separate limit, and streams have none', async () => {
    const { isolate } = world()
    const charging = isolate()
    expect(await serve(charging, rpc, 10)).toBe(4)
    expect(await serve(charging, info, 1_500)).toBe(1_000)
    expect(await serve(charging, stream, 2_000)).toBe(2_000)
    expect(await charging.hold(identity, info)).toMatchObject({
      error: { hint: expect.stringContaining('(info_requests_per_second)') },
    })
    expect(charging.limitHeaders?.(identity, 'info')).toEqual({
      ratelimit: '"info";r=0;t=1',
      'ratelimit-policy': '"info";q=1000;w=1',
    })
    expect(charging.limitHeaders?.(identity, 'stream')).toBe(null)
  })

  it('are announced below the given fraction', async () => {
    const charging = world().isolate()
    const told = () => charging.limitHeaders?.(identity, 'info', 1 / 4)?.ratelimit
    await serve(charging, info, 700)
    expect(told()).toBe(undefined)
    await serve(charging, info, 50)
    expect(told()).toBe('"info";r=250;t=1')
  })

  it('are free when rejected, with a retry time', async () => {
    const { isolate, meter, pass } = world()
    const charging = isolate()
    await serve(charging, rpc, 4)
    const refused = await charging.hold(identity, rpc)
    const hint = /4 per second .*\(rest_requests_per_second\)\. Retry after 1 s\.$/
    expect(refused).toEqual({
      ok: false,
      error: {
        kind: 'rate_limited',
        retryAfterMs: 250,
        remainingMicro: expect.any(Number),
        hint: expect.stringMatching(hint),
      },
    })
    const { exchanges } = meter
    for (let i = 0; i < 100; i++) expect(await call(charging, rpc)).toBe('rate_limited')
    expect(meter.exchanges).toBe(exchanges)
    pass(250)
    expect(await call(charging, rpc)).toBe('ok')
  })

  it('follow a plan change, and can be unlimited', async () => {
    const { isolate } = world()
    const charging = isolate()
    await serve(charging, rpc, 10)
    expect(await serve(charging, rpc, 100, { ...identity, plan: 'enterprise' })).toBe(100)
    expect(await serve(isolate(), rpc, 100, { ...identity, keyHash: keyHashOf('p'), plan: 'professional' })).toBe(50)
  })
})
