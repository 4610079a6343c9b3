import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import { shapeAt } from '../../src/core/schema-shape.ts'
import { CATALOGUE } from '../../src/info/queries/catalogue.ts'
import { alreadySubscribed, alreadyUnsubscribed, invalidSubscription } from '../../src/protocol/relay/frames.ts'
import { isTooLarge, UP_FRAME_MAX_BYTES } from '../../src/protocol/relay/protocol.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'
import { INFO_FIELDS, readFrame } from '../../src/relay/client-frame.ts'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const MIXED = '0xAbCdEf0123456789aBcDeF0123456789abcdef01'

/** Path of the rejected field. */
function refusedAt(body: { type: string } & Record<string, unknown>): string {
  const parsed = readBody(body)
  return parsed.ok ? 'accepted' : parsed.error.path
}

// WS-15
test('accepts each alias of addresses alone, in mixed case, and matches in lower case', () => {
  for (const form of [{ addresses: [MIXED] }, { users: [MIXED, MIXED.toLowerCase()] }, { user: MIXED }]) {
    const parsed = readBody({ type: 'userFills', ...form })
    expect(parsed).toMatchObject({ ok: true, value: { body: { names: [MIXED.toLowerCase()], aggregate: false } } })
  }
})

// WS-15
test('accepts 1,000 addresses and rejects 1,001', () => {
  const addresses = Array.from({ length: 1001 }, (_, i) => address(i))
  expect(refusedAt({ type: 'userFills', addresses: addresses.slice(1) })).toBe('accepted')
  expect(refusedAt({ type: 'userFills', addresses })).toBe('addresses')
})

// WS-14, WS-16
test.each([
  [{ type: 'userFills' }, 'addresses'],
  [{ type: 'userFills', user: MIXED, users: [MIXED] }, 'addresses'],
  [{ type: 'userFills', adresses: [MIXED] }, 'adresses'],
  [{ type: 'userFills', wallet: MIXED }, 'wallet'],
  [{ type: 'trades', symbol: 'BTC' }, 'coin'],
  [{ type: 'l2BookDif', coin: 'BTC' }, 'type'],
  [{ type: 'constructor' }, 'type'],
  [{ type: 'allFills', '': 1 }, 'subscription'],
  [{ type: 'l2BookDiff', coin: [] }, 'coin'],
  [{ type: 'l2BookDiff', coin: ['BTC', 'BTC'] }, 'coin'],
  [{ type: 'l2BookDiff', coin: ['BTC', 'E TH'] }, 'coin.1'],
  [{ type: 'l2BookDiff', coin: 'BTC', marketTypes: ['perp'] }, 'marketTypes'],
  [{ type: 'l2BookDiff', marketTypes: [] }, 'marketTypes'],
  [{ type: 'l2Book', coin: 'BTC', mantissa: 2 }, 'mantissa'],
  [{ type: 'l2Book', coin: 'BTC', marketTypes: ['perp'] }, 'marketTypes'],
])('names the field of an invalid body: %j', (body, path) => {
  expect(refusedAt(body)).toBe(path)
})

// WS-16
test('book bodies: one coin, a list, or wildcards with market types', () => {
  const bodyOf = (body: { type: string } & Record<string, unknown>) => {
    const parsed = readBody(body)
    return parsed.ok ? parsed.value.body : parsed.error
  }
  expect(bodyOf({ type: 'l2BookDiff', coin: 'BTC' })).toEqual({ coins: ['BTC'], types: [] })
  expect(bodyOf({ type: 'l2BookDiff2', coin: ['@1', '#4'] })).toMatchObject({ coins: ['@1', '#4'] })
  expect(bodyOf({ type: 'l2BookDiff' })).toMatchObject({ coins: null, types: ['perp'] })
  expect(bodyOf({ type: 'l2BookDiff', marketTypes: ['spot', 'perp'] })).toMatchObject({ types: ['perp', 'spot'] })
  expect(bodyOf({ type: 'l2BookDiff', marketTypes: ['*'] })).toMatchObject({ types: ['perp', 'spot', 'outcome'] })
})

// WS-17
test('identity is the exact JSON value, ignoring only key order', () => {
  const same = canonicalJson({ type: 'userFills', users: ['a', 'b'], x: { b: 1, a: null } })
  expect(canonicalJson({ x: { a: null, b: 1 }, users: ['a', 'b'], type: 'userFills' })).toBe(same)
  const others = [
    { type: 'userFills', users: ['b', 'a'], x: { b: 1, a: null } },
    { type: 'userFills', addresses: ['a', 'b'], x: { b: 1, a: null } },
    { type: 'userFills', users: ['A', 'b'], x: { b: 1, a: null } },
    { type: 'userFills', users: ['a', 'b'], x: { b: '1', a: null } },
    { type: 'userFills', users: ['a', 'b'], x: { b: 1 } },
  ]
  expect(new Set([same, ...others.map(canonicalJson)]).size).toBe(others.length + 1)
})

const errorOf = (text: string) => {
  const parsed = readFrame(text)
  if (parsed.ok) throw new Error('accepted')
  return JSON.parse(parsed.error) as { channel: string; data: string; code: string }
}

const accepted = (text: string) => {
  const read = readFrame(text)
  if (!read.ok) throw new Error(read.error)
  return read.value
}

/** SDKs parse this part as the echo of what they sent, without a guard. */
const echoIn = (text: string) => JSON.parse(text.match(/{.*}/)?.[0] ?? 'null') as unknown

const SUBSCRIPTION = { type: 'trades', coin: 'BTC' }
const REQUEST = { type: 'info', payload: { type: 'meta' } }

// WS-7
test.each<[object, string]>([
  [{ method: 'subscribe', subscription: SUBSCRIPTION, id: 1, type: 'trades' }, '"id", "type"'],
  [{ method: 'subscribe', subscription: SUBSCRIPTION, fromBlok: 7 }, '"fromBlok" (did you mean "fromBlock"?)'],
  [{ method: 'unsubscribe', subscription: SUBSCRIPTION, meta: true }, '"meta"'],
  [{ method: 'ping', id: 7 }, '"id"'],
  [{ method: 'post', id: 7, request: { ...REQUEST, tag: 1 }, tag: 2 }, '"tag", "request.tag"'],
  [{ method: 'replay', action: 'pause', subscription: SUBSCRIPTION, id: 1 }, '"id"'],
])('ignores and names an unknown field that belongs nowhere: %#', (sent, names) => {
  expect(accepted(JSON.stringify(sent)).ignored).toContain(`: ${names}. `)
})

// WS-7
test('names only a few of many unknown fields, shortened', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'x'.repeat(100)}${i}`, i]))
  const { ignored } = accepted(JSON.stringify({ method: 'subscribe', subscription: SUBSCRIPTION, ...many }))
  expect(ignored!.length).toBeLessThan(16 * 70 + 100)
  expect(accepted('{"method":"ping","__proto__":1}').ignored).toContain('"__proto__"')
})

const subscribe = (beside: object) => ({ method: 'subscribe', subscription: SUBSCRIPTION, ...beside })
// WS-7
test.each<[object, string]>([
  ...['coin', 'dex', 'user', 'users', 'addresses', 'interval', 'marketTypes', 'nSigFigs', 'mantissa', 'builder'].map(
    (name): [object, string] => [subscribe({ [name]: 'x' }), name],
  ),
  [subscribe({ DEX: 'xyz' }), 'DEX'],
  [subscribe({ id: 1, n_sig_figs: 5 }), 'n_sig_figs'],
  [subscribe({ speed: 2 }), 'speed'],
  [subscribe({ from_block: 2 }), 'from_block'],
  [{ ...subscribe({ coin: 'ETH', action: 'pause' }), method: 'replay' }, 'coin'],
  [{ method: 'post', id: 7, request: REQUEST, dex: 'xyz' }, 'dex'],
  [{ method: 'post', id: 7, request: { ...REQUEST, user: '0x' } }, 'request.user'],
  [{ method: 'post', id: 7, request: REQUEST, payload: { type: 'meta' } }, 'payload'],
  [{ method: 'ping', Nonce: '' }, 'Nonce'],
])('rejects a field that belongs elsewhere, with an echo that SDKs can parse: %#', (sent, path) => {
  const { data, code } = errorOf(JSON.stringify(sent))
  expect(data).toContain(`: ${JSON.stringify(sent)}: ${path}: `)
  expect([code, echoIn(data)]).toEqual(['invalid_request', sent])
})

// WS-14
test.each(['fromBlock', 'meta', 'replay', 'speed'])('rejects a frame field inside the body: %s', (name) => {
  expect(refusedAt({ ...SUBSCRIPTION, [name]: 1 })).toBe(name)
})

test('knows the misplaced info fields of a post', () => {
  const fields = CATALOGUE.flatMap(({ request }) => Object.keys(shapeAt(request, undefined, [])))
  // `id` is a field of the frame, and `type` has no meaning there.
  expect([...new Set(fields)].filter((name) => !['type', 'id'].includes(name)).sort()).toEqual([...INFO_FIELDS].sort())
})

// WS-6, WS-7
test.each([
  ['nonsense', 'frame', 'invalid_json'],
  ['[]', 'frame', 'invalid_json'],
  [`${'['.repeat(40)}${']'.repeat(40)}`, 'frame', 'invalid_json'],
  ['{"method":"hello"}', 'method', 'invalid_request'],
  ['{"op":"subscribe"}', 'method', 'invalid_request'],
  ['{"method":"subscribe"}', 'subscription', 'invalid_request'],
  ['{"method":"subscribe","subscription":"BTC"}', 'subscription', 'invalid_request'],
  ['{"method":"subscribe","subscription":{"type":"x"},"fromBlock":-1}', 'fromBlock', 'invalid_request'],
  ['{"method":"post","request":{"type":"info"}}', 'id', 'invalid_request'],
])('rejects a frame that is not a request: %#', (text, path, code) => {
  const error = errorOf(text)
  expect(error).toMatchObject({ channel: 'error', code })
  expect(error.data).toMatch(/^Error parsing JSON into valid websocket request: /)
  expect(error.data).toContain(`${path}: `)
  expect(error.data.length).toBeLessThan(500)
})

// WS-6
test('measures frames in bytes', () => {
  expect(isTooLarge('x'.repeat(UP_FRAME_MAX_BYTES))).toBe(false)
  expect(isTooLarge('x'.repeat(UP_FRAME_MAX_BYTES + 1))).toBe(true)
  expect(isTooLarge('é'.repeat(UP_FRAME_MAX_BYTES / 2))).toBe(false)
  expect(isTooLarge('é'.repeat(UP_FRAME_MAX_BYTES / 2 + 1))).toBe(true)
  expect(isTooLarge(new ArrayBuffer(UP_FRAME_MAX_BYTES + 1))).toBe(true)
})

// WS-7
test.each([10, 3_900, 5_000, 60_000])('echoes completely or not at all: %i characters', (length) => {
  const subscription = { type: 'userFills', users: ['x'.repeat(length)] }
  const post = { method: 'post', id: 7, request: { payload: subscription } }
  const isEchoed = length < 4_096 - 100
  expect(echoIn(errorOf(JSON.stringify(post)).data)).toEqual(isEchoed ? post : null)
  if (!isEchoed) expect(errorOf(JSON.stringify(post)).data).toMatch(/: request.type: .*: id=7$/)
  expect(echoIn(errorOf(JSON.stringify({ method: 'subscrib', subscription })).data)).toEqual(
    isEchoed ? { method: 'subscrib', subscription } : null,
  )
  const echo = JSON.stringify(subscription)
  for (const frame of [invalidSubscription(echo, 'users.0: …'), alreadySubscribed(echo), alreadyUnsubscribed(echo)])
    expect(echoIn((JSON.parse(frame) as { data: string }).data)).toEqual(isEchoed ? subscription : null)
})

const replayOf = (replay: object) => JSON.stringify({ method: 'subscribe', subscription: { type: 'trades' }, replay })
const steer = (fields: object) => JSON.stringify({ method: 'replay', subscription: { type: 'trades' }, ...fields })

// WS-155, WS-156
test.each([
  replayOf({ fromTime: 0 }),
  replayOf({ fromBlock: 7, toBlock: 7, speed: 300 }),
  replayOf({ fromTime: 7, toTime: 8, speed: 1.5 }),
  replayOf({ fromTime: 7, toBlock: 8, speed: 'max' }),
  steer({ action: 'pause' }),
  steer({ action: 'resume' }),
  steer({ action: 'seek', fromBlock: 9 }),
])('accepts a replay as sent: %s', (text) => {
  expect(accepted(text)).toEqual({ frame: JSON.parse(text), ignored: null })
})

// WS-155, WS-156
test.each([
  [replayOf({}), 'replay.fromTime'],
  [replayOf({ fromTime: 1, fromBlock: 1 }), 'replay.fromTime'],
  [replayOf({ fromTime: 1, toTime: 2, toBlock: 3 }), 'replay.toTime'],
  [replayOf({ fromTime: 2, toTime: 1 }), 'replay.toTime'],
  [replayOf({ fromBlock: 2, toBlock: 1 }), 'replay.toBlock'],
  [replayOf({ fromTime: -1 }), 'replay.fromTime'],
  [replayOf({ fromBlock: 1, speed: 0 }), 'replay.speed'],
  [replayOf({ fromBlock: 1, speed: 301 }), 'replay.speed'],
  [replayOf({ fromBlock: 1, until: 5 }), 'replay.until'],
  [steer({ action: 'stop' }), 'action'],
  [steer({ action: 'seek' }), 'fromTime'],
  [steer({ action: 'pause', fromBlock: 3 }), 'fromBlock'],
  [JSON.stringify({ method: 'replay', action: 'pause' }), 'subscription'],
])('names the field of an invalid replay: %#', (text, path) => {
  const { data, code } = errorOf(text)
  expect([code, data.includes(`: ${path}: `)]).toEqual(['invalid_request', true])
})
