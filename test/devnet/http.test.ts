// The HTTP API on a real socket: every query, the public server's refusals, the snapshot file, /evm.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { type BookHashes, BookHashOracle } from '../../src/devnet/book-hashes.node.ts'
import { createEngine } from '../../src/devnet/engine.ts'
import { Ledger } from '../../src/devnet/evm/ledger.ts'
import { formatAmount } from '../../src/devnet/exchange/fixed-point.ts'
import { MARKETS } from '../../src/devnet/exchange/market.ts'
import { type DisturbRequest, devnetServer } from '../../src/devnet/http.node.ts'
import { INACTIVE_PXS } from '../../src/devnet/info/listing.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { RebuiltBooks } from './rebuild.ts'

const engine = createEngine(31)
const ledger = new Ledger()
const truth = new BookHashOracle()
const disturbed: DisturbRequest[] = []
const disturb = (request: DisturbRequest) => void disturbed.push(request)
let folder: string
let server: HttpServer
let base: string

beforeAll(async () => {
  for (let i = 0; i < 300; i++) engine.step()
  folder = mkdtempSync(join(tmpdir(), 'devnet-http-'))
  mkdirSync(join(folder, 'data'))
  server = await startServer(devnetServer(() => ({ engine, ledger, truth, disturb, data: join(folder, 'data') })))
  base = server.url
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const post = (path: string, body: string, type = 'application/json') =>
  fetch(base + path, { method: 'POST', headers: { 'content-type': type }, body })

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
async function info(body: object): Promise<any> {
  const response = await post('/info', JSON.stringify(body))
  expect(response.status).toBe(200)
  return response.json()
}

const unfit = 'Failed to deserialize the JSON body into the target type'

describe('/info', () => {
  it('describes the markets', async () => {
    const main = await info({ type: 'meta' })
    expect(main.universe.length).toBeGreaterThanOrEqual(10)
    expect(main.universe[0]).toEqual({ szDecimals: 5, name: 'BTC', maxLeverage: 40, marginTableId: 56 })
    const dexes = await info({ type: 'perpDexs' })
    expect(dexes.map((dex: { name: string } | null) => dex?.name ?? null)).toEqual([null, 'xyz', 'flx'])
    const names = async (body: object) => (await info(body)).universe.map(({ name }: { name: string }) => name)
    expect(await names({ type: 'meta', dex: 'xyz' })).toEqual(['xyz:GOLD', 'xyz:TSLA'])
    expect(await names({ type: 'spotMeta' })).toEqual(['PURR/USDC', '@1'])
    const mids = await info({ type: 'allMids' })
    expect(Object.keys(mids)).toEqual([...MARKETS.filter((m) => m.dex === 0).map((m) => m.coin), 'LOOM', '#90', '#91'])
    expect(Number((await info({ type: 'exchangeStatus' })).time)).toBe(engine.exchange.block.timeMs)
  })

  it('returns books, whole and rounded', async () => {
    const { levels, coin } = await info({ type: 'l2Book', coin: 'BTC' })
    expect([coin, levels[0].length, levels[1].length]).toEqual(['BTC', 20, 20])
    expect(levels).toEqual(engine.exchange.books[0]!.levels(20))
    const rounded = await info({ type: 'l2Book', coin: 'BTC', nSigFigs: 3 })
    for (const { px } of rounded.levels.flat()) expect(Number(px) % 100).toBe(0)
    expect(Number(rounded.levels[0][0].px)).toBeLessThan(Number(rounded.levels[1][0].px))
    expect(await info({ type: 'l2Book', coin: 'NOPE' })).toBeNull()
  })

  it('returns known and unknown wallets, whose addresses may be in any letter case', async () => {
    const { address, margin } = engine.exchange.accounts[0]!
    const state = await info({ type: 'clearinghouseState', user: address.toUpperCase().replace('0X', '0x') })
    expect(state.marginSummary.totalRawUsd).toBe(formatAmount(margin[0]!.rawUsd))
    const nobody = `0x${'9'.repeat(40)}`
    expect(await info({ type: 'openOrders', user: nobody, dex: 'flx' })).toEqual([])
    expect((await info({ type: 'clearinghouseState', user: nobody })).marginSummary.accountValue).toBe('0.0')
  })

  it('rejects bad requests like the public server, and keeps running', async () => {
    const refused = async (body: string, type?: string) => {
      const response = await post('/info', body, type)
      return [response.status, await response.text()]
    }
    const nobody = '{"type":"openOrders"}'
    for (const body of ['{}', '{"type":"nope"}', '[]', 'null', nobody, nobody.replace('}', ',"user":"0x12"}')])
      expect(await refused(body)).toEqual([422, unfit])
    expect(await refused('{"type":')).toEqual([400, 'Failed to parse the request body as JSON'])
    expect(await refused('{}', 'text/plain')).toEqual([415, 'Expected request with `Content-Type: application/json`'])
    expect(await refused('{"type":"meta","dex":"nope"}')).toEqual([500, 'null'])
    expect((await refused(`{"type":"meta","dex":"${'x'.repeat(3_000_000)}"}`))[0]).toBe(413)
    expect((await refused(`${'['.repeat(60_000)}`))[0]).toBe(400)
    expect((await fetch(`${base}/info`)).status).toBe(405)
    expect((await fetch(`${base}/else`)).status).toBe(404)
    expect((await info({ type: 'meta' })).collateralToken).toBe(0)
  })
})

describe('fileSnapshot', () => {
  const ask = (outPath: string) => {
    const request = { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false }
    return post('/info', JSON.stringify({ type: 'fileSnapshot', request, outPath, includeHeightInOutput: true }))
  }

  it('writes every resting order, best first, then oldest first', async () => {
    const path = join(folder, 'out.json')
    expect((await ask(path)).status).toBe(200)
    const [height, books] = JSON.parse(readFileSync(path, 'utf8'))
    expect(height).toBe(engine.height)
    expect(books.map(([coin]: [string]) => coin)).toEqual([...MARKETS.map((m) => m.coin), ...INACTIVE_PXS.keys()])
    for (const [coin, sides] of books) {
      sides.forEach((orders: [string, { oid: number; limitPx: string; coin: string }][], side: number) => {
        for (let i = 1; i < orders.length; i++) {
          const a = orders[i - 1]![1]
          const b = orders[i]![1]
          const order = (Number(b.limitPx) - Number(a.limitPx)) * (side === 0 ? -1 : 1)
          expect(b.coin).toBe(coin)
          expect(order > 0 || (order === 0 && b.oid > a.oid)).toBe(true)
        }
      })
    }
    expect(books[0][1][0][0][0]).toMatch(/^0x[0-9a-f]{40}$/)
  })

  it('rejects other paths', async () => {
    const elsewhere = ['..', 'none'].map((name) => join(folder, name, 'out.json'))
    for (const path of ['/etc/out.json', 'out.json', join(folder, 'out'), ...elsewhere])
      expect((await ask(path)).status).toBe(422)
  })
})

test('/evm handles single calls and batches, and rejects the rest', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
  const call = async (body: unknown): Promise<any> => (await post('/evm', JSON.stringify(body))).json()
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber' }
  expect(await call(request)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x15' })
  const [chain] = await call([{ ...request, method: 'eth_chainId' }, request])
  expect(chain.result).toBe('0x3e7')
  for (const body of [{ hello: 1 }, []]) expect((await call(body)).error.code).toBe(-32600)
})

describe('/books', () => {
  const hashes = async (query: string) => {
    const response = await fetch(`${base}/books${query}`)
    return response.ok ? ((await response.json()) as BookHashes) : response.status
  }

  it('has the hash of every book at a height, even a future one', async () => {
    const rebuilt = new RebuiltBooks()
    const other = createEngine(31)
    while (other.height < engine.height) rebuilt.apply(other.step().rawDiffs)
    const wanted = (height: number) => ({
      height,
      time: engine.exchange.block.timeMs,
      books: Object.fromEntries(MARKETS.map(({ coin }) => [coin, rebuilt.hash(coin)])),
    })
    expect(await hashes('')).toEqual(wanted(engine.height))
    const next = engine.height + 1
    const coming = hashes(`?height=${next}`)
    await vi.waitFor(() => expect(truth.waiting).toBe(1), 60_000)
    rebuilt.apply(engine.step().rawDiffs)
    const expected = wanted(next)
    truth.onBlock(engine.exchange)
    engine.step()
    expect(await coming).toEqual(expected)
  })

  it('rejects past, distant and invalid heights', async () => {
    for (const height of ['1', String(engine.height + 1_001), 'x', '-1'])
      expect(await hashes(`?height=${height}`)).toBe(422)
  })
})

describe('/disturb', () => {
  it('accepts known requests within limits, and rejects the rest by field', async () => {
    const ask = async (body: object) => {
      const response = await post('/disturb', JSON.stringify(body))
      return response.ok ? 200 : [response.status, await response.text()]
    }
    expect(await ask({ what: 'restart', rewrite: 7 })).toBe(200)
    expect(await ask({ what: 'cut', stream: 'misc_events_by_block', for_ms: 5 })).toBe(200)
    expect(disturbed).toEqual([
      { what: 'restart', for_ms: 2_000, rewrite: 7 },
      { what: 'cut', stream: 'misc_events_by_block', for_ms: 5 },
    ])
    expect(await ask({ what: 'restart', rewrite: 21 })).toEqual([422, expect.stringContaining('rewrite')])
    expect(await ask({ what: 'cut', stream: 'node_fills_by_block' })).toEqual([422, expect.stringContaining('stream')])
    expect(await ask({ what: 'pause', typo: 1 })).toEqual([422, expect.stringContaining('typo')])
  })
})
