// Webhook of an account inside its meter: one event per threshold, whatever happens to alarms, objects and receivers.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { AlertRule } from '../../../src/metering/alerts/alert-rule.ts'
import type { MeterApi } from '../../../src/metering/meter-api.ts'
import { PLANS } from '../../../src/metering/plans/plan.ts'
import { parseThreshold, type Threshold } from '../../../src/metering/webhooks/low-balance.ts'
import { GIVE_UP_MS } from '../../../src/metering/webhooks/webhook.ts'
import { CREDIT, meterOf, spend as spendOf, stubOf } from '../meter.worker.ts'

const K = keyHashOf('k')

const thresholds = ['20%', '5%', '0'].map((name) => (parseThreshold(name) as { value: Threshold }).value)
const order = (account: string, over: object = {}) => ({
  account,
  by: null,
  url: 'https://receiver.example/hook',
  thresholds,
  newSecret: false,
  ...over,
})
const spend = (account: string, credits: number) => spendOf(meterOf(account), 'k', credits * CREDIT)

interface Received {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

type Answer = () => Promise<Response>
const OK: Answer = async () => new Response('ok')
const receivers = new Map<string, { readonly received: Received[]; readonly answer: Answer }>()

/** Applies to the whole file, because alarms fire on their own and nothing here may reach a network. */
vi.stubGlobal('fetch', async (url: string, init: { headers: Record<string, string>; body: string }) => {
  if (url.includes('/dns-query?'))
    return Response.json({ Answer: [{ type: 1, data: url.includes('inside') ? '10.0.0.1' : '9.9.9.9' }] })
  const receiver = receivers.get(JSON.parse(init.body).account)
  receiver?.received.push({ url, ...init })
  return (receiver?.answer ?? OK)()
})

/**
 * An account's receiver: records requests and returns scripted responses; `answer` may reject like a broken network.
 */
function receiver(account: string, answer = OK) {
  const received: Received[] = []
  receivers.set(account, { received, answer })
  return received
}

const events = async (account: string) => (await meterOf(account).webhook())?.events ?? []
const told = async (account: string) => (await events(account)).map(({ threshold }) => threshold)
const states = async (account: string) => (await events(account)).map(({ threshold, state }) => `${threshold} ${state}`)

/** Runs the alarm and waits until every event has a response. */
async function ring(account: string) {
  await runDurableObjectAlarm(stubOf(account))
  await expect.poll(async () => (await events(account)).some((event) => event.last === null)).toBe(false)
}

/** Moves everything that waits `ms` into the past. */
const pass = (account: string, ms: number) =>
  runInDurableObject(stubOf(account), async (_, state) => {
    state.storage.sql.exec('UPDATE webhook_events SET next = next - ?1, created = created - ?1', ms)
    await state.storage.setAlarm(Date.now() + 60_000)
  }).then(() => evictDurableObject(stubOf(account)))

/** Ends the object with everything in memory and in flight. */
const crash = (account: string) =>
  runInDurableObject(stubOf(account), (_, state) => state.abort('crash')).catch(() => {})

const reseal = (account: string, sealed: string) =>
  runInDurableObject(stubOf(account), (_, state) => {
    state.storage.sql.exec('UPDATE webhook SET secret = ?', sealed)
  })

/** An account with a webhook, and its scripted receiver. */
async function account(name: string, answer = OK, credits = 100) {
  const received = receiver(name, answer)
  await meterOf(name).grantCredits('g', credits * CREDIT)
  const { secret } = await meterOf(name).setWebhook(order(name))
  return { received, secret: secret as string }
}

/** Verification as done by a receiver, with the specification's library. */
const verified = (secret: string, { headers, body }: Received) => new StandardWebhook(secret).verify(body, headers)
const idOf = ({ headers }: Received) => headers['webhook-id']

it('reports each stop of automatic top-ups once', async () => {
  const account = 'stopped-top-up'
  const received = receiver(account)
  await meterOf(account).topUpStopped(account, { reason: 'declined', atMs: 1, order: 'W-1-aaaa' })
  await meterOf(account).setWebhook(order(account))
  for (const atMs of [7, 7, 8])
    await meterOf(account).topUpStopped(account, { reason: 'declined', atMs, order: 'W-1-aaaa' })
  await expect.poll(() => received.length).toBe(2)
  const bodies = received.map(({ body }) => JSON.parse(body))
  expect(bodies.map(({ id }) => id).sort()).toEqual(['evt_top_up_7', 'evt_top_up_8'])
  expect(bodies[0]).toMatchObject({ type: 'top_up.stopped', account, reason: 'declined', order: 'W-1-aaaa' })
  expect((await events(account)).map(({ type, threshold }) => [type, threshold])).toEqual([
    ['top_up.stopped', null],
    ['top_up.stopped', null],
  ])
})

describe('a webhook', () => {
  it('gets one signed event per threshold, with its own id', async () => {
    const { received, secret } = await account('signed')
    await spend('signed', 79)
    expect(await events('signed')).toEqual([])
    await spend('signed', 1)
    await spend('signed', 1)
    await ring('signed')
    expect(await states('signed')).toEqual(['20% delivered'])
    await spend('signed', 19)
    await ring('signed')
    expect(await states('signed')).toEqual(['0 delivered', '5% delivered', '20% delivered'])
    expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: 'credits.low', account: 'signed', threshold: '20%', credits_left: '20', credits_at_most: '100' },
      { threshold: '5%', credits_left: '0' },
      { threshold: '0', credits_left: '0' },
    ])
    for (const each of received) {
      expect(verified(secret, each)).toMatchObject({ id: idOf(each) })
    }
    expect(new Set(received.map(idOf)).size).toBe(3)
  })

  it("uses percentages of the period's maximum, also from before it was set, and fires immediately", async () => {
    const received = receiver('late')
    await meterOf('late').grantCredits('g', 100 * CREDIT)
    await spend('late', 60)
    await evictDurableObject(stubOf('late'))
    const half = ['50%', '20%'].map((name) => (parseThreshold(name) as { value: Threshold }).value)
    for (let i = 0; i < 2; i++) await meterOf('late').setWebhook(order('late', { thresholds: half }))
    await ring('late')
    expect(await states('late')).toEqual(['50% delivered'])
    await spend('late', 20)
    await ring('late')
    expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { threshold: '50%', credits_left: '40', credits_at_most: '100' },
      { threshold: '20%', credits_left: '20', credits_at_most: '100' },
    ])
  })

  it('is signed so that a standard verifier accepts it unchanged, and rejects it modified or old', async () => {
    const { received, secret } = await account('verified')
    await meterOf('verified').testWebhook()
    const sent = received[0] as Received
    expect(verified(secret, sent)).toMatchObject({ type: 'test', account: 'verified' })
    const at = Number(sent.headers['webhook-timestamp'])
    const refused = (words: string, over: Partial<Received>, by = secret) =>
      expect(() => verified(by, { ...sent, ...over })).toThrow(words)
    const headed = (over: Record<string, string>) => ({ headers: { ...sent.headers, ...over } })
    refused('No matching signature', { body: sent.body.replace('verified', 'another') })
    refused('No matching signature', headed({ 'webhook-id': 'evt_other' }))
    refused('No matching signature', headed({ 'webhook-timestamp': `${at - 1}` }))
    refused('No matching signature', {}, `whsec_${btoa('another secret of some bytes')}`)
    vi.useFakeTimers({ now: (at + 301) * 1_000, toFake: ['Date'] })
    try {
      refused('timestamp too old', {})
    } finally {
      vi.useRealTimers()
    }
  })

  it('stores its secret only encrypted, for its own account, and reports why it cannot sign', async () => {
    const { received, secret } = await account('sealed')
    await meterOf('sealed').testWebhook()
    expect(verified(secret, received[0] as Received)).toMatchObject({ account: 'sealed' })
    const rows = await runInDurableObject(stubOf('sealed'), (_, { storage: { sql } }) =>
      ['webhook', 'webhook_events'].map((table) => sql.exec(`SELECT * FROM ${table}`).toArray()),
    )
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6))
    expect(rows[0]).toMatchObject([{ secret: `kept webhook:sealed ${btoa(secret)}` }])
    for (const lost of [secret, `kept webhook:other ${btoa(secret)}`]) {
      await reseal('sealed', lost)
      expect(await meterOf('sealed').testWebhook()).toEqual({
        delivered: false,
        answer: expect.stringContaining('(new_secret)'),
      })
    }
    expect(received).toHaveLength(1)
    const drawn = await meterOf('sealed').setWebhook(order('sealed', { newSecret: true }))
    await meterOf('sealed').testWebhook()
    expect(verified(drawn.secret as string, received[1] as Received)).toMatchObject({ account: 'sealed' })
  })

  it('reports credits spent by leases, and not those they hold', async () => {
    await account('leased')
    const lease = { v: 1, lease: 'l', keyHash: K, usage: [], waiting: 0, forecast: 0, close: false }
    await meterOf('leased').lease({ ...lease, spent: 0, need: 90 * CREDIT, waiting: 90 * CREDIT })
    expect(await events('leased')).toEqual([])
    await meterOf('leased').lease({ ...lease, spent: 80 * CREDIT, need: 0 })
    await ring('leased')
    expect(await states('leased')).toEqual(['20% delivered'])
  })

  it('reports pipeline spending too', async () => {
    await account('piped')
    const report = { v: 1, pipeline: 'pipe_1', keyHash: K, type: 'fills', rows: 950_000, spent: 95 * CREDIT }
    for (let i = 0; i < 2; i++) await meterOf('piped').settlePipeline(report)
    expect(await told('piped')).toEqual(['5%', '20%'])
  })

  it('fires again after a top-up above the threshold and after a renewal', async () => {
    await account('again')
    await spend('again', 90)
    await meterOf('again').grantCredits('small', 5 * CREDIT)
    await spend('again', 5)
    expect(await told('again')).toEqual(['20%'])
    await meterOf('again').grantCredits('large', 90 * CREDIT)
    await spend('again', 80)
    expect(await told('again')).toEqual(['20%', '20%'])
    await meterOf('again').beginPlan({ plan: 'entry', terms: PLANS.entry.terms, firstMicro: null })
    await spend('again', 8_100)
    expect(await told('again')).toEqual(['20%', '20%', '20%'])
    await runInDurableObject(stubOf('again'), (_, state) => {
      state.storage.sql.exec('UPDATE plan SET until = ?', Date.now())
    })
    await evictDurableObject(stubOf('again'))
    await spend('again', 8_100)
    expect(await told('again')).toEqual(['20%', '20%', '20%', '20%'])
  })

  it('retries an undelivered event under the same id, also after a restart', async () => {
    let isUp = false
    const { received } = await account('retried', async () => new Response(null, { status: isUp ? 204 : 500 }))
    await spend('retried', 80)
    await evictDurableObject(stubOf('retried'))
    await ring('retried')
    expect(await events('retried')).toMatchObject([{ state: 'due', attempts: 1, last: '500' }])
    // It is not sent before its time.
    await runDurableObjectAlarm(stubOf('retried'))
    expect(received).toHaveLength(1)
    isUp = true
    await pass('retried', 30_000)
    await runDurableObjectAlarm(stubOf('retried'))
    await expect.poll(() => states('retried')).toEqual(['20% delivered'])
    expect(new Set(received.map((each) => `${idOf(each)} ${each.body}`)).size).toBe(1)
    await pass('retried', GIVE_UP_MS)
    await runDurableObjectAlarm(stubOf('retried'))
    expect(received).toHaveLength(2)
  })

  it('repeats an attempt that ended with its object', async () => {
    const { received } = await account('crashed', () => new Promise(() => {}))
    await spend('crashed', 80)
    await runDurableObjectAlarm(stubOf('crashed'))
    await expect.poll(() => received.length).toBe(1)
    // The alarm has claimed the attempt, and its result will never come.
    await crash('crashed')
    await pass('crashed', 30_000)
    const later = receiver('crashed')
    await runDurableObjectAlarm(stubOf('crashed'))
    await expect.poll(() => states('crashed')).toEqual(['20% delivered'])
    expect(later.map(idOf)).toEqual(received.map(idOf))
    expect(await events('crashed')).toMatchObject([{ attempts: 2 }])
  })

  it('drops the event of a rolled-back decision', async () => {
    await account('undone')
    const bad = { ordinal: 0, count: 1, keyHash: K, type: 'allFills', body: 'b', leftMs: 60_000 }
    const charges = [
      { ...bad, subscription: 'r/good', amount: 90 * CREDIT },
      { ...bad, subscription: 'r/bad', amount: -1 },
    ]
    const here = { sockets: 1, subscriptions: 0, perMinute: 0, keys: [], connects: [], ends: [], alive: null }
    const limits = { connections: 9, subscriptions: 9 }
    const outcome = await runInDurableObject(stubOf('undone'), (object) =>
      (object as unknown as MeterApi).stream({ v: 1, relay: 'r', life: 1, ...here, limits, charges }).catch(String),
    )
    expect(outcome).toContain('non-negative integer')
    expect(await events('undone')).toEqual([])
    await spend('undone', 90)
    expect(await told('undone')).toEqual(['20%'])
  })

  it('drops an event after a day, and records it', async () => {
    await account('given up', () => Promise.reject(new Error('no route')))
    await spend('given up', 80)
    await ring('given up')
    expect(await events('given up')).toMatchObject([{ state: 'due', last: 'could not be reached' }])
    await pass('given up', GIVE_UP_MS)
    await runDurableObjectAlarm(stubOf('given up'))
    expect(await events('given up')).toMatchObject([{ state: 'given_up', attempts: 1, next: null }])
  })

  it('does not follow redirects', async () => {
    const headers = { location: 'https://elsewhere.example' }
    await account('redirected', async () => new Response(null, { status: 307, headers }))
    await spend('redirected', 80)
    await ring('redirected')
    expect(await events('redirected')).toMatchObject([{ state: 'due', last: '307: redirects are not followed' }])
  })

  it('does not slow or block charging while its receiver hangs', async () => {
    const { received } = await account('hanging', () => new Promise(() => {}))
    await spend('hanging', 80)
    await runDurableObjectAlarm(stubOf('hanging'))
    await expect.poll(() => received.length).toBe(1)
    for (let i = 0; i < 20; i++) expect(await spend('hanging', 1)).toMatchObject({ ok: true })
    expect(await spend('hanging', 1)).toMatchObject({ ok: false, reason: 'exhausted' })
    await runDurableObjectAlarm(stubOf('hanging'))
    expect(await meterOf('hanging').balance()).toMatchObject({ available: 0, spent: 100 * CREDIT })
    await crash('hanging')
  })

  it('keeps its secret when it moves, generates a new one on request, and drops its events when removed', async () => {
    const { received, secret } = await account('moved')
    const url = 'https://elsewhere.example/hook'
    expect(await meterOf('moved').setWebhook(order('moved', { url }))).toMatchObject({ url, secret: null })
    expect(await meterOf('moved').testWebhook()).toEqual({ delivered: true, answer: '200' })
    expect(received.map((each) => each.url)).toEqual([url])
    expect(verified(secret, received[0] as Received)).toMatchObject({ type: 'test' })
    const drawn = (await meterOf('moved').setWebhook(order('moved', { newSecret: true }))).secret
    expect(drawn).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(drawn).not.toBe(secret)
    expect(JSON.stringify(await meterOf('moved').webhook())).not.toContain('whsec_')
    // In one transaction, so that no alarm delivers in between.
    const isCleared = await runInDurableObject(stubOf('moved'), async (object) => {
      const meter = object as unknown as MeterApi
      await spendOf(meter, 'k', 80 * CREDIT)
      return meter.clearWebhook()
    })
    expect(isCleared).toBe(true)
    await runDurableObjectAlarm(stubOf('moved'))
    expect(received).toHaveLength(1)
    expect(await meterOf('moved').webhook()).toBe(null)
    expect(await meterOf('moved').testWebhook()).toBe(null)
    expect(await meterOf('moved').clearWebhook()).toBe(false)
  })

  it('stores a hundred events', async () => {
    await account('many', OK, 1_000)
    // In one transaction, so that no alarm delivers in between.
    await runInDurableObject(stubOf('many'), async (object) => {
      const meter = object as unknown as MeterApi
      for (let i = 0; i < 120; i++) {
        await spendOf(meter, 'k', 900 * CREDIT)
        await meter.grantCredits(`many ${i}`, 900 * CREDIT)
      }
    })
    expect(await events('many')).toHaveLength(100)
  })
})

describe('alerts', () => {
  const { GATEWAY: gateway } = env as unknown as { GATEWAY: { mails(sealed: string): Promise<readonly string[]> } }
  const errors: AlertRule = {
    name: 'errors',
    enabled: true,
    condition: { type: 'errors', statuses: '5xx', percent: 5, calls: 10, minutes: 5, key: null },
    webhook: false,
    addresses: [],
    cooldownMinutes: 60,
  }
  let batches = 0
  /** Reports calls of this minute, of which some failed, as an isolate does. */
  const report = (account: string, calls: number, failed: number, number = ++batches, atMs = Date.now()) => {
    const minute = Math.floor(atMs / MINUTE_MS)
    const counts = [{ keyHash: K, minute, calls, refused: 0, failed, limited: 0 }]
    const lease = { v: 1, lease: `alert ${account}`, keyHash: K, usage: [], waiting: 0, forecast: 0, close: false }
    const log = { source: account, number, calls, rows: [], counts }
    return meterOf(account).lease({ ...lease, spent: 0, need: 0, log })
  }
  const history = async (account: string) => (await meterOf(account).alerts()).history
  const types = async (account: string) => (await history(account)).map(({ type }) => type)
  /** Moves the counted calls into the past, and runs the alarm of the meter in a new object. */
  const later = async (account: string, minutes: number) => {
    await runInDurableObject(stubOf(account), async (_, { storage }) => {
      const { text } = storage.sql.exec<{ text: string }>('SELECT minutes AS text FROM account').one()
      const stored = JSON.parse(text) as { rows: [number, ...unknown[]][] }
      const rows = stored.rows.map(([minute, ...row]) => [minute - minutes, ...row])
      storage.sql.exec('UPDATE account SET minutes = ?', JSON.stringify({ ...stored, rows }))
      storage.sql.exec('UPDATE alert_rules SET fired = fired - ?', minutes * MINUTE_MS)
      await storage.setAlarm(Date.now() + 60_000)
    })
    await evictDurableObject(stubOf(account))
    await runDurableObjectAlarm(stubOf(account))
  }
  /** An account with a confirmed address. */
  const addressed = async (account: string, sealed = account) => {
    await meterOf(account).grantCredits('g', 100 * CREDIT)
    const address = { id: `adr_${account}`, sealed, digest: 'd', token: 't' }
    expect(await meterOf(account).addAlertAddress(address)).toBe(null)
    expect(await meterOf(account).confirmAlertAddress(address.id, 't')).toBe(true)
    return [address.id]
  }

  it('about errors fire once, survive a restart, are repeated after the cooldown, and are resolved', async () => {
    const { received, secret } = await account('errors')
    const addresses = await addressed('errors')
    await meterOf('errors').putAlertRule('errors', null, { ...errors, webhook: true, addresses })
    await report('errors', 9, 9)
    expect(await types('errors')).toEqual([])
    await report('errors', 1, 0, ++batches)
    // The same batch again, because its response was lost.
    await report('errors', 1, 0, batches)
    await evictDurableObject(stubOf('errors'))
    await report('errors', 100, 50)
    expect(await types('errors')).toEqual(['alert.fired'])
    await runDurableObjectAlarm(stubOf('errors'))
    await expect
      .poll(async () => (await history('errors'))[0]!.deliveries.map(({ state }) => state))
      .toEqual(['delivered', 'delivered'])
    const [fired] = received.map(({ body }) => JSON.parse(body))
    expect(fired).toMatchObject({ type: 'alert.fired', account: 'errors', name: 'errors' })
    expect(fired.message).toBe('9 of 10 calls in 5 minutes had status 5xx (90.0%).')
    expect(verified(secret, received[0] as Received)).toMatchObject({ id: fired.id })
    expect((await gateway.mails('errors')).map((body) => JSON.parse(body))).toEqual([fired])
    await later('errors', 2)
    expect(await types('errors')).toEqual(['alert.fired'])
    await runInDurableObject(stubOf('errors'), (_, { storage }) => {
      storage.sql.exec('UPDATE alert_rules SET fired = fired - ?', 60 * MINUTE_MS)
    })
    await evictDurableObject(stubOf('errors'))
    await report('errors', 1, 1)
    expect(await types('errors')).toEqual(['alert.fired', 'alert.fired'])
    await later('errors', 6)
    await later('errors', 6)
    expect(await types('errors')).toEqual(['alert.resolved', 'alert.fired', 'alert.fired'])
  })

  it('wake the meter until they are resolved, and write nothing that a report does not write', async () => {
    await meterOf('quiet').grantCredits('g', 100 * CREDIT)
    await meterOf('quiet').setWebhook(order('quiet'))
    await meterOf('quiet').putAlertRule('quiet', null, { ...errors, webhook: true })
    const written = () =>
      runInDurableObject(stubOf('quiet'), async (object, { storage }) => {
        const rows = storage.sql.exec<{ changes: number }>('SELECT total_changes() AS changes').one().changes
        return { rows, object }
      })
    await report('quiet', 100, 0)
    const before = await written()
    await report('quiet', 100, 0)
    expect((await written()).rows - before.rows).toBe(1)
    await report('quiet', 100, 100)
    await runDurableObjectAlarm(stubOf('quiet'))
    const alarmMs = await runInDurableObject(stubOf('quiet'), (_, { storage }) => storage.getAlarm())
    expect(alarmMs! - Date.now()).toBeLessThanOrEqual(MINUTE_MS)
  })

  it('about credits fire at the threshold, and again after a top-up', async () => {
    const addresses = await addressed('credits')
    const condition = { type: 'credits_below', threshold: '20%' } as const
    await meterOf('credits').putAlertRule('credits', null, { ...errors, condition, addresses })
    await spend('credits', 79)
    expect(await types('credits')).toEqual([])
    await spend('credits', 1)
    await spend('credits', 1)
    expect(await types('credits')).toEqual(['alert.fired'])
    await meterOf('credits').grantCredits('more', 100 * CREDIT)
    await spend('credits', 100)
    expect(await types('credits')).toEqual(['alert.fired', 'alert.resolved', 'alert.fired'])
    const messages = (await history('credits')).map(({ message }) => message)
    expect(messages[2]).toBe('20 credits are left; the alert is set to 20%.')
  })

  it('about the end of the credits use the rate of the account', async () => {
    const addresses = await addressed('ending')
    await spend('ending', 50)
    const condition = { type: 'credits_end', days: 7 } as const
    await meterOf('ending').putAlertRule('ending', null, { ...errors, condition, addresses })
    await runDurableObjectAlarm(stubOf('ending'))
    expect(await history('ending')).toMatchObject([{ type: 'alert.fired' }])
    expect((await history('ending'))[0]!.message).toMatch(/^At the current rate, the credits end on \d{4}-\d\d-\d\d\.$/)
  })

  it('are retried as webhooks are, and stop for an address that unsubscribed or was removed', async () => {
    const addresses = await addressed('mailed', 'refused')
    const rule = await meterOf('mailed').putAlertRule('mailed', null, { ...errors, addresses })
    if (typeof rule === 'string') throw new Error(rule)
    const tested = await meterOf('mailed').testAlertRule(rule.id)
    expect(tested).toMatchObject({ type: 'alert.test', deliveries: [{ state: 'due', attempts: 1, last: 'refused' }] })
    expect(await meterOf('mailed').testAlertRule(rule.id)).toBeGreaterThan(0)
    expect(await meterOf('mailed').unsubscribeAlertAddress(addresses[0]!)).toBe(true)
    expect((await history('mailed'))[0]!.deliveries).toMatchObject([{ state: 'given_up' }])
    await report('mailed', 10, 10)
    expect(await history('mailed')).toMatchObject([{ type: 'alert.fired', deliveries: [] }, { type: 'alert.test' }])
    expect(await meterOf('mailed').removeAlertAddress(addresses[0]!)).toBe(true)
    expect((await meterOf('mailed').alerts()).rules).toMatchObject([{ addresses: [] }])
  })

  it('ask an address at most once per hour, and never again after it unsubscribed, also if it is added again', async () => {
    const meter = meterOf('asked')
    const added = (id: string) => ({ id, sealed: 's', digest: 'd', token: 't' })
    const hourLater = () =>
      runInDurableObject(stubOf('asked'), (_, { storage }) => {
        storage.sql.exec('UPDATE alert_addresses SET requested = requested - 3600000')
      })
    expect(await meter.addAlertAddress(added('adr_1'))).toBe(null)
    expect(await meter.renewAlertAddress('adr_1', 'new')).toBe('too_soon')
    expect(await meter.removeAlertAddress('adr_1')).toBe(true)
    expect(await meter.removeAlertAddress('adr_1')).toBe(false)
    expect(await meter.confirmAlertAddress('adr_1', 't')).toBe(false)
    expect((await meter.alerts()).addresses).toEqual([])
    expect(await meter.addAlertAddress(added('adr_2'))).toBe('too_soon')
    await hourLater()
    expect(await meter.addAlertAddress(added('adr_2'))).toBe(null)
    expect(await meter.confirmAlertAddress('adr_2', 't')).toBe(true)
    // By the link in an e-mail from before it was removed.
    expect(await meter.unsubscribeAlertAddress('adr_1')).toBe(true)
    expect((await meter.alerts()).addresses).toMatchObject([{ id: 'adr_2', state: 'unsubscribed' }])
    await hourLater()
    expect(await meter.renewAlertAddress('adr_2', 'new')).toBe('unsubscribed')
    expect(await meter.addAlertAddress(added('adr_3'))).toBe('unsubscribed')
    expect(await meter.removeAlertAddress('adr_2')).toBe(true)
    expect(await meter.addAlertAddress(added('adr_3'))).toBe('unsubscribed')
    const left = await runInDurableObject(stubOf('asked'), (object, { storage }) => {
      const rows = `INSERT INTO alert_addresses (id, sealed, digest, requested, state, removed)
        SELECT 'adr_old' || value, '', 'old' || value, 0, 'confirmed', 0 FROM json_each(?)`
      storage.sql.exec(rows, JSON.stringify(Array.from({ length: 1_010 }, (_, i) => i)))
      const more = object as unknown as MeterApi
      return Promise.all([more.addAlertAddress({ ...added('adr_4'), digest: 'e' }), more.removeAlertAddress('adr_4')])
    })
    expect(left).toEqual([null, true])
    const { rows, sealed } = await runInDurableObject(stubOf('asked'), (_, { storage }) =>
      storage.sql
        .exec<{ rows: number; sealed: number }>(
          "SELECT count(*) AS rows, sum(sealed <> '') AS sealed FROM alert_addresses",
        )
        .one(),
    )
    expect([rows, sealed]).toEqual([1_000, 0])
    expect(await meter.addAlertAddress(added('adr_3'))).toBe('unsubscribed')
  })

  it('send at most 20 e-mails per hour, confirmations included', async () => {
    const addresses = await addressed('often')
    const condition = { type: 'credits_below', threshold: '50' } as const
    await meterOf('often').putAlertRule('often', null, { ...errors, condition, addresses })
    await runInDurableObject(stubOf('often'), async (object) => {
      const meter = object as unknown as MeterApi
      for (let i = 0; i < 15; i++) {
        await spendOf(meter, 'k', 60 * CREDIT)
        await meter.grantCredits(`often ${i}`, 60 * CREDIT)
      }
    })
    const deliveries = (await history('often')).flatMap((alert) => alert.deliveries)
    expect(deliveries).toHaveLength(30)
    expect(deliveries.filter(({ state }) => state !== 'given_up')).toHaveLength(19)
    expect(deliveries[0]).toMatchObject({ state: 'given_up', attempts: 0, last: expect.stringContaining('per hour') })
    const next = { id: 'adr_2', sealed: 's', digest: 'other', token: 't' }
    expect(await meterOf('often').addAlertAddress(next)).toBe('mail_limit')
  })

  it('about a key follow its rotation, and keep a bounded history', async () => {
    const addresses = await addressed('rotated')
    const condition = { type: 'rate_limited', calls: 1, minutes: 5, key: K } as const
    await meterOf('rotated').putAlertRule('rotated', null, { ...errors, condition, addresses })
    const heir = keyHashOf('heir')
    await meterOf('rotated').replaceKey(K, heir)
    expect((await meterOf('rotated').alerts()).rules).toMatchObject([{ condition: { key: heir } }])
    const below = { type: 'credits_below', threshold: '50' } as const
    await meterOf('rotated').putAlertRule('rotated', null, { ...errors, condition: below, addresses })
    const mails = await runInDurableObject(stubOf('rotated'), async (object, { storage }) => {
      const meter = object as unknown as MeterApi
      for (let i = 0; i < 80; i++) {
        await spendOf(meter, 'k', 60 * CREDIT)
        await meter.grantCredits(`rotated ${i}`, 60 * CREDIT)
      }
      return storage.sql.exec<{ count: number }>('SELECT count(*) AS count FROM alert_mails').one().count
    })
    expect(await history('rotated')).toHaveLength(100)
    // Those of the last hundred alerts, and earlier ones that count for the limits.
    expect(mails).toBeLessThanOrEqual(100 + 20)
  })

  it('have bounded rules and addresses, and links that work once, for seven days', async () => {
    const addresses = await addressed('bounded')
    for (let i = 0; i < 9; i++) {
      const address = { id: `adr_${i}`, sealed: 's', digest: `d${i}`, token: 't' }
      expect(await meterOf('bounded').addAlertAddress(address)).toBe(null)
    }
    const more = { id: 'adr_more', sealed: 's', digest: 'more', token: 't' }
    expect(await meterOf('bounded').addAlertAddress(more)).toBe('too_many')
    expect(await meterOf('bounded').addAlertAddress({ ...more, digest: 'd' })).toBe('exists')
    for (let i = 0; i < 20; i++)
      expect(await meterOf('bounded').putAlertRule('bounded', null, { ...errors, addresses })).toMatchObject({
        id: expect.stringMatching(/^alr_/),
      })
    const put = (over: object) => meterOf('bounded').putAlertRule('bounded', null, { ...errors, addresses, ...over })
    expect(await put({})).toBe('too_many')
    expect(await put({ webhook: true })).toBe('no_webhook')
    expect(await put({ addresses: ['adr_none'] })).toBe('unknown_address')
    expect(await meterOf('bounded').putAlertRule('bounded', 'alr_none', errors)).toBe('unknown')
    expect(await meterOf('bounded').confirmAlertAddress('adr_0', 'wrong')).toBe(false)
    expect(await meterOf('bounded').confirmAlertAddress('adr_0', 't')).toBe(true)
    expect(await meterOf('bounded').confirmAlertAddress('adr_0', 't')).toBe(false)
    expect(await meterOf('bounded').renewAlertAddress('adr_0', 'new')).toBe('confirmed')
    await runInDurableObject(stubOf('bounded'), (_, { storage }) => {
      storage.sql.exec("UPDATE alert_addresses SET requested = requested - 7 * 86400000 - 1 WHERE id = 'adr_1'")
    })
    expect(await meterOf('bounded').confirmAlertAddress('adr_1', 't')).toBe(false)
    expect(await meterOf('bounded').renewAlertAddress('adr_1', 'new')).toEqual({ sealed: 's' })
    expect(await meterOf('bounded').confirmAlertAddress('adr_1', 't')).toBe(false)
    expect(await meterOf('bounded').confirmAlertAddress('adr_1', 'new')).toBe(true)
  })
})
