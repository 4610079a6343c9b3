// Every tool with answers in the published form: prices, requests, results and failures.

import { describe, expect, it } from 'vitest'
import { type Caller, callTool } from '../../../src/http/mcp/call-tool.ts'
import { describedTool, type ToolRequest } from '../../../src/http/mcp/tool.ts'
import { outputOf, type SurfaceReply } from '../../../src/http/mcp/tool-result.ts'
import { TOOLS } from '../../../src/http/mcp/tools.ts'
import { queryOf } from '../../../src/info/queries/catalogue.ts'
import { USER } from '../../../src/protocol/info/examples.ts'

const NOW_MS = 1_796_000_000_001
const CHAIN = 'hyperliquid'

function reply(body: unknown, headers: Record<string, string> = {}, status = 200): SurfaceReply {
  return { status, headers: new Headers({ 'x-credits-cost': '1', ...headers }), text: JSON.stringify(body) }
}

const LINK = '/v1/hyperliquid/history/files/a?expires=1&sig=x'
const FILE = { key: 'a', bytes: 1, from_ms: 1, to_ms: 2, link: LINK }
const REST: Readonly<Record<string, unknown>> = {
  'history/coverage': {
    from: { height: 1, time_ms: NOW_MS },
    to: null,
    files: { from: null, to: null, holes: Array.from({ length: 12 }, (_, from_height) => ({ from_height })) },
    days: [{ day: '2026-11-30' }],
  },
  'history/cost': { credits: '36.06' },
  'history/files': {
    files: [
      { ...FILE, from_height: 1, to_height: 9 },
      { ...FILE, from_height: 2, to_height: 3 },
      { ...FILE, from_height: 10, to_height: 12, link: `${LINK}'` },
    ],
    next: null,
    expires_ms: NOW_MS,
    credits: '3',
  },
  'key/': { balance: '5', plan: 'demo', limits: {}, prefix: 'cqt_12345678', label: 'mine' },
  'key/usage/': { totals: { credits: '1' }, label: 'mine', prefix: 'cqt_12345678' },
}

/** The published example of a type, or of a REST call. */
function example(request: ToolRequest): SurfaceReply {
  if ('info' in request) return reply(queryOf(request.info.type)!.example.response)
  const name = Object.keys(REST).findLast((path) => request.path.split('?')[0]!.endsWith(path))!
  return reply({ data: REST[name], error: false, error_message: null, error_code: null }, { 'x-credits-cost': '0' })
}

interface Content {
  // biome-ignore lint/suspicious/noExplicitAny: each tool has a result of its own
  readonly result: Record<string, any>
  readonly error?: unknown
}

/** Calls a tool as a client does, and checks its result against its published schema. */
async function call(name: string, args: object = {}, send: (request: ToolRequest) => SurfaceReply = example) {
  const tool = TOOLS.find((each) => each.name === name)!
  const requests: ToolRequest[] = []
  const caller: Caller = {
    chain: CHAIN,
    origin: 'https://weir.example',
    nowMs: NOW_MS,
    send: async (request) => {
      requests.push(request)
      return send(request)
    },
  }
  const {
    structuredContent: content,
    isError,
    content: texts,
  } = {
    isError: false,
    ...(await callTool(tool, tool.input.parse(args), caller)),
  }
  expect(texts).toEqual([{ type: 'text', text: JSON.stringify(content) }])
  expect(outputOf(tool).safeParse(content)).toMatchObject({ success: true })
  return { content: content as unknown as Content, isError, requests }
}

const HEIGHT = { height: 42 }
/** Arguments of every tool, with the price that its description names. */
const CALLS: readonly (readonly [tool: string, args: object, price: string])[] = [
  ['find_market', { query: 'gold' }, '3'],
  ['market_overview', { coin: 'BTC' }, '2'],
  ['order_book', { coin: 'BTC' }, '1'],
  ['order_book', { coin: 'BTC', depth: 50 }, '1'],
  ['order_book', { coin: 'BTC', ...HEIGHT }, '10'],
  ['order_book', { coin: 'BTC', time: '2026-11-30T12:00Z' }, '10'],
  ['slippage', { coin: 'BTC', side: 'buy', size: '0.3' }, '1'],
  ['slippage', { coin: 'BTC', side: 'sell', size: '0.3', ...HEIGHT }, '10'],
  ['candles', { coin: 'BTC', interval: '1h' }, '1'],
  ['candles', { coin: 'BTC', interval: '1M' }, '1'],
  ['trades', { coin: 'BTC' }, '1'],
  ['funding', { coin: 'BTC', startTime: '2026-11-29' }, '1'],
  ['account_overview', { user: USER }, '10'],
  ['fills', { user: USER }, '1'],
  ['completed_trades', { user: USER }, '10'],
  ['completed_trades', { user: USER, startTime: 5 }, '10'],
  ['pnl_summary', { user: USER }, '10'],
  ['positions', { coin: 'BTC' }, '10'],
  ['liquidatable_accounts', {}, '1'],
  ['archive_coverage', {}, '1'],
  ['export_sql', { product: 'fills_by_time', startTime: '2026-11-30' }, '36.06'],
  ['key_usage', {}, '0'],
  ['info', { type: 'l2Book', request: { coin: 'BTC' } }, '1'],
  ['info', { type: 'clearinghouseState', request: { user: USER, dex: '*' } }, '10'],
]
const STATED: Readonly<Record<string, RegExp>> = { key_usage: /free/, export_sql: /dryRun/, info: /1 to 10 credits/ }

/** The account on all DEXes, which has no published example. */
const PORTFOLIO = { ...(queryOf('portfolioState')!.example.response as object) } as Record<string, object>
const ALL_DEXES = { ...PORTFOLIO, clearinghouseState: { native: PORTFOLIO.clearinghouseState, xyz: { error: 'busy' } } }
const answerOf = (request: ToolRequest) =>
  'info' in request && request.info.type === 'portfolioState' ? reply(ALL_DEXES) : example(request)

describe('every tool', () => {
  it('is called below', () => {
    expect([...new Set(CALLS.map(([name]) => name))]).toEqual(TOOLS.map(({ name }) => name))
  })

  it.for(CALLS)('%s %j is priced as described, without a paid request', async ([name, args, price]) => {
    const { content, requests } = await call(name, { ...args, dryRun: true })
    expect(content).toEqual({ price, credits_cost: '0' })
    expect(requests.every((request) => 'path' in request && request.price === 0)).toBe(true)
    const stated = STATED[name] ?? new RegExp(`\\b${price} credits?\\b`)
    expect(describedTool(TOOLS.find((tool) => tool.name === name)!)).toMatch(stated)
  })

  it.for(CALLS)('%s %j sends at most four valid requests, and has a result', async ([name, args]) => {
    const { content, isError, requests } = await call(name, args, answerOf)
    expect(isError, JSON.stringify(content)).toBe(false)
    expect(content.result).toBeDefined()
    expect(requests.length).toBeLessThanOrEqual(4)
    for (const request of requests)
      if ('info' in request)
        expect(queryOf(request.info.type)!.request.safeParse(request.info)).toMatchObject({ success: true })
  })
})

describe('results', () => {
  it('sum the costs, and have the oldest block and age', async () => {
    const replies = [
      { 'x-credits-cost': '1', 'x-block-height': '7' },
      { 'x-credits-cost': '0.25', 'x-block-height': '6', age: '3' },
    ]
    const { content } = await call('market_overview', { coin: 'BTC' }, (request) => {
      const { text } = example(request)
      return { status: 200, headers: new Headers(replies.shift()), text }
    })
    expect(content).toMatchObject({ credits_cost: '1.25', block_height: 6, age_seconds: 3 })
  })

  it('are computed exactly', async () => {
    const { content } = await call('market_overview', { coin: 'BTC' })
    // 81307 after 80000.
    expect(content.result).toMatchObject({ mark_px: '81307.0', day_change_percent: '1.6338' })
    const book = await call('order_book', { coin: 'BTC', depth: 1 })
    const [bid, ask] = [book.content.result.bids, book.content.result.asks].map((levels) => levels[0].px)
    expect(book.content.result).toMatchObject({ spread: String(ask - bid), bids: [{ px: bid }] })
  })

  it('of order_book with a time are of the past book', async () => {
    const past = (time: unknown) => call('order_book', { coin: 'BTC', time })
    const { content, requests } = await past('2026-11-30T13:00:00.500+01:00')
    const info = { type: 'l2BookDiffSnapshot', coin: 'BTC', block_height: undefined, time: 1_796_040_000_500 }
    expect([requests, content.result]).toEqual([[{ info }], expect.objectContaining({ height: 42 })])
    expect((await past(info.time)).requests).toEqual(requests)
    await expect(past('yesterday')).rejects.toThrow('ISO 8601')
    const none = await call('order_book', { coin: 'NOPE', time: 0 }, () => reply(null))
    expect(none.content.error).toMatchObject({ message: expect.stringMatching(/^coin.*had no order book then/) })
    const both = await call('order_book', { coin: 'BTC', ...HEIGHT, time: 0, dryRun: true })
    expect(both.content.error).toMatchObject({ status: 422, message: expect.stringMatching(/^time: .*height/) })
  })

  it('have room for the deepest book', async () => {
    const side = Array(100).fill({ px: '0.0000123456', sz: '123456789.0', n: 12 })
    const book = () => reply({ time: NOW_MS, height: 1, levels: [side, side] })
    const { content } = await call('order_book', { coin: 'kPEPE', depth: 70 }, book)
    expect(content.result.asks).toHaveLength(70)
    expect(JSON.stringify(content).length).toBeLessThan(8_000)
  })

  it('say which DEXes did not answer', async () => {
    const { content } = await call('account_overview', { user: USER }, answerOf)
    expect(content.result).toMatchObject({ unknown_dexes: ['xyz'], accounts: [{ dex: 'native' }] })
  })

  it('of export_sql load each file that no other file replaces, with links as text', async () => {
    const { content } = await call('export_sql', { product: 'fills_by_time', startTime: 0, endTime: 1 })
    expect(content.result.files.map(({ sql }: { sql: string }) => sql)).toEqual([
      `CREATE TABLE fills_by_time AS SELECT * FROM read_parquet('https://weir.example${LINK}');`,
      `INSERT INTO fills_by_time SELECT * FROM read_parquet('https://weir.example${LINK}''');`,
    ])
  })

  it('of info are a part of the answer', async () => {
    const request = { type: 'metaAndAssetCtxs', path: '1.0.markPx' }
    expect((await call('info', request)).content.result).toEqual({ value: '81307.0' })
    const missing = await call('info', { ...request, path: '1.constructor' })
    expect(missing.content.error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/^path: /) })
  })

  it('never show the key or its label', async () => {
    expect(JSON.stringify((await call('key_usage')).content)).not.toMatch(/cqt_|mine/)
  })
})

describe('windows', () => {
  const windowOf = async (args: object) => {
    const { requests } = await call('candles', { coin: 'BTC', interval: '1m', ...args })
    return (requests[0] as unknown as { info: { req: object } }).info.req
  }

  it('are the same on every page', async () => {
    const endTime = 1_796_000_001_000
    expect(await windowOf({})).toMatchObject({ startTime: endTime - 100 * 60_000, endTime })
    expect(await windowOf({ cursor: `3.${(5e12).toString(36)}.` })).toMatchObject({ endTime: 5e12 })
  })

  it('may be ISO 8601', async () => {
    expect(await windowOf({ startTime: '1970-01-01T00:00:01+00:00', endTime: '1970-01-02' })).toMatchObject({
      startTime: 1_000,
      endTime: 86_400_000,
    })
    for (const startTime of ['yesterday', '2026-13-45', -1, 0.5])
      expect(
        TOOLS.find(({ name }) => name === 'candles')!.input.safeParse({ coin: 'BTC', interval: '1m', startTime }),
      ).toMatchObject({ success: false })
  })
})

describe('failures', () => {
  const failed = (status: number, body: object, headers: Record<string, string> = {}) =>
    call('trades', { coin: 'BTC' }, () => reply(body, { 'x-credits-cost': '0', ...headers }, status))

  it.for([
    [401, /valid key/],
    [402, /Do not retry.*https:\/\/weir\.example\/console/],
    [403, /Do not retry/],
    [422, /Correct the field/],
    [429, /Wait 7 s/],
    [503, /Wait 7 s/],
  ] as const)('%d keeps the code and message, and says what to do', async ([status, remedy]) => {
    const body = { code: 'some_code', msg: 'What is wrong.', request_id: 'req_1' }
    const { content, isError } = await failed(status, body, { 'retry-after': '7' })
    expect(isError).toBe(true)
    expect(content).toEqual({
      error: {
        code: 'some_code',
        status,
        message: body.msg,
        what_to_do: expect.stringMatching(remedy),
        request_id: 'req_1',
      },
      credits_cost: '0',
    })
  })

  it('of the REST API have the same form', async () => {
    const { content } = await failed(402, { error: true, error_message: 'Not enough.', error_code: '402' })
    expect(content.error).toMatchObject({ code: 'credits_exhausted', message: 'Not enough.' })
    expect((await failed(500, [])).content.error).toMatchObject({ code: 'internal' })
  })

  it('still have the cost of the requests that succeeded', async () => {
    const { content } = await call('market_overview', { coin: 'BTC' }, (request) =>
      'info' in request && request.info.type === 'l2Book'
        ? reply({}, { 'x-credits-cost': '0' }, 503)
        : example(request),
    )
    expect(content).toMatchObject({ error: { status: 503 }, credits_cost: '1' })
  })

  it('of an answer in another form show no internal message', async () => {
    const { content } = await call('find_market', { query: 'x' }, () => reply(null))
    expect(content.error).toMatchObject({
      code: 'upstream_failed',
      message: expect.not.stringMatching(/undefined|null/),
    })
    expect((await call('market_overview', { coin: 'NOPE' })).content.error).toMatchObject({ code: 'invalid_request' })
    expect((await call('order_book', { coin: 'NOPE' }, () => reply(null))).content.error).toMatchObject({ status: 422 })
  })

  it('of a price name the field', async () => {
    const { content } = await call('info', { type: 'l2Book', request: { coin: 5 }, dryRun: true })
    expect(content).toMatchObject({
      error: { status: 422, message: expect.stringMatching(/^coin: /) },
      credits_cost: '0',
    })
    expect((await call('info', { type: 'nope', dryRun: true })).content.error).toMatchObject({
      code: 'unsupported_type',
    })
  })
})
