// @nktkas/hyperliquid: its info methods for the types that we serve, its subscriptions, and its own types checked
// against the responses. At run time it checks nothing.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CATALOGUE, queryOf } from '../../src/info/queries/catalogue.ts'
import { bodiesOf, type Cast, inTime } from './cast.ts'
import { MODULES, PLACE } from './install.ts'

type Methods = Readonly<Record<string, (...parameters: unknown[]) => Promise<unknown>>>
interface Transport {
  ready(): Promise<void>
  close(): Promise<void>
  subscribe(channel: string, body: object, listener: () => void, options: object): Promise<unknown>
}
interface Sdk {
  readonly HttpTransport: new (options: { apiUrl: string }) => object
  readonly WebSocketTransport: new (options: { url: string }) => Transport
  readonly InfoClient: new (options: { transport: object }) => Methods
  readonly SubscriptionClient: new (options: { transport: object }) => Methods
}

/** Arguments of a method besides `user`, which is passed to every method that needs it. */
const PARAMETERS: Readonly<Record<string, (cast: Cast) => object>> = {
  activeAssetData: ({ maker: user }) => ({ user, coin: 'BTC' }),
  borrowLendReserveState: () => ({ token: 0 }),
  candleSnapshot: () => ({ coin: 'BTC', interval: '1m', startTime: 0 }),
  fundingHistory: () => ({ coin: 'BTC', startTime: 0 }),
  l2Book: () => ({ coin: 'BTC', nSigFigs: null, mantissa: null }),
  marginTable: () => ({ id: 20 }),
  maxBuilderFee: ({ maker: user }) => ({ user, builder: user }),
  orderStatus: ({ takers: [user], oid }) => ({ user, oid }),
  perpAnnotation: () => ({ coin: 'xyz:GOLD' }),
  perpDexLimits: () => ({ dex: 'xyz' }),
  perpDexStatus: () => ({ dex: '' }),
  preTransferCheck: ({ maker: user }) => ({ user, source: user }),
  recentTrades: () => ({ coin: 'BTC' }),
  settledOutcome: () => ({ outcome: 0 }),
  tokenDetails: ({ tokenId }) => ({ tokenId }),
  userBorrowLendInterest: ({ maker: user }) => ({ user, startTime: 0 }),
  userFillsByTime: ({ maker: user }) => ({ user, startTime: 0 }),
  userFunding: ({ maker: user }) => ({ user, startTime: 0 }),
  userNonFundingLedgerUpdates: ({ maker: user }) => ({ user, startTime: 0 }),
  userTwapSliceFillsByTime: ({ maker: user }) => ({ user, startTime: 0 }),
  vaultDetails: ({ vault }) => ({ vaultAddress: vault }),
}

const load = () => import(pathToFileURL(join(MODULES, '@nktkas/hyperliquid/esm/mod.js')).href) as Promise<Sdk>
const methodsOf = (client: { prototype: object }) =>
  Object.getOwnPropertyNames(client.prototype).filter((name) => name !== 'constructor')

/** Opens a socket whose URL has the key. Close it after use. */
export async function openNktkas({ url }: Cast) {
  const sdk = await load()
  const transport = new sdk.WebSocketTransport({ url: `${url.replace('http', 'ws')}/ws` })
  await transport.ready()
  return {
    sdk,
    transport,
    http: new sdk.HttpTransport({ apiUrl: url }),
    channels: methodsOf(sdk.SubscriptionClient as never),
  }
}
type Opened = Awaited<ReturnType<typeof openNktkas>>

/** Info methods of types that we serve. */
export function infoTypes({ sdk }: Opened): readonly string[] {
  const methods = methodsOf(sdk.InfoClient as never)
  return CATALOGUE.map(({ type }) => type).filter((type) => methods.includes(type))
}

/** A response, which must match our schema. */
export async function askNktkas({ sdk }: Opened, transport: object, type: string, cast: Cast): Promise<unknown> {
  const query = queryOf(type)!
  // A method of a type without fields takes a signal first.
  const isBare = Object.keys(query.example.request).length === 0
  const parameters = isBare ? [] : [PARAMETERS[type]?.(cast) ?? { user: cast.maker }]
  const answer = await new sdk.InfoClient({ transport })[type]!(...parameters)
  query.response().parse(answer)
  return answer
}

/** The channel that a method subscribes to. */
export const channelOfNktkas = (method: string) => (method === 'activeSpotAssetCtx' ? 'activeAssetCtx' : method)

/** All frames, of which more may come; rejects if none arrives in time. */
export async function framesOf({ sdk, transport }: Opened, channel: string, cast: Cast): Promise<readonly unknown[]> {
  const client = new sdk.SubscriptionClient({ transport })
  const frames: unknown[] = []
  const first = Promise.withResolvers<void>()
  const listener = (frame: unknown) => {
    frames.push(frame)
    first.resolve()
  }
  for (const body of bodiesOf(channel, cast))
    await client[channel]!(...(Object.keys(body).length === 0 ? [listener] : [body, listener]))
  await inTime(first.promise)
  return frames
}

/** Lists are shortened: all rows have one type, and checking thousands takes long. */
const cut = (_: string, value: unknown) => (Array.isArray(value) ? value.slice(0, 20) : value)

/** Without strictness about unknown fields, which the exchange sometimes adds. */
const HEAD = `
import type * as info from '@nktkas/hyperliquid/api/info'
import type * as subscription from '@nktkas/hyperliquid/api/subscription'
type Plain<T> = { -readonly [Key in keyof T]: Plain<T[Key]> }
declare const plain: <const T>(value: T) => Plain<T>
`.split('\n')

/** A type whose values may have no unknown field. */
export const exactly = (type: string) => `${type} exactly`

/** Errors of its types for values, by type name; a name of `exactly` allows no unknown field. */
export async function typeErrors(values: readonly (readonly [type: string, value: unknown])[]) {
  const lines = values.map(([name, value], at) => {
    const text = JSON.stringify(value, cut)
    const [type, isExact] = name.split(' ')
    if (isExact) return `export const t${at}: ${type} = ${text}`
    return `const v${at} = plain(${text}); export const t${at}: ${type} = v${at}`
  })
  writeFileSync(join(PLACE, 'values.ts'), [...HEAD, ...lines].join('\n'))
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024'.split(' ')
  const output = await new Promise<string>((resolve) => {
    const tsc = join(PLACE, '../../.bin/tsc')
    execFile(tsc, [...options, '--types', '', 'values.ts'], { cwd: PLACE }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  const found = [...output.matchAll(/^values\.ts\((\d+),\d+\): error (.*(?:\n +.*)*)/gm)]
  if (output !== '' && found.length === 0) throw new Error(output)
  return Object.fromEntries(found.map(([, line, error]) => [values[Number(line) - HEAD.length - 1]![0], error]))
}
