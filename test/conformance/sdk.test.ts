// A third party's SDK, unmodified, against the gateway: every info method that it has for a type we serve, over HTTP
// and over a socket's `post`. It refuses answers that are not JSON; their shapes are held to our published schemas.

import { join } from 'node:path'
import { HttpTransport, InfoClient, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { CATALOGUE, queryOf } from '../../src/info/catalogue.ts'
import { CHANNELS, channelOf } from '../../src/stream/catalogue.ts'
import { type Program, run, scratch } from './children.ts'
import { Socket } from './socket.ts'
import { FEED_TOKEN, startWorld, type World } from './world.ts'

const folder = scratch()
let world: World
let devnet: Program
let feeder: Program
let key: string
let user: string
let oid: number
let tokenId: string

beforeAll(async () => {
  devnet = run('devnet/main.node.ts', ['--data', join(folder.path, 'node'), '--port', '0', '--json'])
  const { url } = JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }
  world = await startWorld({ upstream: `${url}/info` })
  key = await world.newKey('100000')
  const to = ['--data', join(folder.path, 'node'), '--info', url, '--gateway', world.url]
  feeder = run('feeder/main.node.ts', to, { FEED_TOKEN })
  const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
  socket.send({ method: 'subscribe', subscription: { type: 'allFills' } })
  const { fills } = (await socket.channel('allFills', 30_000)) as unknown as { fills: [string, { oid: number }][] }
  user = fills[0]![0]
  oid = fills[0]![1].oid
  const { tokens } = (await (await world.info(key, { type: 'spotMeta' })).json()) as { tokens: { tokenId: string }[] }
  tokenId = tokens[1]!.tokenId
  socket.close()
  // Fills may be there a moment before the hubs have their books.
  await vi.waitFor(async () => expect((await world.info(key, { type: 'allMids' })).status).toBe(200), {
    timeout: 20_000,
    interval: 100,
  })
})
afterAll(async () => {
  await feeder?.end()
  await devnet?.end()
  await world?.stop()
  folder.remove()
})

/** What a method needs beside `user`, which every method may be given that asks for it. */
const PARAMETERS: Readonly<Record<string, () => object>> = {
  activeAssetData: () => ({ user, coin: 'BTC' }),
  borrowLendReserveState: () => ({ token: 0 }),
  candleSnapshot: () => ({ coin: 'BTC', interval: '1m', startTime: 0 }),
  fundingHistory: () => ({ coin: 'BTC', startTime: 0 }),
  l2Book: () => ({ coin: 'BTC', nSigFigs: null, mantissa: null }),
  marginTable: () => ({ id: 20 }),
  maxBuilderFee: () => ({ user, builder: user }),
  orderStatus: () => ({ user, oid }),
  perpAnnotation: () => ({ coin: 'xyz:GOLD' }),
  perpDexLimits: () => ({ dex: 'xyz' }),
  perpDexStatus: () => ({ dex: '' }),
  preTransferCheck: () => ({ user, source: user }),
  recentTrades: () => ({ coin: 'BTC' }),
  settledOutcome: () => ({ outcome: 0 }),
  tokenDetails: () => ({ tokenId }),
  userBorrowLendInterest: () => ({ user, startTime: 0 }),
  userFillsByTime: () => ({ user, startTime: 0 }),
  userNonFundingLedgerUpdates: () => ({ user, startTime: 0 }),
  userTwapSliceFillsByTime: () => ({ user, startTime: 0 }),
  vaultDetails: () => ({ vaultAddress: user }),
}

type Subscribe = (...parameters: unknown[]) => Promise<{ unsubscribe(): Promise<void> }>
type Method = (...parameters: object[]) => Promise<unknown>
const methodOf = (client: InfoClient, type: string): Method | undefined => {
  const method = (client as unknown as Record<string, Method | undefined>)[type]
  return method && ((...parameters) => method.call(client, ...parameters))
}
/** None for a method of a type without fields: its first argument is a signal. */
const parametersOf = (type: string): object[] => {
  const isBare = Object.keys(queryOf(type)!.example.request).length === 0
  return isBare ? [] : [PARAMETERS[type]?.() ?? { user }]
}

describe('@nktkas/hyperliquid', () => {
  const types = CATALOGUE.map(({ type }) => type).filter((type) => type in InfoClient.prototype)

  it('has a method for most of our types', () => {
    expect(types.length).toBeGreaterThanOrEqual(70)
  })

  it.each(types)('%s over HTTP', async (type) => {
    const fetchOptions = { headers: { authorization: `Bearer ${key}` } }
    const client = new InfoClient({ transport: new HttpTransport({ apiUrl: world.url, fetchOptions }) })
    const answer = await methodOf(client, type)!(...parametersOf(type))
    queryOf(type)!.response.parse(answer)
  })

  it('and every one over the socket', async () => {
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket
    const transport = new WebSocketTransport({ url: `${world.ws}/ws?key=${key}` })
    await transport.ready()
    const client = new InfoClient({ transport })
    for (const type of types) queryOf(type)!.response.parse(await methodOf(client, type)!(...parametersOf(type)))
    await transport.close()
  })

  it('reads our trades and fills of a user as the public server’s, and survives a refusal of a long body', async () => {
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket
    const transport = new WebSocketTransport({ url: `${world.ws}/ws?key=${key}` })
    await transport.ready()
    const client = new SubscriptionClient({ transport })
    const trade = Promise.withResolvers<unknown>()
    const fills = Promise.withResolvers<{ user: string; fills: object[] }>()
    const trades = await client.trades({ coin: 'BTC' }, trade.resolve)
    const ofUser = await client.userFills({ user: user as `0x${string}` }, fills.resolve)
    channelOf('trades')!.frame.parse({ channel: 'trades', data: await trade.promise })
    const data = await fills.promise
    channelOf('userFills')!.frame.parse({ channel: 'userFills', fills: [], data })
    expect([data.user, data.fills.length > 0]).toEqual([user, true])
    // Cut in the middle, its echo would end the process.
    const long = { type: 'userFills', addresses: ['x'.repeat(20_000)] }
    await expect(
      transport.subscribe('userFills', long, () => {}, { signal: AbortSignal.timeout(2_000) }),
    ).rejects.toThrow()
    await Promise.all([trades.unsubscribe(), ofUser.unsubscribe()])
    await transport.close()
  })

  // WS-141, WS-143, WS-144
  it('gets every state that it can subscribe to', async () => {
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket
    const transport = new WebSocketTransport({ url: `${world.ws}/ws?key=${key}` })
    await transport.ready()
    const client = new SubscriptionClient({ transport }) as unknown as Record<string, Subscribe | undefined>
    const states = CHANNELS.filter(({ source, type }) => source === 'states' && client[type])
    expect(states.length).toBeGreaterThanOrEqual(13)
    for (const { type, example, frame } of states) {
      const body = { ...example.request, ...('user' in example.request ? { user } : {}) }
      const got = Promise.withResolvers<object>()
      const parameters = Object.keys(body).length > 0 ? [body, got.resolve] : [got.resolve]
      const { unsubscribe } = await client[type]!(...parameters)
      // It unpacks what is packed.
      if (type === 'fastAssetCtxs') expect(await got.promise).toMatchObject({ BTC: { markPx: expect.any(String) } })
      else expect(frame.safeParse({ channel: type, data: await got.promise }).error, type).toBe(undefined)
      await unsubscribe()
    }
    await transport.close()
  })
})
