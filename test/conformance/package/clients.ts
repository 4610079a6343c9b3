// Four unmodified public SDKs against one gateway on the simulated exchange: their POST /info requests, and a frame of
// every common channel. New channels are included automatically.

import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { queryOf } from '../../../src/info/queries/catalogue.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { type Cast, failuresOf, isServed } from '../../clients/cast.ts'
import { callCcxt, fetchesOf, openCcxt, PERP, WATCHES } from '../../clients/ccxt.ts'
import { asyncApiPython, missingForAsyncApi, missingForOpenApi, openApiPython } from '../../clients/generated-python.ts'
import { generatedClients } from '../../clients/generators.ts'
import { installAsyncApi, installClients } from '../../clients/install.ts'
import {
  askNktkas,
  channelOfNktkas,
  exactly,
  framesOf,
  infoTypes,
  openNktkas,
  typeErrors,
} from '../../clients/nktkas.ts'
import { askNpm, DEAF, INFO, openNpm, SUBSCRIPTIONS, watchNpm } from '../../clients/npm-hyperliquid.ts'
import { CHANNELS_OF_PYTHON, missingPython, pythonFailures } from '../../clients/python.ts'
import { asyncApiFaults, openApiFaults } from '../../clients/validators.ts'
import type { World } from '../../kit/gateway.ts'
import { Socket } from '../../kit/socket.ts'
import { exchange } from './exchange.ts'

let world: World
let cast: Cast
let key: string
/** The published descriptions of the API, by path. */
const descriptions: Record<string, string> = {}
const OPENAPI = [
  '/openapi.json',
  '/openapi-3.0.json',
  '/openapi/info/l2Book.json',
  '/openapi/info/metaAndAssetCtxs.json',
]

const missingOfNpm = installClients()
const missingOfPython = missingPython()
const missingOfOpenApi = missingOfNpm ?? missingForOpenApi()
const missingOfAsyncApi = installAsyncApi()
/** Says what cannot be run: where tests are skipped, nobody shows their names. */
function tell(name: string, missing: string | null, channels: readonly string[]): void {
  const unserved = [...new Set(channels)].filter((channel) => !isServed(channel))
  if (missing !== null) console.log(`${name} is skipped: ${missing}`)
  else if (unserved.length > 0) console.log(`${name} has channels that are not served: ${unserved.join(', ')}`)
}

tell('@nktkas/hyperliquid', missingOfNpm, [])
tell(
  'ccxt',
  missingOfNpm,
  WATCHES.map(([channel]) => channel),
)
tell(
  'npm hyperliquid',
  missingOfNpm,
  Object.values(SUBSCRIPTIONS).map(([channel]) => channel),
)
tell('the public Python SDK', missingOfPython, CHANNELS_OF_PYTHON)
tell('the client of OpenAPI Generator', missingOfOpenApi, [])
tell('the client of AsyncAPI Generator', missingOfAsyncApi ?? missingForAsyncApi(), [])

beforeAll(async () => {
  world = exchange.gateway
  key = exchange.key
  cast = await whoTrades()
  // Not between the validators: they hold this thread for seconds, in which the gateway closes idle connections.
  for (const path of [...OPENAPI, '/asyncapi.json']) descriptions[path] = await (await fetch(world.url + path)).text()
})

async function whoTrades(): Promise<Cast> {
  const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
  await socket.subscribe({ type: 'allFills' })
  const fills = () => socket.frames.flatMap((frame) => (frame.fills ?? []) as UserFill[])
  const taken = () => fills().filter(([, { crossed }]) => crossed)
  const takers = () => [...new Set(taken().map(([user]) => user))]
  const rested = () => fills().find(([, { crossed, coin }]) => !crossed && coin === 'BTC')
  await vi.waitFor(() => expect([takers().length >= 10, rested()]).toEqual([true, expect.anything()]), {
    timeout: 30_000,
    interval: 100,
  })
  socket.close()
  const ask = async (type: string) => (await world.info(key, { type })).json()
  const { tokens, universe } = (await ask('spotMeta')) as {
    tokens: { tokenId: string }[]
    universe: { name: string }[]
  }
  const [{ vaultAddress }] = (await ask('vaultSummaries')) as [{ vaultAddress: string }]
  return {
    url: `${world.url}/k/${key}`,
    maker: rested()![0],
    takers: takers().slice(0, 10),
    oid: taken()[0]![1].oid,
    vault: vaultAddress,
    tokenId: tokens[1]!.tokenId,
    spotCoin: universe[0]!.name,
  }
}

/** Answers that the types of @nktkas/hyperliquid do not allow, with what stands in the compiler's words, and why they stay. */
const UNTYPED = [
  // A `cloid` that is null, as the specification says.
  ['info.OpenOrdersResponse', ''],
  // Main net on 2026-10-06 says on each asset of a builder's DEX what it said of the whole DEX before, in two new fields;
  // `perpDexs` has lost both, and has `assetToFundingClamp`.
  [exactly('info.AllPerpMetasResponse'), 'lastFeeScaleChangeTime'],
  ['info.PerpDexsResponse', 'deployerFeeScale'],
  [exactly('info.PerpDexsResponse'), 'assetToFundingClamp'],
  // Main net on 2026-10-06: outcomes of a deployer have a `venue` and a fee scale, and the whole has `deployers` and `feeScale`.
  [exactly('info.OutcomeMetaResponse'), 'venue'],
  [exactly('info.SettledOutcomeResponse'), 'venue'],
  // Main and test net on 2026-09-15: hints `uInt`, `uDecimal` and `shortString`.
  ['info.OutcomeTemplatesResponse', 'uDecimal'],
  [exactly('info.OutcomeTemplatesResponse'), 'uDecimal'],
] as const

describe.skipIf(missingOfNpm !== null)('@nktkas/hyperliquid', () => {
  const typed = (values: readonly (readonly [string, unknown])[], group: string, kind: string) =>
    values.map(([name, value]) => [`${group}.${name[0]!.toUpperCase()}${name.slice(1)}${kind}`, value] as const)

  it('requests every served type over HTTP and a socket, with valid types', async () => {
    const sdk = await openNktkas(cast)
    const types = infoTypes(sdk)
    expect(types.length).toBeGreaterThanOrEqual(70)
    const answers = new Map<string, unknown>()
    const runs = types.flatMap((type) => [
      [type, async () => answers.set(type, await askNktkas(sdk, sdk.http, type, cast))] as const,
      [`${type} over the socket`, () => askNktkas(sdk, sdk.transport, type, cast)] as const,
    ])
    for (const each of runs) expect(await failuresOf(Object.fromEntries([each]))).toEqual({})
    const values = typed([...answers], 'info', 'Response')
    // What is listed is the same for everybody; other answers hold rows of whoever trades just now.
    const isListing = ([type]: readonly [string, unknown]) => !('user' in queryOf(type)!.example.request)
    const listings = typed([...answers].filter(isListing), 'info', 'Response')
    const errors = await typeErrors([...values, ...listings.map(([type, value]) => [exactly(type), value] as const)])
    expect(errors).toEqual(Object.fromEntries(UNTYPED.map(([type, said]) => [type, expect.stringContaining(said)])))
    await sdk.transport.close()
  })

  it('gets frames of every channel with valid types', async () => {
    const sdk = await openNktkas(cast)
    const frames = new Map<string, readonly unknown[]>()
    // Nothing becomes of the outcomes of the simulated exchange.
    const silent = 'outcomeMetaUpdates'
    const channels = sdk.channels.filter((name) => name !== silent && isServed(channelOfNktkas(name)))
    tell('@nktkas/hyperliquid', null, sdk.channels.map(channelOfNktkas))
    const runs = channels.map((name) => [name, async () => frames.set(name, await framesOf(sdk, name, cast))] as const)
    expect(await failuresOf(Object.fromEntries(runs))).toEqual({})
    const came = [...frames].flatMap(([name, each]) => each.map((frame) => [name, frame] as const))
    // An `isSnapshot` that is false, as the specification says.
    const otherwise = { 'subscription.UserNonFundingLedgerUpdatesEvent': expect.any(String) }
    expect(await typeErrors(typed(came, 'subscription', 'Event'))).toEqual(otherwise)
    await sdk.transport.close()
  })

  it('survives the rejection of a long body', async () => {
    const { transport } = await openNktkas(cast)
    // Cut in the middle, its echo would end the process.
    const long = { type: 'userFills', addresses: ['x'.repeat(20_000)] }
    const signal = AbortSignal.timeout(2_000)
    await expect(transport.subscribe('userFills', long, () => {}, { signal })).rejects.toThrow()
    await transport.close()
  })
})

describe.skipIf(missingOfNpm !== null)('ccxt', () => {
  it('fetches, and watches every channel', async () => {
    const exchange = await openCcxt(cast)
    const calls = [...fetchesOf(cast), ...WATCHES.filter(([channel]) => isServed(channel)).map(([, ...call]) => call)]
    const runs = calls.map((call) => {
      const [method, ...parameters] = call as [string, ...unknown[]]
      return [JSON.stringify(call), () => callCcxt(exchange, method, parameters)] as const
    })
    expect(await failuresOf(Object.fromEntries(runs))).toEqual({})
    await exchange.close()
  })

  // It rejects all that it waits for at whatever error, whoever sends it; and sends no subscription twice.
  it('keeps other subscriptions if one is rejected', async () => {
    const exchange = await openCcxt(cast)
    await exchange.watchTrades(PERP)
    const waiting = exchange.watchTrades(PERP)
    const message = { method: 'subscribe', subscription: { type: 'tradesOfBTC', coin: 'BTC' } }
    const refused = exchange.watch(exchange.urls.api.ws.public, 'refused', message, 'refused')
    await expect(refused).rejects.toThrow(/Invalid subscription .*unknown subscription type/)
    await waiting.catch(() => undefined)
    for (let i = 0; i < 3; i++) await callCcxt(exchange, 'watchTrades', [PERP])
    await exchange.close()
  })
})

describe.skipIf(missingOfNpm !== null)('npm hyperliquid', () => {
  it('requests data and gets callbacks of every channel', async () => {
    for (const level of ['log', 'error'] as const) vi.spyOn(console, level).mockReturnValue()
    const sdk = await openNpm(cast)
    const told = Object.getOwnPropertyNames(Object.getPrototypeOf(sdk.subscriptions)).flatMap(
      (name) => /^subscribeTo(.*)$/.exec(name)?.[1] ?? [],
    )
    expect(told.sort()).toEqual([...Object.keys(SUBSCRIPTIONS), ...DEAF].sort())
    const channels = Object.entries(SUBSCRIPTIONS).filter(([, [channel]]) => isServed(channel))
    const asked = Object.entries(INFO(cast)).map(([name, given]) => [name, () => askNpm(sdk, name, given)] as const)
    const watched = channels.map(([name]) => [name, () => watchNpm(sdk, name, cast)] as const)
    expect(await failuresOf(Object.fromEntries([...asked, ...watched]))).toEqual({})
    sdk.ws.close(true)
    vi.restoreAllMocks()
  })
})

describe.skipIf(missingOfPython !== null)('the public Python SDK', () => {
  it('requests data and gets callbacks of every channel', async () => {
    expect(await pythonFailures(cast)).toEqual({})
  })
})

describe.skipIf(missingOfNpm !== null)('clients generated from /openapi.json', () => {
  it('compile and make typed requests', async () => {
    const folder = join(exchange.folder, 'generated')
    const openApi = descriptions['/openapi.json']!
    const ofL2Book = descriptions['/openapi/info/l2Book.json']!
    const printed = await generatedClients(folder, openApi, ofL2Book, world.url, key)
    const said = expect.stringMatching(/^BTC [\d.]+\n422 nSigFigs: must be 2, 3, 4 or 5$/)
    expect(printed).toEqual({ 'openapi-fetch': said, 'hey-api': said, oazapfts: said })
  })

  it.each(OPENAPI)('are generated from a valid %s', async (path) => {
    expect(await openApiFaults(JSON.parse(descriptions[path]!))).toEqual([])
  })
})

it.skipIf(missingOfOpenApi !== null)('a client generated for Python makes typed requests', async () => {
  const folder = join(exchange.folder, 'generated-python')
  const printed = await openApiPython(folder, descriptions['/openapi-3.0.json']!, world.url, key)
  expect(printed).toMatch(/^BTC [\d.]+\n422 mantissa: /)
})

it.skipIf(missingOfAsyncApi !== null)('clients of streams are generated from a valid /asyncapi.json', async () => {
  expect(await asyncApiFaults(descriptions['/asyncapi.json']!)).toEqual([])
})

it.skipIf((missingOfAsyncApi ?? missingForAsyncApi()) !== null)(
  'a client generated for Python subscribes and gets frames',
  async () => {
    const folder = join(exchange.folder, 'generated-streams')
    const printed = await asyncApiPython(folder, descriptions['/asyncapi.json']!, world.url, key, 'allMids')
    expect(printed).toContain('subscriptionResponse')
  },
)
