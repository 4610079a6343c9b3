// Each alert of the Monitor, fired once by a fault of the real objects, at a receiver that verifies the signature.

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { counters } from '../../src/core/counters.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { monitorOf } from '../../src/core/objects.client.ts'
import { AlertEvent } from '../../src/monitor/alerts.ts'
import { FakeFeeder, log, WAIT } from '../block-log/fake-feeder.worker.ts'
import { CREDIT, copyLate, meterOf, spend } from '../metering/meter.worker.ts'

const bindings = env as unknown as Cloudflare.Env
const object = () => bindings.MONITOR.getByName('monitor')
const ALERT_URL = 'https://receiver.example/alerts'
const ALERT_SECRET = `whsec_${btoa('alert-secret-of-this-test-file-0001')}`
let received: { readonly alert: string; readonly type: string; readonly message: string }[] = []
let isDown = false

vi.stubGlobal('fetch', async (to: string, init: { headers: Record<string, string>; body: string }) => {
  if (to.includes('/dns-query?')) return Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] })
  expect(to).toBe(ALERT_URL)
  if (isDown) return new Response('', { status: 503 })
  const event = AlertEvent.parse(new Webhook(ALERT_SECRET).verify(init.body, init.headers))
  expect(init.headers['webhook-id']).toBe(event.id)
  received.push(event)
  return new Response('ok')
})

let feeder: FakeFeeder
let reports = 0

/** Runs checks, which are otherwise a minute apart. What an isolate counted is reported before each. */
async function pass(checks: number): Promise<void> {
  for (let check = 0; check < checks; check++) {
    const nowMs = Date.now()
    const counted = { sums: counters.take(), gauges: counters.gauges(nowMs) }
    await monitorOf(bindings).report({ v: 1, isolate: 'alerts', number: reports++, ...counted })
    await runInDurableObject(object(), async (monitor, state) => {
      Object.assign((monitor as unknown as { env: object }).env, { ALERT_URL, ALERT_SECRET })
      await state.storage.setAlarm(nowMs + 60_000)
    })
    await runDurableObjectAlarm(object())
  }
}
const typesOf = (alert: string) => received.filter((one) => one.alert === alert).map(({ type }) => type)
const STARTED = ['alert.started']
const ENDED = ['alert.started', 'alert.ended']

/** Checks until the messages of an alert are these, and then a few times more. The status of the log is cached for a second. */
async function told(alert: string, types: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    await pass(1)
    expect(typesOf(alert)).toEqual(types)
  }, WAIT)
  await pass(3)
  expect(typesOf(alert)).toEqual(types)
}

/** Makes the feed live, with a block of now. Returns its height. */
async function live(): Promise<number> {
  const height = Math.floor(Date.now() / 70)
  feeder.hello(height, height)
  await feeder.next('welcome')
  feeder.snapshot(height, [])
  await feeder.acked(height)
  feeder.block(height + 1, [])
  await feeder.acked(height + 1)
  await vi.waitFor(async () => expect((await log().status()).state).toBe('live'), WAIT)
  return height + 1
}

beforeEach(async () => {
  await log().reset()
  await runInDurableObject(object(), (_, { storage }) => void storage.kv.delete('alerts'))
  await evictDurableObject(object())
  counters.take()
  received = []
  isDown = false
  feeder = await FakeFeeder.connect()
})
afterEach(() => feeder.close())

it('a feed without blocks, until it is live again', async () => {
  await told('feed_not_live', STARTED)
  expect(received[0]?.message).toBe((await log().status()).advice)
  await live()
  await told('feed_not_live', ENDED)
})

it('an archive more than ten minutes behind', async () => {
  const height = await live()
  const behind = (ms: number) => ({
    v: 1,
    archived: null,
    from: null,
    report: { last: { height: height - 9_000, time: height * 70 - ms }, segments: 1, checkpoint: null, failure: null },
  })
  await log().archive(behind(630_000))
  await told('archive_late', STARTED)
  await log().archive(behind(30_000))
  await told('archive_late', ENDED)
})

it('an isolate that spent more than the account had', async () => {
  await live()
  await pass(1)
  await meterOf('poor').grantCredits('g', 10 * CREDIT)
  const lease = {
    v: 1,
    lease: 'l',
    keyHash: keyHashOf('k'),
    usage: [],
    waiting: 10 * CREDIT,
    forecast: 0,
    close: false,
  }
  await meterOf('poor').lease({ ...lease, need: 10 * CREDIT, spent: 0 })
  await meterOf('poor').lease({ ...lease, need: 0, waiting: 0, spent: 20 * CREDIT })
  await told('write_offs_high', STARTED)
  expect(received.map(({ message }) => message)).toEqual(['50.0 % of the credits of the last hour were written off.'])
})

it('a meter whose copies of usage fail', async () => {
  await live()
  await meterOf('uncopied').grantCredits('g', 10 * CREDIT)
  await spend(meterOf('uncopied'), 'k', CREDIT)
  await copyLate('uncopied', 'allFills', 'refused')
  await told('usage_copies_late', STARTED)
  await copyLate('uncopied', 'refused', 'allFills')
  await told('usage_copies_late', ENDED)
})

it('a receiver that fails gets the message later, once', async () => {
  isDown = true
  const outbox = () =>
    runInDurableObject(object(), (_, { storage }) => storage.kv.get<{ outbox: object[] }>('alerts')?.outbox ?? [])
  await vi.waitFor(async () => {
    await pass(1)
    expect(await outbox()).toHaveLength(1)
  }, WAIT)
  isDown = false
  await pass(2)
  expect(received).toEqual([])
  // The retry is due.
  const due = (await outbox()).map((one) => ({ ...one, nextMs: 0 }))
  await runInDurableObject(object(), (_, { storage }) => {
    storage.kv.put('alerts', { ...storage.kv.get<object>('alerts'), outbox: due })
  })
  await evictDurableObject(object())
  await pass(2)
  expect(typesOf('feed_not_live')).toEqual(STARTED)
})
