// The MCP server over real sockets with the SDK's own client: a scripted agent answers a trader's questions with tools
// alone, and each answer equals that of POST /info. Then bad input of every kind.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import Big from 'big.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Exchange, SLOW_BLOCKS, startExchange, startWorld } from '../kit/gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: each tool and type has a shape of its own
type Json = any

interface Content {
  readonly result: Json
  readonly credits_cost: string
  readonly price?: string
  readonly next_cursor?: string
  readonly error?: { readonly code: string; readonly status: number; readonly message: string }
}

const WAIT = { timeout: 30_000, interval: 200 }
let exchange: Exchange
let user: string
/** Clients of both protocol eras; the first negotiates the newest version. */
let agent: Client
let legacy: Client
const clients: Client[] = []

async function connect(key: string | null, mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = key === null ? {} : { authorization: `Bearer ${key}` }
  const url = new URL(`${exchange.gateway.url}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  clients.push(client)
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
  const [{ text } = { text: '' }] = content as { text: string }[]
  return { content: structuredContent as unknown as Content, text, isError: isError ?? false }
}

/** The result of a tool that must succeed. */
async function ask(name: string, args: Record<string, unknown> = {}, client = agent): Promise<Content> {
  const { content, text, isError } = await call(client, name, args)
  expect(isError, text).toBe(false)
  expect(JSON.parse(text)).toEqual(content)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000)
  return content
}

async function info(type: string, request: object = {}): Promise<Json> {
  const reply = await exchange.gateway.info(exchange.key, { type, ...request })
  expect(reply.status).toBe(200)
  return reply.json()
}

/** Every row without its ISO times, which `/info` does not have. */
const wireRows = (rows: Json[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !name.endsWith('_iso'))))

beforeAll(async () => {
  exchange = await startExchange({ args: () => SLOW_BLOCKS, gateway: (node) => startWorld({ node }) })
  agent = await connect(exchange.key)
  legacy = await connect(exchange.key, 'legacy')
  // The wallet of a round trip.
  user = await vi.waitFor(async () => {
    for (const { users } of await info('recentTrades', { coin: 'BTC', rows: 30 }))
      for (const each of users) {
        const reply = await exchange.gateway.info(exchange.key, { type: 'userCompletedTrades', user: each })
        if (reply.ok && ((await reply.json()) as unknown[]).length > 0) return each
      }
    throw new Error('no wallet closed a position')
  }, WAIT)
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await exchange?.stop()
})

/** The tool's answer and that of `/info`, which both read data that changes every quarter second. */
const agree = (mine: () => Promise<unknown>, theirs: () => Promise<unknown>) =>
  vi.waitFor(async () => expect(await mine()).toEqual(await theirs()), WAIT)

describe('questions of a trader', () => {
  it('which market is gold?', async () => {
    const { result } = await ask('find_market', { query: 'gold' })
    const annotations = new Map<string, Json>(await info('perpConciseAnnotations'))
    const [{ coin, name, keywords }] = result.markets
    expect({ coin, name, keywords }).toEqual({
      coin: 'xyz:GOLD',
      name: annotations.get('xyz:GOLD').displayName,
      keywords: annotations.get('xyz:GOLD').keywords,
    })
  })

  it('what are its price and funding?', () =>
    agree(
      async () => {
        const { mark_px, oracle_px, funding_per_hour } = (await ask('market_overview', { coin: 'xyz:GOLD' })).result
        return { mark_px, oracle_px, funding_per_hour }
      },
      async () => {
        const [meta, data] = await info('metaAndAssetCtxs', { dex: 'xyz' })
        const own = data[meta.universe.findIndex(({ name }: Json) => name === 'xyz:GOLD')]
        return { mark_px: own.markPx, oracle_px: own.oraclePx, funding_per_hour: own.funding }
      },
    ))

  it('what are the best bids and asks of BTC?', () =>
    agree(
      async () => {
        const { time, bids, asks } = (await ask('order_book', { coin: 'BTC', depth: 20 }, legacy)).result
        return { time, levels: [bids, asks] }
      },
      async () => {
        const { time, levels } = await info('l2Book', { coin: 'BTC' })
        return { time, levels }
      },
    ))

  it('what would buying half a BTC cost?', () =>
    agree(
      async () => wireRows([(await ask('slippage', { coin: 'BTC', side: 'buy', size: '0.5' })).result])[0],
      () => info('x_slippage', { coin: 'BTC', side: 'B', sz: '0.5' }),
    ))

  it('how did BTC trade in the last minutes?', async () => {
    const endTime = Date.now()
    const window = { startTime: endTime - 600_000, endTime }
    const { result } = await ask('candles', { coin: 'BTC', interval: '1m', ...window })
    const rows = await info('candleSnapshot', { req: { coin: 'BTC', interval: '1m', ...window } })
    // The newest candle grows.
    expect(result.candles.slice(0, -1).map(({ time, close }: Json) => [time, close])).toEqual(
      rows.slice(0, -1).map(({ t, c }: Json) => [t, c]),
    )
    expect(result.candles.length).toBe(rows.length)
  })

  it('what are the last trades?', () =>
    agree(
      async () => wireRows((await ask('trades', { coin: 'BTC', rows: 5 })).result.trades),
      async () =>
        (await info('recentTrades', { coin: 'BTC', rows: 5 })).map(({ coin: _, hash: __, ...row }: Json) => row),
    ))

  it('what was the funding?', () => {
    // Without an end, the tool would ask until now, and `/info` would keep an older answer for ten seconds.
    const window = { startTime: 0, endTime: Date.now() + 600_000 }
    return agree(
      async () => wireRows((await ask('funding', { coin: 'ETH', ...window })).result.rates),
      async () => (await info('fundingHistory', { coin: 'ETH', ...window })).map(({ coin: _, ...row }: Json) => row),
    )
  })

  it('what does this wallet hold on all DEXes?', () =>
    agree(
      async () => {
        const { accounts, holdings } = (await ask('account_overview', { user })).result
        const perps = holdings.filter(({ kind }: Json) => kind === 'perp')
        return [
          accounts.find(({ dex }: Json) => dex === 'native').account_value,
          perps.map(({ coin, szi }: Json) => [coin, szi]),
        ]
      },
      async () => {
        const { clearinghouseState: states } = await info('portfolioState', { user, dex: '*' })
        const perps = Object.values<Json>(states).flatMap(({ assetPositions }) => assetPositions)
        return [states.native.marginSummary.accountValue, perps.map(({ position }) => [position.coin, position.szi])]
      },
    ))

  it('what did it trade until now? all pages together are its fills, each once', async () => {
    const window = { startTime: 0, endTime: Date.now() - 2_000 }
    const fills: Json[] = []
    let cost = new Big(0)
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page = await ask('fills', { user, ...window, oldestFirst: true, ...(cursor && { cursor }) })
      fills.push(...wireRows(page.result.fills))
      cost = cost.plus(page.credits_cost)
      cursor = page.next_cursor
      expect(pages).toBeLessThan(50)
    }
    expect(fills).toEqual(await info('userFillsByTime', { user, ...window }))
    expect(cost.gte(1)).toBe(true)
  })

  it('what did it earn?', async () => {
    const window = { endTime: Date.now() - 2_000 }
    const { result } = await ask('pnl_summary', { user, ...window })
    expect(result).toEqual(await info('userPnlSummary', { user, ...window }))
    const trades = await ask('completed_trades', { user, startTime: 0, ...window })
    const rows = await info('userCompletedTradesByTime', { user, startTime: 0, ...window })
    expect(trades.result.trades.map(({ net_pnl, close_time }: Json) => [close_time, net_pnl])).toEqual(
      rows.slice(0, trades.result.trades.length).map(({ net_pnl, close_time }: Json) => [close_time, net_pnl]),
    )
  })

  it('what did all this cost?', async () => {
    const before = (await ask('key_usage')).result
    const { credits_cost: cost } = await ask('market_overview', { coin: 'ETH' })
    await vi.waitFor(async () => {
      const { balance } = (await ask('key_usage')).result
      expect(new Big(before.balance).minus(balance).toFixed()).toBe(cost)
    }, WAIT)
    expect(cost).toBe('2')
  })
})

describe('the rest of the server', () => {
  it('lists tools, resources and prompts without a key, the same in both eras', async () => {
    const stranger = await connect(null)
    const { tools } = await stranger.listTools()
    expect(tools).toEqual((await legacy.listTools()).tools)
    // A client puts all of it into the context of its model.
    expect(JSON.stringify(tools).length).toBeLessThan(36_000)
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description).toMatch(/Price: /)
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
    }
    for (const { uri } of (await stranger.listResources()).resources) {
      const { contents } = await stranger.readResource({ uri })
      expect(contents[0]).toMatchObject({ uri, text: expect.stringMatching(/^# /) })
    }
    const { contents } = await stranger.readResource({ uri: 'weir://info/l2Book' })
    expect(contents[0]).toMatchObject({ text: expect.stringContaining('nSigFigs') })
    await expect(stranger.readResource({ uri: 'weir://info/..%2f..%2fadmin' })).rejects.toThrow()
    for (const { name } of (await stranger.listPrompts()).prompts) {
      const fields = { market: 'gold', user, day: '2026-11-28' }
      const { messages } = await stranger.getPrompt({ name, arguments: fields })
      expect(messages).toHaveLength(1)
    }
  })

  it('reads the archive and prices an export of a time without blocks', async () => {
    const client = await connect(await exchange.gateway.newKey('100'))
    const dry = { product: 'fills_by_time', startTime: new Date(0).toISOString(), endTime: 1, dryRun: true }
    expect(await ask('export_sql', dry, client)).toEqual({ price: '0', credits_cost: '0' })
    expect((await ask('archive_coverage', {}, client)).result).toMatchObject({ days: expect.any(Array), holes: 0 })
  })
})

describe('bad input', () => {
  it('unknown tools and wrong arguments are named', async () => {
    await expect(agent.callTool({ name: 'place_order', arguments: {} })).rejects.toThrow('place_order')
    const wrong = await call(agent, 'slippage', { coin: 'BTC', side: 'long', size: 1, leverage: 5 })
    expect(wrong.isError).toBe(true)
    expect(wrong.text).toMatch(/side.*size.*leverage/)
    expect((await call(agent, 'order_book', { coin: 'NOPE' })).content.error?.message).toMatch(/^coin: /)
    expect((await call(agent, 'info', { type: 'l2Bok' })).content.error?.message).toMatch(/did you mean "l2Book"/)
  })

  it('arguments over 1 MiB are rejected before any work', async () => {
    const large = agent.callTool({ name: 'find_market', arguments: { query: 'x'.repeat(1_100_000) } })
    await expect(large).rejects.toThrow(/1,048,576 bytes/)
  })

  it.for([
    ['no key', null],
    ['a malformed key', 'cqt_nope'],
  ] as const)('%s is answered 401 with the metadata', async ([, key]) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'trades', arguments: { coin: 'BTC' } } }
    const accept = { accept: 'application/json, text/event-stream' }
    const reply = await exchange.gateway.call('POST', '/mcp', key, body, accept)
    expect(reply.status).toBe(401)
    expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="http.*\/mcp"$/)
    expect(await reply.json()).toMatchObject({ id: 1, error: { code: -32001 } })
  })

  it('no credits, and a key without the product, say what to do', async () => {
    const { gateway } = exchange
    const poor = await connect(await gateway.newKey('0.5'))
    expect((await call(poor, 'trades', { coin: 'BTC' })).content).toMatchObject({
      error: { code: 'credits_exhausted', status: 402, what_to_do: expect.stringContaining('/console') },
      credits_cost: '0',
    })
    expect((await ask('key_usage', {}, poor)).result.balance).toBe('0.5')
    const other = await connect(await gateway.newKey('10', { products: ['platform'] }))
    expect((await call(other, 'trades', { coin: 'BTC' })).content.error).toMatchObject({ status: 403 })
  })

  it('a hundred calls at once are each answered or rate limited, and charged once', async () => {
    const client = await connect(await exchange.gateway.newKey('1000'))
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call(client, 'trades', { coin: 'BTC', rows: 1 })),
    )
    const answered = answers.filter(({ isError }) => !isError)
    for (const { content } of answers.filter(({ isError }) => isError)) expect(content.error?.code).toBe('rate_limited')
    expect(answered.length).toBeGreaterThan(0)
    await vi.waitFor(async () => {
      const { balance } = (await ask('key_usage', {}, client)).result
      expect(balance).toBe(String(1_000 - answered.length))
    }, WAIT)
  })
})
