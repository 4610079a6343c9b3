// Keys and credits at every surface, over real sockets.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Socket } from './socket.ts'
import { startUpstream, startWorld, type World } from './world.ts'

let world: World
let upstream: Awaited<ReturnType<typeof startUpstream>>
let asked = 0
beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    asked++
    response.setHeader('content-type', 'application/json')
    response.end('{"time":1,"specialStatuses":null}')
  })
  world = await startWorld({ upstream: upstream.url })
})
afterAll(async () => {
  await world.stop()
  upstream.close()
})

const CALL = { type: 'exchangeStatus' }
const code = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code]

describe('a call without the right key', () => {
  it('is refused with a reason, before anything is asked of an upstream', async () => {
    const before = asked
    const key = await world.newKey('10')
    expect(await code(await world.info(null, CALL))).toEqual([401, 'unauthorized'])
    expect(await code(await world.info(key.slice(0, -1), CALL))).toEqual([401, 'unauthorized'])
    const other = key.endsWith('2') ? '3' : '2'
    expect(await code(await world.info(`${key.slice(0, -1)}${other}`, CALL))).toEqual([401, 'unauthorized'])
    expect(asked).toBe(before)
  })

  it('is refused on sockets with an HTTP status', async () => {
    const key = await world.newKey('10')
    await expect(Socket.open(`${world.ws}/ws`)).rejects.toMatchObject({ status: 401 })
    await expect(Socket.open(`${world.ws}/ws?key=${key}%20`)).rejects.toMatchObject({ status: 401 })
    await expect(Socket.open(`${world.ws}/ws?key=${await world.newKey('0')}`)).rejects.toMatchObject({ status: 402 })
    const service = await world.newKey('10', { kind: 'service' })
    await expect(Socket.open(`${world.ws}/ws?key=${service}`)).rejects.toMatchObject({ status: 403 })
  })

  it('and a revoked one is refused everywhere', async () => {
    const key = await world.newKey('10')
    expect((await world.info(key, CALL)).status).toBe(200)
    expect((await world.admin('DELETE', `/keys/${key.slice(0, 12)}`)).status).toBe(200)
    await expect.poll(async () => (await world.info(key, CALL)).status, { timeout: 35_000 }).toBe(401)
    await expect(Socket.open(`${world.ws}/ws?key=${key}`)).rejects.toMatchObject({ status: 401 })
  })
})

describe('an operator’s door', () => {
  it('opens to the right token alone', async () => {
    const without = await fetch(`${world.url}/admin/keys`)
    expect(without.status).toBe(401)
    await expect(Socket.open(`${world.ws}/feed`, { authorization: 'Bearer wrong' })).rejects.toMatchObject({
      status: 401,
    })
  })
})

describe('the three ways to carry a key', () => {
  it('reach the same account', async () => {
    const key = await world.newKey('10')
    const first = await world.info(key, CALL)
    expect(first.headers.get('x-credits-remaining')).toBe('9')
    expect(first.headers.get('ratelimit-policy')).toBe('"info";q=1000;w=1')
    expect(first.headers.get('ratelimit')).toMatch(/^"info";r=\d+;t=[01]$/)
    const inPath = await fetch(`${world.url}/k/${key}/info`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(CALL),
    })
    expect([inPath.status, inPath.headers.get('x-credits-remaining')]).toEqual([200, '8'])
    for (const open of [
      Socket.open(`${world.ws}/ws?key=${key}`),
      Socket.open(`${world.ws}/k/${key}/ws`),
      Socket.open(`${world.ws}/ws`, { authorization: `Bearer ${key}` }),
    ]) {
      const socket = await open
      socket.send({ method: 'ping' })
      await socket.channel('pong')
      socket.close()
    }
  })
})

describe('a key’s knowledge of itself', () => {
  it('is its usage, its balance and its limits, over HTTP', async () => {
    const key = await world.newKey('10')
    for (let i = 0; i < 3; i++) expect((await world.info(key, CALL)).status).toBe(200)
    const ask = async (path: string) => {
      const answer = await fetch(`${world.url}/platform/${path}`, { headers: { authorization: `Bearer ${key}` } })
      return { status: answer.status, body: (await answer.json()) as { data: Record<string, unknown> } }
    }
    expect((await ask('key/')).body.data).toMatchObject({ credits_remaining: 7, plan: 'trial' })
    // The isolate reports what was spent within two seconds.
    const consumed = async () =>
      ((await ask('usage/')).body.data?.aggregate as { credits_consumed: number })?.credits_consumed
    await expect.poll(consumed, { timeout: 10_000, interval: 500 }).toBe(3)
    expect((await ask('usage/?duration=7')).status).toBe(400)
  })
})

describe('an account', () => {
  it('buys exactly credits ÷ price answers with 64 requests in flight, then 402', async () => {
    const key = await world.newKey('500')
    const statuses: number[] = []
    const worker = async () => {
      for (let refused = 0; refused < 3; ) {
        const { status } = await world.info(key, CALL)
        statuses.push(status)
        if (status !== 200) refused++
      }
    }
    await Promise.all(Array.from({ length: 64 }, worker))
    expect(statuses.filter((status) => status === 200)).toHaveLength(500)
    expect(new Set(statuses.filter((status) => status !== 200))).toEqual(new Set([402]))
  })

  it('of 100 credits gives exactly 100 answers to 1,000 calls at once', async () => {
    const key = await world.newKey('100')
    const statuses = await Promise.all(Array.from({ length: 1000 }, async () => (await world.info(key, CALL)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 402)).toHaveLength(900)
  })

  it('pays nothing for refused and failed calls', async () => {
    const key = await world.newKey('5')
    for (const body of ['{', '[]', { type: 'nonsense' }, { type: 'l2Book' }, { type: 'l2Book', coin: 'BTC' }]) {
      expect((await world.info(key, body)).status).toBeGreaterThanOrEqual(400)
    }
    expect((await world.info(key, CALL)).headers.get('x-credits-remaining')).toBe('4')
  })
})
