// Misbehaving sources over the real path: devnet faults → the built gateway → responses, charges and `/status`; and a
// budget shared by two gateway Workers. Timeouts are short by configuration.

import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Gateway, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { type Program, run, scratch } from '../kit/program.ts'

const USER = `0x${'12'.repeat(20)}`
/** Served by the first devnet alone, and by both. */
const ALONE = 'userRole'
const BOTH = 'userFees'
/** Served by the source with a budget. */
const METERED = 'userRateLimit'
const ANSWER_WEIGHT = 20
const BUDGET = 1_200

const folder = scratch()
const devnets: Program[] = []
const arrivals: number[] = []
let first: string
let world: World
let key: string
let metered: HttpServer

async function startDevnet(name: string): Promise<string> {
  const program = run('devnet', ['--data', join(folder.path, name), '--port', '0', '--json'])
  devnets.push(program)
  return (JSON.parse(await program.line((line) => line.startsWith('{'))) as { url: string }).url
}

beforeAll(async () => {
  const [one, two] = await Promise.all([startDevnet('one'), startDevnet('two')])
  first = one
  metered = await startServer(async (request, response) => {
    await text(request)
    arrivals.push(performance.now())
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
  const sources = [
    { name: 'alone', url: `${one}/info`, types: [ALONE, 'marginTable', 'exchangeStatus'], timeoutMs: 3_000 },
    { name: 'first', url: `${one}/info`, types: [BOTH, 'exchangeStatus'], timeoutMs: 1_000 },
    { name: 'second', url: `${two}/info`, types: [BOTH, 'exchangeStatus'], timeoutMs: 10_000 },
    { name: 'metered', url: `${metered.url}/info`, types: [METERED], budget: BUDGET, timeoutMs: 10_000 },
  ]
  world = await startWorld({ instances: 2, vars: { UPSTREAMS: JSON.stringify(sources) } })
  key = await world.newKey('100000', { plan: 'enterprise' })
})
afterAll(async () => {
  await world?.stop()
  metered?.close()
  await Promise.all(devnets.map((devnet) => devnet.end()))
  folder.remove()
})
afterEach(() => misbehave({ how: 'none' }))

/** Orders the first devnet; the second is always well. */
async function misbehave(order: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${first}/misbehave`, { method: 'POST', headers, body: JSON.stringify(order) })
  if (!answer.ok) throw new Error(await answer.text())
}

const ask = (type: string) => world.info(key, { type, user: USER })

/** A source that was left alone is asked again after a pause, of up to eight seconds by then. */
const PAUSE_MS = 20_000
const recovers = (type: string) =>
  expect.poll(async () => (await ask(type)).status, { timeout: PAUSE_MS, interval: 100 }).toBe(200)

interface Status {
  readonly sources: readonly { readonly name: string; readonly [field: string]: unknown }[]
  readonly routes: Readonly<Record<string, { readonly now: readonly string[]; readonly next: readonly string[] }>>
}
const statusNow = async () => (await (await fetch(`${world.url}/status`)).json()) as Status

describe('each fault of the only source yields its documented error, free of charge, and recovers', () => {
  it.each([
    ['refuse', {}, 502, 'upstream_failed'],
    ['hang', {}, 504, 'upstream_timeout'],
    ['429', { retry_after_s: 1 }, 503, 'unavailable'],
    ['429', {}, 503, 'unavailable'],
    ['500', {}, 502, 'upstream_failed'],
    ['cut', {}, 502, 'upstream_failed'],
    ['garbage', {}, 502, 'upstream_failed'],
  ])('%s %j', async (how, more, status, code) => {
    await recovers(ALONE)
    await misbehave({ how, types: [ALONE], ...more })
    const reply = await ask(ALONE)
    expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([status, '0'])
    expect(await reply.json()).toMatchObject({ code, message: expect.any(String) })
    expect(reply.headers.has('retry-after')).toBe(status === 503)
    await misbehave({ how: 'none' })
    await recovers(ALONE)
  })

  it('a persistent fault opens the breaker for a while', async () => {
    await recovers(ALONE)
    await misbehave({ how: 'refuse', types: [ALONE] })
    await expect.poll(async () => (await ask(ALONE)).status, { timeout: PAUSE_MS, interval: 20 }).toBe(503)
    const status = await statusNow()
    expect(status.sources.find(({ name }) => name === 'alone')).toMatchObject({ lastFailure: { type: ALONE } })
    await misbehave({ how: 'none' })
    await recovers(ALONE)
  })
})

describe('a request for something unknown', () => {
  it('gets the field and does not open the breaker', async () => {
    const stranger = await world.newKey('1000', { plan: 'enterprise' })
    for (let i = 0; i < 15; i++) {
      for (const id of [4_000, 5_000 + i]) {
        const refused = await world.info(stranger, { type: 'marginTable', id })
        const { msg } = (await refused.json()) as { msg: string }
        // 429: free work is bounded.
        expect([refused.status, msg], msg).toEqual(
          refused.status === 429 ? [429, msg] : [422, expect.stringMatching(/^id: /)],
        )
      }
      // Ids of its own, because tables are kept for a minute.
      expect((await world.info(key, { type: 'marginTable', id: 1 + i })).status).toBe(200)
    }
  })
})

describe('a fallback source', () => {
  it.each(['refuse', 'hang', '429', '500', 'cut', 'garbage'])('%s is not seen by the caller', async (how) => {
    await misbehave({ how, types: [BOTH] })
    for (let i = 0; i < 3; i++) {
      const reply = await ask(BOTH)
      expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([200, '1'])
    }
    await misbehave({ how: 'none' })
    // The first is asked again by itself; `/status` repeats itself for a second.
    await expect
      .poll(async () => (await ask(BOTH)).ok && (await statusNow()).routes[BOTH], { timeout: PAUSE_MS, interval: 100 })
      .toEqual({ now: ['first'], next: ['second'] })
  })

  it('replaces a lagging source; a single lagging source reports its age', async () => {
    const age = async (type: string) => Number((await ask(type)).headers.get('age'))
    const routed = async () => (await ask(BOTH)).ok && (await statusNow()).routes[BOTH]?.now
    await misbehave({ how: 'lag', types: ['exchangeStatus'], by_ms: 600_000 })
    await expect.poll(routed, { timeout: PAUSE_MS, interval: 100 }).toEqual(['second'])
    await expect.poll(() => age(ALONE), { timeout: PAUSE_MS, interval: 100 }).toBeGreaterThanOrEqual(600)
    await misbehave({ how: 'none' })
    await expect.poll(routed, { timeout: PAUSE_MS, interval: 100 }).toEqual(['first'])
    await expect.poll(() => age(ALONE), { timeout: PAUSE_MS, interval: 100 }).toBe(0)
  })
})

describe('a budget', () => {
  it('is shared by two Workers under fifty times its load, and rejections are free', async () => {
    const LOAD = 120
    const replies: Promise<Response>[] = []
    for (let i = 0; i < LOAD; i++) {
      for (const url of world.urls) {
        const user = `0x${String(i).padStart(40, '0')}`
        replies.push(new Gateway(url).info(key, { type: METERED, user }))
      }
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    const got = await Promise.all(replies)
    const spanS = (arrivals.at(-1)! - arrivals[0]!) / 1_000
    const weight = arrivals.length * ANSWER_WEIGHT
    // A full bucket of 150, and what flows into it: 15 a second, also in the 13 s that a grant may be on its way.
    expect(weight).toBeLessThanOrEqual(150 + 15 * (spanS + 13))
    expect(weight).toBeGreaterThanOrEqual(60)
    const statuses = new Set(got.map(({ status }) => status))
    // 429: free work is bounded, too.
    for (const status of statuses) expect([200, 429, 503]).toContain(status)
    const byWorker = world.urls.map((_, i) => got.filter((reply, at) => at % 2 === i && reply.ok).length)
    // A Worker far from the budget gets nothing while a near one asks for all of it.
    if (world.rehearsal === null) expect(Math.min(...byWorker)).toBeGreaterThan(0)
    expect(byWorker[0]! + byWorker[1]!).toBe(arrivals.length)
    for (const reply of got) {
      expect(reply.headers.get('x-credits-cost')).toBe(reply.ok ? '1' : '0')
      expect(reply.headers.has('retry-after')).toBe(!reply.ok)
    }
    await recovers(METERED)
    const { sources } = await statusNow()
    expect(sources.find(({ name }) => name === 'metered')).toMatchObject({
      budget: { perMinute: BUDGET, left: expect.any(Number) },
    })
    expect(JSON.stringify(sources)).not.toContain('http')
  })
})
