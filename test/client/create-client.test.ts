// The client package against a simulated gateway: events of good servers, and protection from bad ones.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BookEvent, StreamEvent } from '../../src/client/api.ts'
import { openBooks } from '../../src/client/books.client.ts'
import type { ClientOptions } from '../../src/client/create-client.client.ts'
import { createClient, WeirError } from '../../src/client/create-client.client.ts'
import { internalsOf } from '../../src/client/internals.ts'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import { type FakeAnswer, FakeWebSocket, fakeFetch } from './fake-web.ts'

const TRADES = { type: 'trades', coin: 'BTC' } as const
const REFUSED = { channel: 'error', code: 'not_found', data: `Invalid subscription ${JSON.stringify(TRADES)}: none` }
const trade = (tid: number) => ({ channel: 'trades', data: [{ coin: 'BTC', tid }] })

beforeEach(() => {
  vi.useFakeTimers()
  FakeWebSocket.all = []
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp(
  answer: (body: Record<string, unknown>, at: number) => FakeAnswer | Error | undefined = () => ({ body: null }),
  more: Partial<ClientOptions> = {},
) {
  const { requests, fetch } = fakeFetch(answer)
  const states: string[] = []
  const client = createClient({
    url: 'http://one',
    key: 'k',
    fetch,
    WebSocket: FakeWebSocket,
    onState: ({ state }) => states.push(state),
    ...more,
  })
  return { client, requests, states }
}

/** Opens the last socket and acknowledges its requests. */
function opens(): void {
  FakeWebSocket.last.open()
  FakeWebSocket.last.ack()
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: WeirError) => error.code,
  )

describe('info requests', () => {
  test('return the data with cost, height and age', async () => {
    const headers = {
      'x-credits-cost': '0.5',
      'x-credits-remaining': '99.5',
      'x-block-height': '7',
      age: '2',
      'x-next-cursor': 'r-1',
      'x-request-id': 'r1',
    }
    const { client, requests } = setUp(() => ({ headers, body: { mids: 1, later: 'a field of a newer gateway' } }))
    expect(await client.info('allMids')).toEqual({
      data: { mids: 1, later: 'a field of a newer gateway' },
      credits: { cost: '0.5', remaining: '99.5' },
      height: 7,
      ageSeconds: 2,
      nextCursor: 'r-1',
      requestId: 'r1',
    })
    expect(requests).toEqual([{ type: 'allMids' }])
  })

  test('are retried after the requested wait, not before', async () => {
    const limited = { status: 429, headers: { 'retry-after': '7' }, body: { code: 'rate_limited', msg: 'slower' } }
    const { client, requests } = setUp((_, at) => (at === 0 ? limited : { body: 1 }))
    const answer = client.info('allMids')
    await vi.advanceTimersByTimeAsync(6_999)
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect((await answer).data).toBe(1)
  })

  test.each<[string, FakeAnswer | Error | undefined, string, number]>([
    ['a wish to wait for thirty years', { status: 429, headers: { 'retry-after': '1000000000' } }, 'rate_limited', 1],
    ['a key that is not taken', { status: 401, body: { code: 'unauthorized', msg: 'no' } }, 'unauthorized', 1],
    ['no credits', { status: 402, body: { code: 'credits_exhausted', msg: 'no' } }, 'credits_exhausted', 1],
    ['a page of a proxy', { status: 502, body: '<html>' }, 'upstream_failed', 4],
    ['an answer that is no JSON', { status: 200, body: '<html>' }, 'unreadable', 1],
    ['no network', new TypeError('fetch failed'), 'network', 4],
    ['no answer', undefined, 'timeout', 4],
    ['a code of a newer gateway', { status: 418, body: { code: 'teapot', msg: 'no' } }, 'teapot', 1],
  ])('%s is an error with a code', async (_, reply, code, times) => {
    const { client, requests } = setUp(() => reply)
    const found = codeOf(client.info('allMids'))
    await vi.advanceTimersByTimeAsync(120_000)
    expect([await found, requests.length]).toEqual([code, times])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('time out per attempt', async () => {
    const { client, requests } = setUp(() => undefined, { retries: 1, timeoutMs: 1_000 })
    const found = codeOf(client.info('allMids'))
    await vi.advanceTimersByTimeAsync(999)
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1 + 250)
    expect(requests).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await found).toBe('timeout')
  })

  test('end with their signal, during the request or the wait, and with the client', async () => {
    const own = new AbortController()
    const { client } = setUp((_, at) => (at === 0 ? undefined : { status: 503 }))
    const one = codeOf(client.info('allMids', {}, { signal: own.signal }))
    const two = codeOf(client.info('allMids', {}, { signal: own.signal }))
    await vi.advanceTimersByTimeAsync(1)
    own.abort()
    expect([await one, await two]).toEqual(['aborted', 'aborted'])
    const three = codeOf(client.info('allMids'))
    client.close()
    expect([await three, await codeOf(client.info('allMids'))]).toEqual(['aborted', 'aborted'])
    expect(vi.getTimerCount()).toBe(0)
  })
})

let ends: AbortController

describe('streams', () => {
  test('resume where they were, and report an expired cursor', () => {
    const { client } = setUp()
    const received: StreamEvent[] = []
    client.on(TRADES, (event) => received.push(event), { fromBlock: 90 })
    FakeWebSocket.last.open()
    expect(FakeWebSocket.last.sent[0]).toMatchObject({ fromBlock: 90 })
    FakeWebSocket.last.ack()
    const data = `Not replayed: ${JSON.stringify(TRADES)}: fromBlock: block 90 is held no more; live data follows.`
    FakeWebSocket.last.receive({ channel: 'error', data, code: 'replay_unavailable' })
    FakeWebSocket.last.receive(trade(1))
    expect(received).toEqual([
      { type: 'live' },
      { type: 'gap', gap: { from: 90, to: null, reason: data } },
      { type: 'live' },
      { type: 'data', frame: trade(1) },
    ])
    FakeWebSocket.last.receive({ channel: 'error', data: 'Blocks 95 to 97 never came.', code: 'gap' })
    expect(received[4]).toMatchObject({ type: 'gap', gap: { from: 95, to: 97 } })
  })

  test('report their height, to resume from', () => {
    const { client } = setUp()
    const trades = client.subscribe(TRADES)
    opens()
    expect(trades.height).toBeNull()
    FakeWebSocket.last.receive({ channel: 'pong', nonce: 'n', block_height: 100 })
    expect(trades.height).toBe(100)
  })

  test('unsubscribe when a loop is left, and deliver nothing more', async () => {
    const { client } = setUp()
    const received: unknown[] = []
    const reading = (async () => {
      for await (const event of client.subscribe(TRADES)) {
        received.push(event.type)
        if (event.type === 'data') break
      }
    })()
    opens()
    FakeWebSocket.last.receive(trade(1))
    await reading
    expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ method: 'unsubscribe', subscription: TRADES })
    FakeWebSocket.last.receive(trade(2))
    expect(received).toEqual(['live', 'data'])
    expect(internalsOf(client).handles.size).toBe(0)
  })

  test.each<[string, (client: ReturnType<typeof setUp>['client'], own: AbortController) => void, string]>([
    ['its signal', (_, own) => own.abort(), 'aborted'],
    ['the client', (client) => client.close(), 'closed'],
    ['the signal of the client', () => ends.abort(), 'aborted'],
    ['a revoked key', () => FakeWebSocket.last.end(4401, 'revoked'), 'unauthorized'],
    ['credits that are spent', () => FakeWebSocket.last.end(4402), 'credits_exhausted'],
    ['a refusal', () => FakeWebSocket.last.receive(REFUSED), 'not_found'],
  ])('%s ends a loop with a typed last event', async (_, act, code) => {
    const own = new AbortController()
    ends = new AbortController()
    const { client } = setUp(undefined, { signal: ends.signal })
    const events: StreamEvent[] = []
    const reading = (async () => {
      for await (const event of client.subscribe(TRADES, { signal: own.signal })) events.push(event)
    })()
    FakeWebSocket.last.open()
    if (code !== 'not_found') FakeWebSocket.last.ack()
    act(client, own)
    await reading
    expect(events.at(-1)).toMatchObject({ type: 'end', end: { code } })
    expect(events.filter(({ type }) => type === 'end')).toHaveLength(1)
    client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a rejected upgrade with a hidden status is checked over HTTP and fatal', async () => {
    const { client, states } = setUp(() => ({ status: 402, body: { code: 'credits_exhausted', msg: 'no credits' } }))
    const events: StreamEvent[] = []
    client.on(TRADES, (event) => events.push(event))
    FakeWebSocket.last.end(1006)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(states.at(-1)).toBe('fatal')
    expect(FakeWebSocket.all).toHaveLength(1)
    expect(events).toEqual([{ type: 'end', end: { code: 'credits_exhausted', message: 'no credits' } }])
    const later: StreamEvent[] = []
    client.on(TRADES, (event) => later.push(event))
    await vi.advanceTimersByTimeAsync(1)
    expect(later).toMatchObject([{ type: 'end', end: { code: 'credits_exhausted' } }])
  })

  test('reject a duplicate body until it is closed', () => {
    const { client } = setUp()
    const first = client.subscribe(TRADES)
    expect(() => client.subscribe(TRADES)).toThrow(WeirError)
    expect(internalsOf(client).handles.size).toBe(1)
    first.close()
    client.subscribe(TRADES).close()
  })

  test("pass a listener's exception to the platform and continue", async () => {
    const { client } = setUp()
    const thrown: unknown[] = []
    const take = (error: unknown) => thrown.push(error)
    const before = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', take)
    let received = 0
    client.on(TRADES, () => {
      received++
      throw new Error('of the user')
    })
    opens()
    FakeWebSocket.last.receive(trade(1))
    vi.useRealTimers()
    await new Promise((resolve) => setImmediate(resolve))
    process.removeAllListeners('unhandledRejection')
    for (const listener of before) process.on('unhandledRejection', listener)
    expect([received, thrown.length]).toEqual([2, 2])
  })
})

describe('bad servers', () => {
  test('a flooding server fills a bounded buffer, and a gap reports the dropped events', async () => {
    const { client } = setUp()
    const trades = client.subscribe(TRADES, { buffer: 100 })
    opens()
    for (let tid = 0; tid < 50_000; tid++) FakeWebSocket.last.receive(trade(tid))
    client.close()
    const events: StreamEvent[] = []
    for await (const event of trades) events.push(event)
    expect(events).toHaveLength(101)
    expect(events[0]).toMatchObject({ type: 'gap', gap: { reason: 'the buffer was full' } })
    expect(events.at(-2)).toEqual({ type: 'data', frame: trade(49_999) })
  })

  test('a server that closes at each frame is retried with backoff and bounded memory', async () => {
    const { client } = setUp()
    let gaps = 0
    client.on(TRADES, ({ type }) => {
      if (type === 'gap') gaps++
    })
    const startedAt = Date.now()
    let most = 0
    for (let times = 0; times < 2_000; times++) {
      opens()
      FakeWebSocket.last.receive(trade(times))
      FakeWebSocket.last.end(1006)
      most = Math.max(most, vi.getTimerCount())
      await vi.advanceTimersToNextTimerAsync()
    }
    expect(gaps).toBe(2_000)
    expect(most).toBeLessThanOrEqual(3)
    // Full jitter of at most 1.5 s: more than a third of it on average.
    expect((Date.now() - startedAt) / 2_000).toBeGreaterThan(500)
    client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a server that never opens or never acknowledges is retried', async () => {
    const { client } = setUp(() => undefined)
    client.on(TRADES, () => {})
    await vi.advanceTimersByTimeAsync(5_000 + 1_500)
    expect(FakeWebSocket.all).toHaveLength(2)
    FakeWebSocket.last.open()
    // After a timeout, the next one is twice as long.
    await vi.advanceTimersByTimeAsync(20_000 + 1_500)
    expect(FakeWebSocket.all.length).toBeGreaterThanOrEqual(3)
    expect(FakeWebSocket.all[1]!.readyState).toBe(3)
  })

  test.each(['{', '[]', 'null', '{"channel":5}', '{"channel":"trades","data":{}}', '{"channel":"error"}'])(
    'a server that sends %s is not trusted',
    async (text) => {
      const { client } = setUp()
      const received: string[] = []
      client.on(TRADES, ({ type }) => received.push(type))
      opens()
      FakeWebSocket.last.receive(text)
      expect(received).toEqual(['live', 'gap'])
      expect(FakeWebSocket.last.readyState).toBe(3)
    },
  )

  test('a clock set back or forward by an hour has no effect', async () => {
    const { client } = setUp()
    client.on(TRADES, () => {})
    opens()
    vi.setSystemTime(Date.now() + 3_600_000)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(FakeWebSocket.all).toHaveLength(1)
    vi.setSystemTime(Date.now() - 7_200_000)
    await vi.advanceTimersByTimeAsync(40_000)
    expect(FakeWebSocket.all.length).toBeGreaterThan(1)
  })
})

describe('books', () => {
  const level = (px: string, sz = '1.0', n = 1): Level => ({ px, sz, n })
  const snapshot = (seq: number, levels: Levels, epoch = 'e') => ({
    body: { coin: 'BTC', time: 1, height: seq, epoch, seq, levels },
  })
  const diff = (seq: number, prev: number, levels: Levels, after: Levels, lie = 0) => {
    const checksum = (bookChecksum(LevelBook.of(after)) + lie) >>> 0
    const book_diffs = [{ coin: 'BTC', seq, prev_seq: prev, levels, checksum }]
    const Updates = { time: seq, block_height: seq, epoch: 'e', cursor: `${seq}`, book_diffs }
    return { channel: 'l2BookDiff2', data: { Updates } }
  }
  const at = (px: string): Levels => [[level(px)], []]

  async function follow(answer: Parameters<typeof setUp>[0]) {
    const { client, requests } = setUp(answer)
    const events: BookEvent[] = []
    const books = openBooks(client, 'BTC', {}, (event) => events.push(event))
    opens()
    await vi.advanceTimersByTimeAsync(0)
    return { client, requests, events, books, book: books.get('BTC') }
  }

  test('are in step, follow changes, and report when they are not', async () => {
    const { book, events, books } = await follow(() => snapshot(10, at('5.0')))
    expect([book.step, book.levels()]).toEqual(['in step', at('5.0')])
    FakeWebSocket.last.receive(diff(11, 10, at('6.0'), [[level('6.0'), level('5.0')], []]))
    expect([book.height, book.checks, book.levels(1)]).toEqual([11, 1, at('6.0')])
    books.close()
    expect(events.at(-1)).toMatchObject({ type: 'end', end: { code: 'closed' } })
    expect(book.levels()).toEqual([[], []])
  })

  test.each<[string, unknown]>([
    ['misses a change', diff(13, 12, at('6.0'), at('6.0'))],
    ['repeats one of another order', diff(14, 9, at('6.0'), at('6.0'))],
    ['lies in a checksum', diff(11, 10, at('6.0'), [[level('6.0'), level('5.0')], []], 1)],
    ['begins another epoch', JSON.parse(JSON.stringify(diff(11, 10, [[], []], at('5.0'))).replace('"e"', '"f"'))],
    ['sends a level that is none', JSON.parse(JSON.stringify(diff(11, 10, at('6.0'), at('6.0'))).replace('6.0', '-6'))],
    ['ends', null],
  ])('a book that %s has no levels until it is repaired', async (_, frame) => {
    const { book, events, requests } = await follow((_, at2) => (at2 === 0 ? snapshot(10, at('5.0')) : undefined))
    if (frame === null) FakeWebSocket.last.end()
    else FakeWebSocket.last.receive(frame)
    expect(book.step).not.toBe('in step')
    expect(book.levels()).toEqual([[], []])
    expect(events.some((event) => event.type === 'gap' && event.gap.from === 11)).toBe(true)
    await vi.advanceTimersByTimeAsync(2_000)
    // One repair is running, whatever else arrives.
    for (let seq = 20; seq < 60; seq++) FakeWebSocket.last.receive(diff(seq, seq - 1, [[], []], at('5.0')))
    await vi.advanceTimersByTimeAsync(0)
    expect(requests.length).toBeLessThanOrEqual(2)
  })

  test('queue only the latest event of a coin for a slow reader', async () => {
    const { client } = setUp(() => snapshot(10, at('5.0')))
    const books = openBooks(client, ['BTC', 'ETH'])
    opens()
    await vi.advanceTimersByTimeAsync(0)
    for (let seq = 11; seq < 500; seq++) FakeWebSocket.last.receive(diff(seq, seq - 1, [[], []], at('5.0')))
    books.close()
    const events: BookEvent[] = []
    for await (const event of books) events.push(event)
    expect(events.filter(({ type }) => type === 'book')).toHaveLength(2)
    expect(books.get('BTC').coin).toBe('BTC')
    expect(() => books.get('SOL')).toThrow()
  })
})

test('requires a key and a gateway URL', () => {
  const options = { fetch: fakeFetch(() => undefined).fetch, WebSocket: FakeWebSocket }
  expect(() => createClient({ ...options, url: 'http://one' })).toThrow(TypeError)
  expect(() => createClient({ ...options, url: 'one', key: 'k' })).toThrow(TypeError)
  for (const host of ['', '/', 'a b', 'h:99999', '[::1', 'h#f', 'h?x'])
    expect(() => createClient({ ...options, url: `http://${host}`, key: 'k' })).toThrow(
      /^createClient: url must be a URL/,
    )
  createClient({ ...options, url: 'http://one', token: 't' })
})

test('without a WebSocket, info requests work, and streams say what is missing', async () => {
  vi.stubGlobal('WebSocket', undefined)
  const { fetch } = fakeFetch(() => ({ body: { BTC: '1' } }))
  const client = createClient({ url: 'http://one', key: 'k', fetch })
  expect((await client.info('allMids')).data).toEqual({ BTC: '1' })
  for (const open of [
    () => client.subscribe(TRADES),
    () => client.replay(TRADES, { fromTime: 1, speed: 'max' }),
    () => openBooks(client, 'BTC'),
  ])
    expect(open).toThrow('WebSocket is required here')
  client.close()
  vi.unstubAllGlobals()
})

test('a failed connection that has only an error event ends with the reason of the gateway', async () => {
  const refusal = { status: 401, body: { code: 'unauthorized', error: 'The API key is unknown' } }
  const { client, requests, states } = setUp(() => refusal)
  const ends = client.subscribe(TRADES)[Symbol.asyncIterator]()
  FakeWebSocket.last.dispatchEvent(new Event('error'))
  FakeWebSocket.last.end()
  expect((await ends.next()).value).toMatchObject({ type: 'end', end: { code: 'unauthorized' } })
  expect([requests.length, states.at(-1)]).toEqual([1, 'fatal'])
  client.close()
})

test('an error of an open connection leaves its end to the close event', () => {
  const { client, requests, states } = setUp()
  client.subscribe(TRADES)
  opens()
  FakeWebSocket.last.dispatchEvent(new Event('error'))
  expect(states.at(-1)).toBe('open')
  FakeWebSocket.last.end()
  expect([requests.length, states.at(-1)]).toEqual([0, 'waiting'])
  client.close()
})
