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
let received: { readonly id: string; readonly alert: string; readonly type: string; readonly message: string }[] = []
/** Ids of all attempts. */
let attempts: string[] = []
interface Sent {
  readonly headers: Record<string, string>
  readonly body: string
  readonly signal: AbortSignal
}
/** What a receiver that fails does; null: it works. */
let failing: ((init: Sent) => Promise<Response>) | null = null
let secret: string | undefined = ALERT_SECRET
let url = ALERT_URL
const answers = (status: number) => async () => new Response('', { status })
const hangs = ({ signal }: Sent) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

vi.stubGlobal('fetch', async (to: string, init: Sent) => {
  if (to.includes('/dns-query?')) return Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] })
  expect(to).toBe(ALERT_URL)
  attempts.push(init.headers['webhook-id'] ?? '')
  if (failing !== null) return failing(init)
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
      Object.assign((monitor as unknown as { env: object }).env, { ALERT_URL: url, ALERT_SECRET: secret })
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

const { now } = Date
function passAnHour(): void {
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_001)
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
  await runInDurableObject(object(), (_, { storage }) => {
    storage.kv.delete('alerts')
    storage.sql.exec('DELETE FROM alerts')
  })
  await evictDurableObject(object())
  counters.take()
  received = []
  attempts = []
  failing = null
  secret = ALERT_SECRET
  url = ALERT_URL
  feeder = await FakeFeeder.connect()
})
afterEach(() => {
  vi.restoreAllMocks()
  feeder.close()
})

it('a feed without blocks, until it is live again', async () => {
  await told('feed_not_live', STARTED)
  expect(received[0]?.message).toBe((await log().status()).advice)
  const during = await monitorOf(bindings).alerts()
  expect(during).toMatchObject({ receiver: 'receiver.example', isSigned: true })
  expect(during.alerts[0]).toMatchObject({ alert: 'feed_not_live', fault: received[0]?.message })
  expect(during.alerts[0]?.sinceMs).toBeGreaterThan(0)
  await live()
  await told('feed_not_live', ENDED)
  const { alerts, history } = await monitorOf(bindings).alerts()
  expect(alerts[0]).toMatchObject({ sinceMs: null, fault: null })
  const delivery = { delivery: 'delivered', attempts: 1, answer: '200' }
  expect(history).toMatchObject([
    { alert: 'feed_not_live', type: 'alert.ended', ...delivery },
    { alert: 'feed_not_live', type: 'alert.started', ...delivery },
  ])
})

it('keeps the history of alerts without a receiver, at most 200 events', async () => {
  await runInDurableObject(object(), (_, { storage }) => {
    for (let i = 0; i < 250; i++)
      storage.sql.exec("INSERT INTO alerts VALUES (NULL, ?, 1, '{}', 'none', 0, NULL)", `${i}`)
  })
  url = ''
  const begun = async () => {
    await pass(1)
    expect((await monitorOf(bindings).alerts()).history[0]).toMatchObject({ type: 'alert.started', delivery: 'none' })
  }
  await vi.waitFor(begun, WAIT)
  expect((await monitorOf(bindings).alerts()).history).toHaveLength(200)
  expect(await monitorOf(bindings).testAlert()).toBe('no_receiver')
  expect([received, await outbox()]).toEqual([[], []])
})

it('sends a test message once, and its history shows the answer', async () => {
  await pass(1)
  expect(await monitorOf(bindings).testAlert()).toEqual({ delivered: true, answer: '200' })
  failing = answers(500)
  expect(await monitorOf(bindings).testAlert()).toEqual({ delivered: false, answer: '500' })
  const { history } = await monitorOf(bindings).alerts()
  expect(history.filter(({ type }) => type === 'alert.test')).toMatchObject([
    { delivery: 'given_up', answer: '500', attempts: 1 },
    { delivery: 'delivered', answer: '200', attempts: 1 },
  ])
  expect(typesOf('test')).toEqual(['alert.test'])
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
  // An amount of no other test. Meters of other test files charge in this isolate at any time, which must not count.
  const granted = 10 * CREDIT + 1_357
  const add = counters.add.bind(counters)
  vi.spyOn(counters, 'add').mockImplementation((name, label, amount) => {
    if (amount === granted) add(name, label, amount)
  })
  await live()
  await pass(1)
  await meterOf('poor').grantCredits('g', granted)
  const lease = {
    v: 1,
    lease: 'l',
    keyHash: keyHashOf('k'),
    usage: [],
    waiting: granted,
    forecast: 0,
    close: false,
  }
  await meterOf('poor').lease({ ...lease, need: granted, spent: 0 })
  await meterOf('poor').lease({ ...lease, need: 0, waiting: 0, spent: 2 * granted })
  await told('write_offs_high', STARTED)
  expect(received.map(({ message }) => message)).toEqual(['50.0 % of the credits of the last hour were written off.'])
  passAnHour()
  await told('write_offs_high', ENDED)
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

const outbox = () =>
  runInDurableObject(object(), (_, { storage }) => {
    const stored = storage.kv.get<{ outbox: { id: string; attempts: number; nextMs: number }[] }>('alerts')
    return stored?.outbox ?? []
  })

it.each([
  ['answers 500', answers(500)],
  ['answers 503', answers(503)],
  ['redirects', answers(302)],
  ['hangs', hangs],
  ['closes the connection', async () => Promise.reject(new TypeError('Network connection lost.'))],
])('a receiver that %s gets the message later, once', async (_, fails) => {
  failing = fails
  const begunMs = Date.now()
  const isTried = async () => {
    await pass(1)
    expect((await outbox())[0]).toMatchObject({ attempts: 1 })
  }
  // An attempt takes ten seconds at most.
  await vi.waitFor(isTried, { ...WAIT, timeout: 30_000 })
  expect(Date.now() - begunMs).toBeLessThan(20_000)
  expect(await runInDurableObject(object(), (_, { storage }) => storage.getAlarm())).toBeGreaterThan(begunMs)
  failing = null
  // The retry is not due yet.
  await pass(2)
  expect([attempts.length, received]).toEqual([1, []])
  const [waiting] = await outbox()
  passAnHour()
  await pass(2)
  expect(attempts.filter((id) => id === waiting?.id)).toHaveLength(2)
  expect(received.filter(({ id }) => id === waiting?.id)).toMatchObject([{ type: 'alert.started' }])
})

it.each([undefined, '', 'whsec_dG9vIHNob3J0', ALERT_SECRET.slice(6)])(
  'sends nothing with the secret %j, says so in the log, and sends what is due once it is set',
  async (unusable) => {
    secret = unusable
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    await pass(5)
    expect(attempts).toEqual([])
    expect(logged.mock.calls.map(([line]) => (JSON.parse(line) as { event: string }).event)).toContain('alert_unsigned')
    logged.mockRestore()
    secret = ALERT_SECRET
    await evictDurableObject(object())
    await told('feed_not_live', STARTED)
  },
)
