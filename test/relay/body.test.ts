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

function refusalOf(body: { type: string } & Record<string, unknown>): string {
  const parsed = readBody(body)
  return parsed.ok ? 'accepted' : `${parsed.error.path}: ${parsed.error.message}`
}

// WS-15
test('each alias of addresses is accepted alone, in mixed case, and matched in lower case', () => {
  for (const form of [{ addresses: [MIXED] }, { users: [MIXED, MIXED.toLowerCase()] }, { user: MIXED }]) {
    const parsed = readBody({ type: 'userFills', ...form })
    expect(parsed).toMatchObject({ ok: true, value: { body: { names: [MIXED.toLowerCase()], aggregate: false } } })
  }
})

// WS-15
test('1,000 addresses are accepted, 1,001 are refused by name', () => {
  const addresses = Array.from({ length: 1001 }, (_, i) => address(i))
  expect(refusalOf({ type: 'userFills', addresses: addresses.slice(1) })).toBe('accepted')
  expect(refusalOf({ type: 'userFills', addresses })).toMatch(/^addresses: /)
  expect(refusalOf({ type: 'userNonFundingLedgerUpdates', users: addresses })).toMatch(/^users: /)
})

// WS-14, WS-16
test.each([
  [{ type: 'userFills' }, /^addresses: send exactly one of/],
  [{ type: 'userFills', user: MIXED, users: [MIXED] }, /^addresses: send exactly one of/],
  [{ type: 'userFills', user: '0x12' }, /^user: must be 0x and 40 hex digits/],
  [{ type: 'userFills', addresses: ['0x12'] }, /^addresses.0: must be 0x and 40 hex digits/],
  [{ type: 'userFills', user: MIXED, aggregateByTime: 'yes' }, /^aggregateByTime: /],
  [{ type: 'userFills', adresses: [MIXED] }, /^adresses: unknown field; did you mean "addresses" \(an array\)\?$/],
  [{ type: 'userFills', wallet: MIXED }, /^wallet: unknown field; did you mean "user" \(a string\)\?$/],
  [
    { type: 'l2BookDiff', coins: ['BTC'] },
    /^coins: unknown field; did you mean "coin" \(a coin or a list of coins\)\?$/,
  ],
  [{ type: 'l2BookDiff', limit: 1 }, /^limit: unknown field; the fields are type, coin, marketTypes$/],
  [{ type: 'trades', symbol: 'BTC' }, /^coin: is required \(you sent "symbol"\)$/],
  [{ type: 'l2BookDif', coin: 'BTC' }, /^type: unknown subscription type: use one of .*; did you mean "l2BookDiff"\?$/],
  [{ type: 'fills' }, /^type: .*; did you mean "userFills"\?$/],
  [{ type: 'allFills', '': 1 }, /^subscription: unknown field/],
  [{ type: 'l2BookDiff', coin: [] }, /^coin: must name at least one coin/],
  [{ type: 'l2BookDiff', coin: ['BTC', 'BTC'] }, /^coin: names a coin twice/],
  [{ type: 'l2BookDiff', coin: ['BTC', 'E TH'] }, /^coin.1: must be printable/],
  [{ type: 'l2BookDiff', coin: null }, /^coin: must be a coin or a list/],
  [{ type: 'l2BookDiff', coin: 'BTC', marketTypes: ['perp'] }, /^marketTypes: valid only when coin is omitted/],
  [
    { type: 'l2BookDiff', marketTypes: ['perps'] },
    /^marketTypes.0: must be one of perp, spot, outcome, \* \(did you mean "perp"\?\)$/,
  ],
  [{ type: 'l2BookDiff', marketTypes: [] }, /^marketTypes: must name at least one/],
  [{ type: 'allFills', coin: ['BTC'] }, /^coin: /],
  [{ type: 'explorerTxs' }, /^type: unknown subscription type: use one of userFills/],
  [{ type: 'trades' }, /^coin: is required/],
  [{ type: 'candle', coin: 'BTC', interval: '7m' }, /^interval: must be one of 1m, 3m/],
  [{ type: 'l2Book', coin: 'BTC', mantissa: 2 }, /^mantissa: is allowed only with nSigFigs 5/],
  [{ type: 'l2Book', coin: 'BTC', nSigFigs: 6 }, /^nSigFigs: must be 2, 3, 4 or 5/],
  [{ type: 'l2Book', coin: 'BTC', marketTypes: ['perp'] }, /^marketTypes: valid only when coin is omitted/],
  [{ type: 'constructor' }, /^type: unknown subscription type/],
])('a wrong body names field and fix: %j', (body, expected) => {
  expect(refusalOf(body)).toMatch(expected)
})

// WS-16
test('book bodies: one coin, a list, wildcards with their market types', () => {
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
test('identity is the exact JSON value: key order is nothing, everything else counts', () => {
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

test('frames are accepted as sent', () => {
  expect(accepted('{"method":"ping"}')).toEqual({ frame: { method: 'ping' }, ignored: null })
  const { frame } = accepted('{"subscription":{"coin":"BTC","type":"allFills"},"method":"subscribe","meta":true}')
  if (frame.method !== 'subscribe') throw new Error('another frame')
  expect(JSON.stringify(frame.subscription)).toBe('{"coin":"BTC","type":"allFills"}')
})

/** What SDKs take for the echo of what they sent: they parse it unguarded. */
const echoIn = (text: string) => JSON.parse(text.match(/{.*}/)?.[0] ?? 'null') as unknown

const SUBSCRIPTION = { type: 'trades', coin: 'BTC' }
const REQUEST = { type: 'info', payload: { type: 'meta' } }

// WS-7
test.each([
  [
    { method: 'subscribe', subscription: SUBSCRIPTION, foo: 1 },
    'Unknown fields of a subscribe frame were ignored: "foo". ',
  ],
  [{ method: 'subscribe', subscription: SUBSCRIPTION, id: 1, type: 'trades' }, 'ignored: "id", "type". '],
  [{ method: 'subscribe', subscription: SUBSCRIPTION, fromBlok: 7 }, '"fromBlok" (did you mean "fromBlock"?). '],
  [{ method: 'unsubscribe', subscription: SUBSCRIPTION, meta: true }, 'an unsubscribe frame were ignored: "meta". '],
  [{ method: 'ping', id: 7 }, 'a ping frame were ignored: "id". '],
  [
    { method: 'post', id: 7, request: { ...REQUEST, tag: 1 }, tag: 2 },
    'a post frame were ignored: "tag", "request.tag". ',
  ],
  [{ method: 'replay', action: 'pause', subscription: SUBSCRIPTION, id: 1 }, 'a replay frame were ignored: "id". '],
])('an unknown field that means nothing elsewhere is ignored, and named: %#', (sent, text) => {
  const { ignored } = accepted(JSON.stringify(sent))
  expect(ignored).toContain(text)
})

// WS-7
test('of many unknown fields a few are named, and of each the beginning', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'x'.repeat(100)}${i}`, i]))
  const { ignored } = accepted(JSON.stringify({ method: 'subscribe', subscription: SUBSCRIPTION, ...many }))
  expect(ignored!.length).toBeLessThan(16 * 70 + 100)
  expect(accepted('{"method":"ping","__proto__":1}').ignored).toContain('"__proto__"')
})

const subscribe = (beside: object) => ({ method: 'subscribe', subscription: SUBSCRIPTION, ...beside })
const HERE = 'does not belong here: send it as '
// WS-7
test.each<[object, string]>([
  ...['coin', 'dex', 'user', 'users', 'addresses', 'interval', 'marketTypes', 'nSigFigs', 'mantissa', 'builder'].map(
    (name) => [subscribe({ [name]: 'x' }), `${name}: ${HERE}"${name}" inside "subscription"`] as [object, string],
  ),
  [subscribe({ DEX: 'xyz' }), `DEX: ${HERE}"dex" inside "subscription"`],
  [subscribe({ id: 1, n_sig_figs: 5 }), `n_sig_figs: ${HERE}"nSigFigs" inside "subscription"`],
  [subscribe({ speed: 2 }), `speed: ${HERE}"speed" inside "replay"`],
  [subscribe({ fromTime: 2 }), `fromTime: ${HERE}"fromTime" inside "replay"`],
  [subscribe({ from_block: 2 }), 'from_block: unknown field; did you mean "fromBlock"?'],
  [{ ...subscribe({ dex: 'xyz' }), method: 'unsubscribe' }, `dex: ${HERE}"dex" inside "subscription"`],
  [{ ...subscribe({ coin: 'ETH', action: 'pause' }), method: 'replay' }, `coin: ${HERE}"coin" inside "subscription"`],
  [{ method: 'post', id: 7, request: REQUEST, dex: 'xyz' }, `dex: ${HERE}"dex" inside "request.payload"`],
  [
    { method: 'post', id: 7, request: { ...REQUEST, user: '0x' } },
    `request.user: ${HERE}"user" inside "request.payload"`,
  ],
  [
    { method: 'post', id: 7, request: REQUEST, payload: { type: 'meta' } },
    `payload: ${HERE}"payload" inside "request"`,
  ],
  [{ method: 'ping', Nonce: '' }, 'Nonce: unknown field; did you mean "nonce"?'],
])('a field that belongs elsewhere is refused with its place, as an echo that SDKs can read: %#', (sent, reason) => {
  const { data, code } = errorOf(JSON.stringify(sent))
  expect([data, code]).toEqual([
    `Error parsing JSON into valid websocket request: ${JSON.stringify(sent)}: ${reason}`,
    'invalid_request',
  ])
  expect(echoIn(data)).toEqual(sent)
})

// WS-14
test.each([
  ['fromBlock', 'beside "subscription"'],
  ['meta', 'beside "subscription"'],
  ['replay', 'beside "subscription"'],
  ['speed', 'inside "replay", which stands beside "subscription"'],
])('a field of the frame inside the body is refused with its place: %s', (name, place) => {
  expect(refusalOf({ ...SUBSCRIPTION, [name]: 1 })).toBe(`${name}: does not belong here: send it ${place}`)
})

test('fields of info requests that a post may misplace are those that requests have', () => {
  const fields = CATALOGUE.flatMap(({ request }) => Object.keys(shapeAt(request, undefined, [])))
  // `id` is a field of the frame, and `type` says nothing there.
  expect([...new Set(fields)].filter((name) => !['type', 'id'].includes(name)).sort()).toEqual([...INFO_FIELDS].sort())
})

// WS-6, WS-7
test.each([
  ['nonsense', /: nonsense: frame: not valid JSON$/, 'invalid_json'],
  ['[]', /frame: /, 'invalid_json'],
  ['{"method":"hello"}', /method: must be subscribe, unsubscribe, ping, post or replay$/, 'invalid_request'],
  ['{"method":"subscribe"}', /subscription: must be an object with a "type"$/, 'invalid_request'],
  ['{"method":"subscribe","subscripton":{}}', /"type" \(you sent "subscripton"\)$/, 'invalid_request'],
  ['{"method":"Subscribe"}', /method: must be .* or replay \(did you mean "subscribe"\?\)$/, 'invalid_request'],
  ['{"op":"subscribe"}', /method: must be subscribe, unsubscribe, ping, post or replay$/, 'invalid_request'],
  ['{"method":"subscribe","subscription":"BTC"}', /subscription: must be an object/, 'invalid_request'],
  ['{"method":"subscribe","subscription":{"type":"x"},"fromBlock":-1}', /fromBlock: /, 'invalid_request'],
  ['{"method":"post","request":{"type":"info"}}', /id: /, 'invalid_request'],
  [`${'['.repeat(40)}${']'.repeat(40)}`, /frame: nested deeper than 32$/, 'invalid_json'],
])('a frame that is no request is refused in the public words: %#', (text, expected, code) => {
  const error = errorOf(text)
  expect(error.channel).toBe('error')
  expect(error.data).toMatch(/^Error parsing JSON into valid websocket request: /)
  expect(error.data).toMatch(expected)
  expect(error.code).toBe(code)
  expect(error.data.length).toBeLessThan(500)
})

// WS-6
test('a frame is measured in bytes, whatever it is made of', () => {
  expect(isTooLarge('x'.repeat(UP_FRAME_MAX_BYTES))).toBe(false)
  expect(isTooLarge('x'.repeat(UP_FRAME_MAX_BYTES + 1))).toBe(true)
  expect(isTooLarge('é'.repeat(UP_FRAME_MAX_BYTES / 2))).toBe(false)
  expect(isTooLarge('é'.repeat(UP_FRAME_MAX_BYTES / 2 + 1))).toBe(true)
  expect(isTooLarge(new ArrayBuffer(UP_FRAME_MAX_BYTES + 1))).toBe(true)
})

// WS-7
test.each([10, 3_900, 5_000, 60_000])('an echo is whole or left out: %i characters', (length) => {
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
])('a replay is taken as it was sent: %s', (text) => {
  expect(accepted(text)).toEqual({ frame: JSON.parse(text), ignored: null })
})

// WS-155, WS-156
test.each([
  [replayOf({}), /replay\.fromTime: send exactly one of fromTime \(Unix milliseconds\) and fromBlock/],
  [replayOf({ fromTime: 1, fromBlock: 1 }), /replay\.fromTime: send exactly one/],
  [
    replayOf({ fromTime: 1, toTime: 2, toBlock: 3 }),
    /replay\.toTime: send toTime or toBlock, or neither to join live$/,
  ],
  [replayOf({ fromTime: 2, toTime: 1 }), /replay\.toTime: must not lie before fromTime$/],
  [replayOf({ fromBlock: 2, toBlock: 1 }), /replay\.toBlock: must not lie before fromBlock$/],
  [replayOf({ fromTime: -1 }), /replay\.fromTime: must be at least 0$/],
  [replayOf({ fromBlock: 1.5 }), /replay\.fromBlock: must be an integer$/],
  [replayOf({ fromBlock: 1, speed: 0 }), /replay\.speed: must be 1 to 300, or "max"/],
  [replayOf({ fromBlock: 1, speed: 301 }), /replay\.speed: must be 1 to 300, or "max"/],
  [replayOf({ fromBlock: 1, speed: 'fast' }), /replay\.speed: must be 1 to 300, or "max"/],
  [replayOf({ fromBlock: 1, until: 5 }), /replay\.until: unknown field/],
  [replayOf({ fromBlock: 1, totime: 5 }), /replay\.totime: unknown field; did you mean "toTime"/],
  [steer({ action: 'stop' }), /action: must be "pause" or "resume" or "seek"/],
  [steer({ action: 'seek' }), /fromTime: send exactly one of fromTime/],
  [steer({ action: 'pause', fromBlock: 3 }), /fromBlock: valid only with action "seek": leave it out$/],
  [JSON.stringify({ method: 'replay', action: 'pause' }), /subscription: must be an object with a "type"$/],
])('a wrong replay is refused, and the field and the fix are named: %#', (text, expected) => {
  expect(errorOf(text)).toMatchObject({ data: expect.stringMatching(expected), code: 'invalid_request' })
})
