// Faults: which query a fault applies to, when it ends, and what a client on a real socket receives.

import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BookHashOracle } from '../../src/devnet/book-hashes.node.ts'
import { createEngine } from '../../src/devnet/engine.ts'
import { Ledger } from '../../src/devnet/evm/ledger.ts'
import { devnetServer } from '../../src/devnet/http.node.ts'
import { Faults, MisbehaveRequest } from '../../src/devnet/misbehave.node.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'

const order = (request: object) => MisbehaveRequest.parse(request)

describe('faults', () => {
  it('apply to their types, for a limited time and number', () => {
    const faults = new Faults()
    faults.add(order({ how: '500', types: ['meta'], for_ms: 100, times: 2 }), 0)
    expect(faults.next('allMids', 1)).toBeNull()
    expect(faults.next('meta', 1)?.how).toBe('500')
    expect(faults.active(1)).toEqual([{ how: '500', types: ['meta'], left_ms: 99, left_times: 1 }])
    expect(faults.next('meta', 99)?.how).toBe('500')
    expect(faults.next('meta', 99)).toBeNull()
    faults.add(order({ how: '429', for_ms: 100 }), 100)
    expect(faults.next('anything', 199)?.how).toBe('429')
    expect(faults.next('anything', 200)).toBeNull()
  })

  it('the newest of two faults applies; `none` ends all faults', () => {
    const faults = new Faults()
    faults.add(order({ how: '500' }), 0)
    faults.add(order({ how: 'cut', types: ['meta'] }), 0)
    expect([faults.next('meta', 1)?.how, faults.next('allMids', 1)?.how]).toEqual(['cut', '500'])
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
  let server: HttpServer
  beforeAll(async () => {
    const engine = createEngine(1)
    engine.step()
    const state = { engine, ledger: new Ledger(), truth: new BookHashOracle(), disturb: () => {}, data: tmpdir() }
    server = await startServer(devnetServer(() => state))
  })
  afterEach(() => misbehave({ how: 'none' }))
  afterAll(() => server.close())

  const post = (path: string, body: object, signal: AbortSignal | null = null) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  const misbehave = (order: object) => post('/misbehave', order)
  const ask = (type = 'meta', signal: AbortSignal | null = null) => post('/info', { type }, signal)
  const answer = async (type = 'meta') =>
    (await ask(type)).json() as Promise<{ collateralToken?: number; time?: number }>

  it.each([
    { how: 'refuse', times: 1 },
    { how: 'cut', times: 1 },
    { how: 'garbage', times: 1, types: ['meta'] },
    { how: 'hang', for_ms: 1_000 },
  ])('%j is not a valid response, and ends', async (order) => {
    await misbehave(order)
    if (order.types) await expect(answer('exchangeStatus')).resolves.toHaveProperty('time')
    await expect(answer()).rejects.toThrow()
    expect((await answer()).collateralToken).toBe(0)
  })

  it('a client that disconnects frees only its own slot', async () => {
    await misbehave({ how: 'hang', for_ms: 600_000 })
    await expect(ask('meta', AbortSignal.timeout(30))).rejects.toThrow()
    await misbehave({ how: 'none' })
    expect((await ask()).status).toBe(200)
  })

  it('returns 429 and 500, and a time that is too early', async () => {
    await misbehave({ how: '429', times: 1, retry_after_s: 7 })
    const limited = await ask()
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
    await misbehave({ how: '500', times: 1 })
    expect((await ask()).status).toBe(500)
    const { time } = await answer('exchangeStatus')
    await misbehave({ how: 'lag', by_ms: 5_000, types: ['exchangeStatus'] })
    expect((await answer('exchangeStatus')).time).toBe(time! - 5_000)
  })

  it('lists active faults, and explains invalid requests', async () => {
    const added = await misbehave({ how: '500', types: ['meta'], times: 3 })
    expect(await added.json()).toMatchObject({ active: [{ how: '500', types: ['meta'], left_times: 3 }] })
    const wrong = await misbehave({ how: 'explode' })
    expect([wrong.status, (await wrong.text()).slice(0, 4)]).toEqual([422, 'how:'])
  })
})
