// Faults: which query one happens to, when it is over, and what a client sees of it on a real socket.

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { devnetServer } from '../../src/devnet/http.node.ts'
import { Faults, MisbehaveRequest } from '../../src/devnet/misbehave.node.ts'
import { Truth } from '../../src/devnet/truth.node.ts'

const order = (request: object) => MisbehaveRequest.parse(request)

describe('faults', () => {
  it('happen to their types, so often and so long', () => {
    const faults = new Faults()
    faults.add(order({ how: '500', types: ['meta'], for_ms: 100, times: 2 }), 0)
    expect(faults.happen('allMids', 1)).toBeNull()
    expect(faults.happen('meta', 1)?.how).toBe('500')
    expect(faults.active(1)).toEqual([{ how: '500', types: ['meta'], left_ms: 99, left_times: 1 }])
    expect(faults.happen('meta', 99)?.how).toBe('500')
    expect(faults.happen('meta', 99)).toBeNull()
    faults.add(order({ how: '429', for_ms: 100 }), 100)
    expect(faults.happen('anything', 199)?.how).toBe('429')
    expect(faults.happen('anything', 200)).toBeNull()
  })

  it('of two, the newest happens; none ends all', () => {
    const faults = new Faults()
    faults.add(order({ how: '500' }), 0)
    faults.add(order({ how: 'cut', types: ['meta'] }), 0)
    expect([faults.happen('meta', 1)?.how, faults.happen('allMids', 1)?.how]).toEqual(['cut', '500'])
    faults.add(order({ how: 'none' }), 1)
    expect(faults.active(1)).toEqual([])
  })

  it('are bounded', () => {
    const faults = new Faults()
    const added = Array.from({ length: 20 }, () => faults.add(order({ how: '500' }), 0))
    expect(added.filter((ok) => ok)).toHaveLength(16)
    expect(MisbehaveRequest.safeParse({ how: '500', for_ms: 600_001 }).success).toBe(false)
    expect(MisbehaveRequest.safeParse({ how: '500', typo: 1 }).success).toBe(false)
  })
})

describe('on the wire', () => {
  let server: Server
  let base: string
  beforeAll(async () => {
    const engine = createEngine(1)
    for (let i = 0; i < 5; i++) engine.step()
    server = devnetServer(() => ({
      engine,
      truth: new Truth(),
      disturb: () => {},
      data: tmpdir(),
    }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => post('/misbehave', { how: 'none' }))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const post = (path: string, body: object, signal?: AbortSignal) =>
    fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  const meta = async () => (await post('/info', { type: 'meta' })).text()

  it('refuses, cuts and hangs', async () => {
    await post('/misbehave', { how: 'refuse', times: 1 })
    await expect(meta()).rejects.toThrow()
    await post('/misbehave', { how: 'cut', times: 1 })
    await expect(meta()).rejects.toThrow()
    await post('/misbehave', { how: 'hang', for_ms: 2_000 })
    await expect(meta()).rejects.toThrow()
    expect(JSON.parse(await meta()).collateralToken).toBe(0)
  })

  it('hangs for as long as it was told, and lets go of a client that leaves', async () => {
    await post('/misbehave', { how: 'hang', for_ms: 600_000 })
    const leaving = AbortSignal.timeout(30)
    await expect(post('/info', { type: 'meta' }, leaving)).rejects.toThrow()
    await post('/misbehave', { how: 'none' })
    expect((await post('/info', { type: 'meta' })).status).toBe(200)
  })

  it('answers 429, 500 and garbage', async () => {
    await post('/misbehave', { how: '429', times: 1, retry_after_s: 7 })
    const limited = await post('/info', { type: 'meta' })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
    await post('/misbehave', { how: '500', times: 1 })
    expect((await post('/info', { type: 'meta' })).status).toBe(500)
    await post('/misbehave', { how: 'garbage', times: 1, types: ['meta'] })
    const other = await post('/info', { type: 'allMids' })
    await expect(other.json()).resolves.toHaveProperty('BTC')
    const garbage = await post('/info', { type: 'meta' })
    expect(garbage.status).toBe(200)
    await expect(garbage.json()).rejects.toThrow()
  })

  it('is late by so much', async () => {
    const time = async () => ((await (await post('/info', { type: 'exchangeStatus' })).json()) as { time: number }).time
    const sound = await time()
    await post('/misbehave', { how: 'lag', by_ms: 5_000, types: ['exchangeStatus'] })
    expect(await time()).toBe(sound - 5_000)
  })

  it('says what is active, and what is wrong with an order', async () => {
    const added = await post('/misbehave', { how: '500', types: ['meta'], times: 3 })
    expect(await added.json()).toMatchObject({ active: [{ how: '500', types: ['meta'], left_times: 3 }] })
    const wrong = await post('/misbehave', { how: 'explode' })
    expect([wrong.status, (await wrong.text()).slice(0, 4)]).toEqual([422, 'how:'])
    expect((await fetch(`${base}/misbehave`)).status).toBe(405)
  })
})
