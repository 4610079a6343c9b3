// Webhook of an account inside its meter: one event per threshold, whatever happens to alarms, objects and receivers.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
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
