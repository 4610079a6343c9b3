// Stream tokens: issue, verification, tampering, expiry and scope.

import { describe, expect, it } from 'vitest'
import type { Identity, StreamToken } from '../../src/accounts/identity.ts'
import { holderOf, openStreamToken, sealStreamToken } from '../../src/accounts/stream-token.client.ts'
import { infoScopeRefusal, narrowIdentity, TOKEN_CHANNELS, TOKEN_INFO_TYPES } from '../../src/accounts/stream-token.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'
import { limitsOf } from '../../src/metering/plans/plan.ts'
import { CHANNELS, channelOf, readBody } from '../../src/relay/channels/catalogue.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import { tokenFailure } from '../../src/relay/subscriptions/refusals.ts'

const SECRET = 'a key secret of at least 32 characters!'
const KEY = keyHashOf('ab'.repeat(32))
const SAID = {
  keyHash: KEY,
  holder: 'h',
  coins: ['BTC', 'xyz:GOLD'],
  channels: ['trades', 'l2BookDiff2'],
  expires: 1000,
}
const BTC: StreamToken = { holder: 'h', coins: ['BTC'], channels: [...TOKEN_CHANNELS], expires: 1000 }
const ALL: StreamToken = { ...BTC, coins: null }

describe('stream token', () => {
  it('returns its payload on its own gateway until it expires', async () => {
    const token = await sealStreamToken(SAID, SECRET)
    expect(token).toMatch(/^cqe_[\w-]+\.[\w-]{43}$/)
    expect(await openStreamToken(token, SECRET, 999)).toEqual({ ok: true, value: SAID })
    expect(await openStreamToken(token, SECRET, 1000)).toMatchObject({ error: { kind: 'key_expired' } })
    expect(await openStreamToken(token, `${SECRET}.`, 0)).toMatchObject({ error: { kind: 'key_malformed' } })
  })

  it('is rejected with any character changed, removed or added', async () => {
    const token = await sealStreamToken(SAID, SECRET)
    const other = (letter: string) => (letter === 'A' ? 'Q' : 'A')
    const changed = [...token].map((letter, at) => token.slice(0, at) + other(letter) + token.slice(at + 1))
    const forms = [
      ...changed,
      token.slice(0, -1),
      `${token}A`,
      token.replace('.', ''),
      ` ${token}`,
      'cqe_',
      'cqe_.',
      '',
    ]
    // Two bits of the last of 43 characters are unused.
    for (const sent of forms.filter((_, at) => at !== token.length - 1))
      expect(await openStreamToken(sent, SECRET, 0), sent).toMatchObject({ error: { kind: 'key_malformed' } })
  })

  it('is rejected with a longer lifetime, more coins or another key under the old signature', async () => {
    const token = await sealStreamToken(SAID, SECRET)
    const mac = token.slice(token.indexOf('.'))
    for (const more of [
      { expires: 9e15 },
      { coins: null },
      { keyHash: keyHashOf('cd'.repeat(32)) },
      { holder: 'other' },
    ]) {
      const forged = `cqe_${Buffer.from(JSON.stringify({ v: 1, ...SAID, ...more })).toString('base64url')}${mac}`
      expect(await openStreamToken(forged, SECRET, 0)).toMatchObject({ ok: false })
    }
  })

  it('identifies a visitor consistently without revealing the address', async () => {
    const holder = await holderOf('192.0.2.7', SECRET)
    expect(holder).toMatch(/^[\w-]{16}$/)
    expect(await holderOf('192.0.2.7', SECRET)).toBe(holder)
    expect(await holderOf('192.0.2.8', SECRET)).not.toBe(holder)
    expect(await holderOf('192.0.2.7', `${SECRET}.`)).not.toBe(holder)
  })
})

describe('token scope', () => {
  it('contains only existing channels and types, and none about a wallet', () => {
    for (const type of TOKEN_CHANNELS) {
      const channel = channelOf(type)!
      expect(channel, type).toBeDefined()
      expect(JSON.stringify(channel.example.request)).not.toMatch(/user|address/)
    }
    for (const type of TOKEN_INFO_TYPES) expect(queryOf(type), type).toBeDefined()
  })

  const ask = (token: StreamToken, request: { readonly type: string; readonly [field: string]: unknown }) =>
    infoScopeRefusal(token, queryOf(request.type)!.request.parse(request) as typeof request)

  it('allows requests for its coins', () => {
    const candles = (coin: string) => ({ type: 'candleSnapshot', req: { coin, interval: '1m', startTime: 1 } })
    for (const coin of ['BTC', 'ETH', 'btc', 'BTC/USDC', '__proto__']) {
      const outside = coin === 'BTC' ? null : { kind: 'not_entitled', why: expect.stringContaining('only for BTC') }
      for (const type of ['l2BookDiffSnapshot', 'l2Book', 'recentTrades']) {
        expect(ask(BTC, { type, coin }), `${type} ${coin}`).toEqual(outside)
        expect(ask(ALL, { type, coin })).toBeNull()
      }
      expect(ask(BTC, candles(coin))).toEqual(outside)
    }
    for (const type of ['allMids', 'metaAndAssetCtxs', 'spotMetaAndAssetCtxs']) {
      expect(ask(BTC, { type }), type).toMatchObject({ kind: 'not_entitled' })
      expect(ask(ALL, { type })).toBeNull()
    }
    expect(ask(BTC, { type: 'meta' })).toBeNull()
    for (const past of [{ block_height: 5 }, { time: 0 }])
      expect(ask(ALL, { type: 'l2BookDiffSnapshot', coin: 'BTC', ...past })).toMatchObject({ kind: 'not_entitled' })
  })

  it('rejects other requests', () => {
    const user = `0x${'a'.repeat(40)}`
    for (const type of ['userFills', 'clearinghouseState', 'openOrders', 'userRateLimit'])
      expect(ask(ALL, { type, user }), type).toMatchObject({ kind: 'not_entitled' })
  })

  const want = (token: StreamToken | undefined, body: { readonly type: string }, replay?: object) => {
    const identity = identityOf({})
    const read = readBody(body)
    expect(read.ok, JSON.stringify(body)).toBe(true)
    if (!read.ok) return null
    return tokenFailure({ identity: token ? narrowIdentity(identity, token) : identity }, read.value, replay as never)
  }
  const frame = (replay?: object) => ({ replay }) as object

  it('allows subscriptions to its coins and channels', () => {
    for (const { type, example } of CHANNELS) {
      const body = { type, ...example.request }
      expect(want(undefined, body, frame()), type).toBeNull()
      const isOf = (TOKEN_CHANNELS as readonly string[]).includes(type)
      expect(want(ALL, body, frame()) === null, type).toBe(isOf)
    }
    for (const body of [
      { type: 'trades', coin: 'ETH' },
      { type: 'candle', coin: 'ETH', interval: '1m' },
      { type: 'l2BookDiff2', coin: ['BTC', 'ETH'] },
      { type: 'l2BookDiff2', marketTypes: ['*'] },
      { type: 'l2BookDiff2' },
      { type: 'bbo', coin: 'ETH' },
      { type: 'l2Book', coin: 'ETH' },
      { type: 'activeAssetCtx', coin: 'ETH' },
      { type: 'assetCtxs', dex: '' },
      { type: 'allMids' },
    ])
      expect(want(BTC, body, frame()), JSON.stringify(body)).toMatchObject({ kind: 'not_entitled' })
    expect(want(BTC, { type: 'l2BookDiff2', coin: 'BTC' } as never, frame())).toBeNull()
    expect(want({ ...BTC, channels: ['bbo'] }, { type: 'trades', coin: 'BTC' } as never, frame())).toMatchObject({
      why: expect.stringContaining('bbo'),
    })
  })

  it('limits the replay speed', () => {
    const play = (speed: unknown) => want(BTC, { type: 'trades', coin: 'BTC' } as never, frame({ fromTime: 1, speed }))
    expect([play(undefined), play(60)]).toEqual([null, null])
    for (const speed of [61, 300, 'max']) expect(play(speed)).toMatchObject({ kind: 'bad_field' })
  })

  const identityOf = (more: Partial<Identity>): Identity => {
    return { v: 1, account: 'a', keyHash: KEY, kind: 'api', plan: 'entry', products: ['stream'], ...more }
  }
  const connected = (identity: Identity) =>
    new Connection(
      'c',
      { identity: narrowIdentity(identity, BTC), terms: 0 },
      { send: () => {}, close: () => {} },
      { nowMs: 0 },
      () => {},
    )

  it("survives a change of its account's terms", () => {
    const connection = connected(identityOf({ products: ['info', 'rpc'] }))
    connection.renew(identityOf({ plan: 'pro', products: ['info', 'stream', 'data'] }), 1)
    expect(connection.identity).toMatchObject({ plan: 'pro', products: ['info', 'stream'], token: BTC })
  })

  it('has the visitor rate even if its account allows more', () => {
    const of = (streamMessagesPerMinute: number) =>
      identityOf({ limits: { ...limitsOf({ plan: 'entry' }), streamMessagesPerMinute } })
    const connection = connected(of(100))
    connection.renew(of(2_000), 1)
    const admitted = Array.from({ length: 500 }, () => connection.admit()).filter((answer) => answer === 'yes')
    expect(admitted).toHaveLength(240)
  })
})
