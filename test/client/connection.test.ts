import { describe, expect, test } from 'vitest'
import type { Listener } from '../../src/client/connection.ts'
import { Connection } from '../../src/client/connection.ts'
import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { allFillsBody } from '../../src/client/subscription.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { FakeRuntime } from './fake-runtime.ts'

function setUp() {
  const runtime = new FakeRuntime()
  const log: string[] = []
  const endpoint = { url: 'http://one/', key: 'k 1' }
  const connection = new Connection(runtime, {
    endpoint: () => ({ ...endpoint }),
    onState: (state) => log.push(state.state === 'fatal' ? `fatal ${state.status} ${state.reason}` : state.state),
    onNotice: (text) => log.push(`notice ${text}`),
  })
  const listener = (name: string): Listener => ({
    live: () => log.push(`${name} live`),
    lost: (reason) => log.push(`${name} lost ${reason}`),
    frame: (frame) => log.push(`${name} ${frame.channel}`),
    refused: (reason) => log.push(`${name} refused ${reason}`),
  })
  return { runtime, connection, listener, log, endpoint }
}

/** An open connection with one subscribed body. */
function opened(body: SubscriptionBody, name: string) {
  const world = setUp()
  const leave = world.connection.subscribe(body, world.listener(name))
  world.connection.start()
  world.runtime.last.open()
  return { ...world, leave }
}
/** Its socket breaks, and another one opens. */
function reopen(runtime: FakeRuntime): void {
  runtime.last.end({ code: 1006 })
  runtime.advance(1000)
  runtime.last.open()
}
const invalid = (body: object) => `Invalid subscription ${JSON.stringify(body)}: not ready`
const fills = { channel: 'allFills', fills: [] }

describe('connection', () => {
  test('subscribes when open, delivers after the ack, and resubscribes after a reconnect to a new address', () => {
    const { runtime, connection, listener, log, endpoint } = setUp()
    connection.subscribe(allFillsBody('BTC'), listener('fills'))
    connection.start()
    expect(runtime.last.url).toBe('ws://one/ws?key=k%201')
    runtime.last.open()
    expect(runtime.last.sent).toEqual([{ method: 'subscribe', subscription: { type: 'allFills', coin: 'BTC' } }])
    runtime.last.receive(fills)
    runtime.last.ack()
    runtime.last.receive(fills)
    endpoint.url = 'https://two'
    runtime.last.end({ code: 1006 })
    runtime.advance(200)
    expect(runtime.last.url).toBe('wss://two/ws?key=k%201')
    runtime.last.open()
    runtime.last.ack()
    expect(log).toEqual([
      ...['connecting', 'open', 'fills live', 'fills allFills', 'fills lost close 1006'],
      ...['waiting', 'connecting', 'open', 'fills live'],
    ])
  })

  test('ignores an error for an unsubscribed body', () => {
    const { runtime, connection, listener, log, leave } = opened(allFillsBody('BTC'), 'first')
    runtime.last.receive({ channel: 'error', data: invalid(allFillsBody('BTC')), code: 'unavailable' })
    leave()
    connection.subscribe(allFillsBody('BTC'), listener('second'))
    const data = `Already unsubscribed: ${JSON.stringify(allFillsBody('BTC'))}`
    runtime.last.receive({ channel: 'error', data, code: 'already_unsubscribed' })
    runtime.last.ack()
    runtime.last.receive(fills)
    expect(log.slice(2)).toEqual(['second live', 'second allFills'])
  })

  test('ignores replies that belong to an earlier subscription with the same body', () => {
    const { runtime, connection, listener, log } = setUp()
    const body = allFillsBody('BTC')
    const ack = (method: string) =>
      runtime.last.receive({ channel: 'subscriptionResponse', data: { method, subscription: body } })
    const leave = connection.subscribe(body, listener('first'))
    connection.start()
    runtime.last.open()
    leave()
    connection.subscribe(body, listener('second'))
    ack('subscribe')
    runtime.last.receive(fills)
    runtime.last.receive({ channel: 'error', data: invalid(body), code: 'unavailable' })
    ack('unsubscribe')
    expect(log.slice(2)).toEqual([])
    ack('subscribe')
    runtime.last.receive(fills)
    expect(log.slice(2)).toEqual(['second live', 'second allFills'])
  })

  // WS-8
  test('repeats a rate-limited unsubscribe, and goes live if the body is subscribed again', () => {
    const { runtime, connection, listener, log } = setUp()
    const body = allFillsBody('BTC')
    const sent = (method: string) => runtime.last.sent.filter((one) => one.method === method).length
    const error = (data: string, code: string) => runtime.last.receive({ channel: 'error', data, code })
    const refuse = () => error('Too many messages', 'rate_limited')
    const ack = (method: string) =>
      runtime.last.receive({ channel: 'subscriptionResponse', data: { method, subscription: body } })
    const duplicateError = () => error(`Already subscribed: ${JSON.stringify(body)}`, 'already_subscribed')
    const leaveFirst = connection.subscribe(body, listener('first'))
    connection.start()
    runtime.last.open()
    ack('subscribe')
    leaveFirst()
    for (const times of [1, 2, 3]) {
      expect(sent('unsubscribe')).toBe(times)
      refuse()
      refuse()
      runtime.advance(1_000)
    }
    ack('unsubscribe')
    refuse()
    runtime.advance(5_000)
    expect(sent('unsubscribe')).toBe(4)
    const leaveSecond = connection.subscribe(body, listener('second'))
    ack('subscribe')
    leaveSecond()
    refuse()
    const leaveThird = connection.subscribe(body, listener('third'))
    duplicateError()
    expect(log.at(-1)).toBe('third live')
    leaveThird()
    connection.subscribe(body, listener('fourth'))
    refuse()
    ack('subscribe')
    expect([sent('unsubscribe'), sent('subscribe')]).toEqual([6, 4])
    runtime.advance(1_000)
    expect([sent('unsubscribe'), sent('subscribe')]).toEqual([6, 5])
    duplicateError()
    expect(log.at(-1)).toBe('fourth live')
    runtime.advance(10_000)
    expect(runtime.sockets).toHaveLength(1)
  })

  test('resubscribes to a long body whose reply has no echo', () => {
    const addresses = Array.from({ length: 100 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
    const body = { type: 'builderFills', addresses }
    const { runtime, connection, listener, log, leave } = opened(body, 'first')
    runtime.last.receive({ channel: 'error', data: 'Invalid subscription: not ready', code: 'unavailable' })
    leave()
    connection.subscribe(body, listener('second'))
    runtime.last.receive({ channel: 'error', data: 'Already unsubscribed', code: 'already_unsubscribed' })
    runtime.last.receive({ channel: 'subscriptionResponse', data: { method: 'subscribe', subscription: body } })
    expect(log.at(-1)).toBe('second live')
  })

  // WS-151, WS-153
  test('restarts orders on each socket, and proves a large snapshot at once', () => {
    const { runtime, connection, listener, log } = setUp()
    connection.subscribe({ type: 'l4Book', coin: 'BTC' }, listener('orders'))
    connection.start()
    const place = { time: 1, block_height: 7, epoch: 'e' }
    const snapshot = { coin: 'BTC', ...place, levels: [[], []], padding: 'x'.repeat(2 ** 20) }
    const updates = { ...place, prev_block_height: 6, order_statuses: [{}], book_diffs: ['what nodes write'] }
    for (let n = 0; n < 2; n++) {
      runtime.last.open()
      runtime.last.ack()
      runtime.last.receive({ channel: 'l4Book', data: { Snapshot: snapshot } })
      runtime.last.receive({ channel: 'pong', nonce: 'behind it' })
      runtime.last.receive({ channel: 'l4Book', data: { Updates: updates } })
      expect(runtime.last.sent).toEqual(['', 'behind it'].map((nonce) => ({ method: 'ping', nonce })))
      if (n > 0) break
      runtime.last.end({ code: 1006 })
      runtime.advance(200)
    }
    const startLog = ['connecting', 'open', 'orders live', 'orders l4Book', 'orders l4Book']
    expect(log).toEqual([...startLog, 'orders lost close 1006', 'waiting', ...startLog])
  })

  // WS-23, WS-60
  test('resumes after the seen height: earlier events are resent, none is shown twice', () => {
    const fill = (user: string) => ({ channel: 'allFills', fills: [[`0x${user.repeat(40)}`, EXAMPLE_FILL[1]]] })
    const { runtime, connection, log } = opened(allFillsBody('BTC'), 'fills')
    runtime.last.ack()
    expect(runtime.last.sent).toEqual([{ method: 'ping', nonce: '' }])
    runtime.last.receive(fill('1'))
    runtime.last.receive({ channel: 'pong', nonce: 'n', block_height: 7 })
    runtime.last.receive(fill('2'))
    for (let again = 0; again < 2; again++) {
      reopen(runtime)
      expect(runtime.last.sent).toMatchObject([{ method: 'subscribe', fromBlock: 8 }])
      runtime.last.ack()
      runtime.last.receive(fill('2'))
      if (again > 0) runtime.last.receive(fill('3'))
      runtime.last.receive(fill(again > 0 ? '4' : '3'))
    }
    const all = 'fills allFills'
    expect(log.filter((line) => line.startsWith('fills'))).toEqual([
      ...['fills live', all, all, 'fills live', all, 'fills live', all],
    ])
    const text = 'Not replayed: {"type":"allFills","coin":"BTC"}: fromBlock: block 8 is held no more'
    runtime.last.receive({ channel: 'error', data: text, code: 'replay_unavailable' })
    connection.close()
    expect(log.slice(-5)).toEqual([`fills lost ${text}`, 'fills live', `notice ${text}`, 'fills lost closed', 'closed'])
  })

  // WS-60
  test('requests the height until a pong has it; without one, events restart', () => {
    const frame = { channel: 'allFills', fills: [[`0x${'1'.repeat(40)}`, EXAMPLE_FILL[1]]] }
    const { runtime, log } = opened(allFillsBody('BTC'), 'fills')
    runtime.last.ack()
    runtime.last.receive({ channel: 'pong', nonce: 'n' })
    runtime.advance(1000)
    expect(runtime.last.sent).toMatchObject([{ method: 'ping' }, { method: 'ping', nonce: 'n' }])
    runtime.last.receive(frame)
    reopen(runtime)
    expect(runtime.last.sent).toEqual([{ method: 'subscribe', subscription: allFillsBody('BTC') }])
    runtime.last.ack()
    runtime.last.receive(frame)
    const ack = ['fills live', 'fills allFills']
    expect(log.filter((line) => line.startsWith('fills'))).toEqual([...ack, 'fills lost close 1006', ...ack])
  })

  // WS-23
  test('passes frames seen for another body of the type to a body that restarts', () => {
    const frame = { channel: 'allFills', fills: [[`0x${'1'.repeat(40)}`, EXAMPLE_FILL[1]]] }
    const { runtime, connection, listener, log, leave } = opened(allFillsBody('BTC'), 'old')
    runtime.last.ack()
    runtime.last.receive({ channel: 'pong', nonce: 'n', block_height: 7 })
    runtime.last.receive(frame)
    runtime.last.end({ code: 1006 })
    leave()
    connection.subscribe(allFillsBody('BTC'), listener('new'))
    runtime.advance(1000)
    runtime.last.open()
    runtime.last.ack()
    runtime.last.receive(frame)
    expect(log.filter((line) => line.startsWith('new'))).toEqual(['new live', 'new allFills'])
  })

  test('pings every 10 s and drops a socket that is silent for 20 s', () => {
    const { runtime, connection } = setUp()
    connection.start()
    const first = runtime.last
    first.open()
    runtime.advance(10_000)
    expect(first.sent).toEqual([{ method: 'ping', nonce: '' }])
    first.receive({ channel: 'pong' })
    runtime.advance(19_999)
    expect(first.dropped).toBe(false)
    runtime.advance(1)
    expect(first.dropped).toBe(true)
    runtime.advance(200)
    expect(runtime.sockets).toHaveLength(2)
    first.end({ code: 1006 })
    expect(runtime.sockets).toHaveLength(2)
  })

  // WS-63
  test('sends large bodies as earlier ones are answered, and again after a reconnect', () => {
    const { runtime, connection, listener, log } = setUp()
    const bodies = Array.from({ length: 12 }, (_, i) => ({
      type: 'userFills',
      addresses: [`${i}`.padEnd(60_000, 'x')],
    }))
    connection.start()
    for (let round = 0; round < 2; round++) {
      runtime.last.open()
      const leave = bodies.map((body, i) => (round === 0 ? connection.subscribe(body, listener(`${i}`)) : () => {}))
      expect(runtime.last.sent).toHaveLength(4)
      if (round === 0) leave[11]!()
      expect(runtime.last.sent).toHaveLength(4)
      for (let i = 0; i < 12; i++) runtime.last.ack()
      expect(log.filter((line) => line.endsWith('live'))).toHaveLength(11 * (round + 1))
      runtime.last.end({ code: 1006 })
      runtime.advance(1000)
    }
  })

  // WS-60
  test('proves what it read after each 32 KiB, one ping at a time, and again on another socket', () => {
    const { runtime } = opened(allFillsBody('BTC'), 'fills')
    const pings = () => runtime.last.sent.filter((frame) => (frame as { method: string }).method === 'ping')
    const receive = () => runtime.last.receive({ channel: 'allFills', fills: [], more: 'x'.repeat(16_384) })
    receive()
    expect(pings()).toEqual([])
    for (let i = 0; i < 5; i++) receive()
    expect(pings()).toEqual([{ method: 'ping', nonce: '' }])
    runtime.last.receive({ channel: 'pong', nonce: 'one' })
    expect(pings()).toEqual([
      { method: 'ping', nonce: '' },
      { method: 'ping', nonce: 'one' },
    ])
    runtime.last.receive({ channel: 'pong', nonce: 'two' })
    reopen(runtime)
    receive()
    receive()
    expect(pings()).toEqual([{ method: 'ping', nonce: '' }])
  })

  // WS-8
  test('repeats a rejected ping once after a second, with the same proof', () => {
    const { runtime, log } = opened(allFillsBody('BTC'), 'fills')
    runtime.last.ack()
    runtime.last.receive({ channel: 'pong', nonce: 'n', block_height: 7 })
    const refuse = () => runtime.last.receive({ channel: 'error', data: 'Too many messages', code: 'rate_limited' })
    const receive = (chars: number) => runtime.last.receive({ channel: 'allFills', fills: [], more: 'x'.repeat(chars) })
    runtime.last.sent.length = 0
    refuse()
    runtime.advance(1_000)
    expect(runtime.last.sent).toEqual([])
    receive(1024 * 1024)
    for (const again of [1, 2, 3]) {
      expect(runtime.last.sent).toHaveLength(again)
      refuse()
      refuse()
      receive(40_000)
      runtime.advance(999)
      expect(runtime.last.sent).toHaveLength(again)
      runtime.advance(1)
    }
    expect(runtime.last.sent).toEqual(Array(4).fill({ method: 'ping', nonce: 'n' }))
    runtime.last.receive({ channel: 'pong', nonce: 'm', block_height: 8 })
    expect(runtime.last.sent.at(-1)).toEqual({ method: 'ping', nonce: 'm' })
    refuse()
    reopen(runtime)
    runtime.advance(1_500)
    expect([runtime.last.sent.length, log.filter((line) => line.startsWith('notice')).length]).toEqual([1, 8])
  })

  // WS-2
  test.each([
    [{ status: 401, reason: 'This API key was revoked.' }, 'fatal 401 This API key was revoked.'],
    [{ status: 402, reason: 'spent' }, 'fatal 402 spent'],
    [{ status: 403, reason: 'not yours' }, 'fatal 403 not yours'],
    [{ code: 4401 }, 'fatal 4401 the gateway no longer accepts this API key'],
  ])('%o is fatal and reported', (end, logged) => {
    const { runtime, connection, log } = setUp()
    connection.start()
    runtime.last.end(end)
    runtime.advance(60_000)
    expect([runtime.sockets.length, log.at(-1)]).toEqual([1, logged])
  })

  test.each([{ status: 503 }, { status: 429 }, { reason: 'ECONNREFUSED' }, { code: 1013 }])('%o is retried', (end) => {
    const { runtime, connection } = setUp()
    connection.start()
    for (let i = 1; i <= 20; i++) {
      runtime.last.end(end)
      runtime.advance(750)
      expect(runtime.sockets).toHaveLength(i + 1)
    }
  })

  // WS-65
  test('reports that it reads late, and resumes after its last height when it is closed for it', () => {
    const { runtime, connection, log, listener } = setUp()
    const notices: [string, string | null][] = []
    const noticing = new Connection(runtime, {
      endpoint: () => ({ url: 'http://one', key: 'k' }),
      onNotice: (...notice) => notices.push(notice),
    })
    connection.close()
    noticing.subscribe(allFillsBody('BTC'), listener('fills'))
    noticing.start()
    runtime.last.open()
    runtime.last.ack()
    runtime.last.receive({ channel: 'pong', nonce: 'n', block_height: 70 })
    runtime.last.receive({ channel: 'notification', data: { notification: 'late' }, code: 'late', age_ms: 12_000 })
    runtime.last.receive({ channel: 'error', data: 'too late', code: 'too_late' })
    runtime.last.end({ code: 4413, reason: 'unread data is too old' })
    runtime.advance(200)
    runtime.last.open()
    expect(runtime.last.sent).toMatchObject([{ method: 'subscribe', fromBlock: 71 }])
    expect(notices).toEqual([
      ['late', 'late'],
      ['too late', 'too_late'],
    ])
    expect(log).toEqual(['closed', 'fills live'])
  })

  test('routes an error frame to the subscription it embeds; others are notices', () => {
    const { runtime, connection, listener, log } = setUp()
    connection.subscribe(allFillsBody('NOPE'), listener('one'))
    connection.subscribe({ type: 'userFills', addresses: ['0x1'] }, listener('two'))
    connection.start()
    runtime.last.open()
    const text = 'Invalid subscription {"coin":"NOPE","type":"allFills"}: coin: no such coin'
    runtime.last.receive({ channel: 'error', data: text, code: 'invalid_request' })
    runtime.last.receive({ channel: 'error', data: 'credits are low' })
    const duplicateError = 'Already subscribed: {"type":"userFills","addresses":["0x1"]}'
    runtime.last.receive({ channel: 'error', data: duplicateError, code: 'already_subscribed' })
    expect(log.slice(2)).toEqual([`one refused ${text}`, 'notice credits are low', 'two live'])
  })

  test('assigns a truncated echo to the only waiting body; a notification is a notice', () => {
    const { runtime, connection, listener, log } = setUp()
    connection.subscribe(allFillsBody(), listener('one'))
    connection.subscribe({ type: 'userFills', addresses: ['0x1'] }, listener('two'))
    connection.start()
    runtime.last.open()
    const cut = 'Invalid subscription {"type":"userFills","addresses":["0x…: addresses: too many'
    runtime.last.receive({ channel: 'error', data: cut, code: 'invalid_request' })
    runtime.last.receive({
      channel: 'subscriptionResponse',
      data: { method: 'subscribe', subscription: { type: 'allFills' } },
    })
    runtime.last.receive({ channel: 'error', data: cut, code: 'invalid_request' })
    runtime.last.receive({ channel: 'notification', data: { notification: 'few credits' } })
    expect(log.slice(2)).toEqual([`notice ${cut}`, 'one live', `two refused ${cut}`, 'notice few credits'])
  })

  test('waits two minutes for a queued body', () => {
    const { runtime, log } = opened({ type: 'l2BookDiff' }, 'books')
    for (let second = 0; second < 120; second += 10) {
      runtime.advance(10_000)
      runtime.last.receive({ channel: 'pong' })
    }
    runtime.last.ack()
    expect(log.at(-1)).toBe('books live')
    expect(runtime.sockets).toHaveLength(1)
  })

  test('retries after a temporary error; a subscribe without a reply ends the socket', () => {
    const { runtime, log } = opened(allFillsBody(), 'fills')
    runtime.last.receive({ channel: 'error', data: 'Invalid subscription {"type":"allFills"}', code: 'unavailable' })
    runtime.advance(2_000)
    expect(runtime.last.sent.filter(({ method }) => method === 'subscribe')).toHaveLength(2)
    runtime.advance(10_000)
    expect([runtime.sockets[0]!.dropped, log.includes('waiting')]).toEqual([true, true])
  })

  // WS-13
  test('ends the socket on an invalid frame, but not on an unknown channel', () => {
    const { runtime, connection } = setUp()
    connection.start()
    runtime.last.open()
    runtime.last.receive({ channel: 'news', data: 1 })
    expect(runtime.last.dropped).toBe(false)
    runtime.last.receive({ channel: 'l2BookDiff', data: { Updates: {} } })
    expect(runtime.last.dropped).toBe(true)
  })
})
