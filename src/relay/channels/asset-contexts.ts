// Channels of market contexts (prices, funding, volume), and the info requests behind them. A response lists contexts
// in market order or by name.

import * as z from 'zod'
import { type Coin, dexOf, marketTypeOf } from '../../core/coin.ts'
import { CoinName } from '../../protocol/feed/block.ts'
import { EXAMPLE_PERP_CTX, EXAMPLE_SPOT_CTX, PerpAssetCtx, SpotAssetCtx } from '../../protocol/info/market-shapes.ts'
import { DexName, isAllDexes } from '../../protocol/info/request-fields.ts'
import { MARKET } from '../body-fields.ts'
import { defineStateChannel, type InfoRequest, type StateRequest, type StateResponse } from '../channel.ts'

/** Oracles update about this often. Each request uses a tenth of a public source's per-minute weight budget. */
const CONTEXT_MS = 3_000
/** Interval of requests for all DEXes together. There are about ten DEXes. */
const ALL_CONTEXTS_MS = 15_000
const DEXES_MS = 60_000

interface Context {
  readonly coin?: Coin
  readonly markPx: string
  readonly midPx: string | null
  readonly [field: string]: unknown
}
type Contexts = ReadonlyMap<string, Context>
type ContextsResponse = readonly [
  meta: { readonly universe: readonly { readonly name: string }[] },
  contexts: readonly Context[],
]

const SPOT_CONTEXTS: InfoRequest = { type: 'spotMetaAndAssetCtxs' }
export const DEXES_REQUEST: StateRequest = [{ type: 'perpDexs' }, DEXES_MS]

/** `""` or omitted: the main DEX. */
export const StateDex = DexName.refine(
  (dex) => dex !== '*' && !isAllDexes(dex),
  'must be one DEX, without wildcards',
).default('')

/** The `dex` field of a request; none for the main DEX. */
export function dexField(dex: string): { readonly dex?: string } {
  return dex === '' ? {} : { dex }
}

function perpContexts(dex: string): InfoRequest {
  return { type: 'metaAndAssetCtxs', ...dexField(dex) }
}

/** DEX names of a `perpDexs` response, without the main DEX, which is null there. */
export function dexNames({ value }: StateResponse): readonly string[] {
  return (value as readonly ({ readonly name: string } | null)[]).flatMap((dex) => dex?.name ?? [])
}

/** Contexts in response order. Throws on a malformed response. */
function contextsOf({ value }: StateResponse): readonly Context[] {
  const [, contexts] = value as ContextsResponse
  if (!Array.isArray(contexts)) throw new Error('no contexts')
  return contexts
}

const CONTEXTS_BY_COIN = new WeakMap<StateResponse, Contexts>()
/** Indexed once for all channels and bodies. */
function contextsByCoin(response: StateResponse): Contexts {
  const known = CONTEXTS_BY_COIN.get(response)
  if (known) return known
  const [{ universe }] = response.value as ContextsResponse
  const found = new Map(contextsOf(response).map((one, index) => [one.coin ?? universe[index]?.name ?? '', one]))
  CONTEXTS_BY_COIN.set(response, found)
  return found
}

const frameOf = <const Name extends string, Ctx extends z.ZodType>(channel: Name, ctx: Ctx) =>
  z.object({ channel: z.literal(channel), data: z.object({ coin: CoinName, ctx }) })

/** Frames of spot and outcome markets have their own name, as on the public server. */
export const activeAssetCtx = defineStateChannel({
  type: 'activeAssetCtx',
  frameNameOf: ({ coin }) => (marketTypeOf(coin) === 'perp' ? 'activeAssetCtx' : 'activeSpotAssetCtx'),
  summary: 'Prices, funding and volume of one market',
  example: { request: { coin: 'BTC' }, data: { coin: 'BTC', ctx: EXAMPLE_PERP_CTX } },
  request: z.strictObject({ type: z.literal('activeAssetCtx'), coin: MARKET }),
  echo: undefined,
  dataSchema: z.unknown(),
  frame: z.union([frameOf('activeAssetCtx', PerpAssetCtx), frameOf('activeSpotAssetCtx', SpotAssetCtx)]),
  coin: ({ coin }) => coin,
  requests: ({ coin }) => [[marketTypeOf(coin) === 'perp' ? perpContexts(dexOf(coin)) : SPOT_CONTEXTS, CONTEXT_MS]],
  extract: contextsByCoin,
  data: ({ coin }, [contexts]) => {
    const ctx = contexts?.get(coin)
    if (!ctx) throw new Error('unknown market')
    return JSON.stringify({ coin, ctx })
  },
})

/** Contexts in the order of the DEX's universe. */
export const assetCtxs = defineStateChannel({
  type: 'assetCtxs',
  summary: 'Prices, funding and volume of the markets of one perp DEX',
  example: { request: { dex: '' }, data: { dex: '', ctxs: [EXAMPLE_PERP_CTX] } },
  request: z.strictObject({ type: z.literal('assetCtxs'), dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), ctxs: z.array(PerpAssetCtx).describe('Market data') }),
  requests: ({ dex }) => [[perpContexts(dex), CONTEXT_MS]],
  extract: contextsOf,
  data: ({ dex }, [ctxs]) => JSON.stringify({ dex, ctxs }),
})

/** Frames hold a bare list. */
export const spotAssetCtxs = defineStateChannel({
  type: 'spotAssetCtxs',
  summary: 'Prices and volume of all spot markets',
  example: { request: {}, data: [EXAMPLE_SPOT_CTX] },
  request: z.strictObject({ type: z.literal('spotAssetCtxs') }),
  dataSchema: z.array(SpotAssetCtx),
  requests: () => [[SPOT_CONTEXTS, CONTEXT_MS]],
  extract: contextsOf,
  data: (_, [ctxs]) => JSON.stringify(ctxs),
})

function pricesIn([, ...parts]: readonly (readonly string[] | Contexts)[]): Map<string, string> {
  const contexts = (parts as readonly Contexts[]).flatMap((part) => [...part])
  return new Map(contexts.map(([coin, { markPx, midPx }]) => [coin, JSON.stringify({ markPx, midPx })]))
}

const textOf = (prices: readonly (readonly [coin: Coin, prices: string])[]) =>
  `{${prices.map(([coin, text]) => `${JSON.stringify(coin)}:${text}`).join(',')}}`

/** The first frame has all markets, later ones only changes. */
export const fastAssetCtxs = defineStateChannel({
  type: 'fastAssetCtxs',
  summary: 'Mark and mid prices of every market, as base64 of raw DEFLATE of `{coin: {markPx, midPx}}`',
  // {"BTC":{"markPx":"81307.0","midPx":"81306.5"}}
  example: { request: {}, data: 'q1ZyCnFWsqpWyk0syg6oULJSsjA0NjDXM1DSUcrNTIGLmOmZKtXWAgA=' },
  request: z.strictObject({ type: z.literal('fastAssetCtxs') }),
  dataSchema: z.base64(),
  extract: (response, { type }): readonly string[] | Contexts =>
    type === 'perpDexs' ? dexNames(response) : contextsByCoin(response),
  requests: (_, names): readonly StateRequest[] => {
    if (!names) return [DEXES_REQUEST]
    const others = (names as readonly string[]).map((dex) => [perpContexts(dex), ALL_CONTEXTS_MS] as const)
    return [DEXES_REQUEST, [perpContexts(''), CONTEXT_MS], [SPOT_CONTEXTS, CONTEXT_MS], ...others]
  },
  data: (_, parts) => textOf([...pricesIn(parts)]),
  changes: (_, parts, mark) => {
    const prices = pricesIn(parts)
    const changed = [...prices].filter(([coin, text]) => (mark as Map<string, string> | undefined)?.get(coin) !== text)
    return { text: changed.length > 0 ? textOf(changed) : null, mark: prices }
  },
  isDeflated: true,
})

const dexesIn = (names: readonly unknown[]) => ['', ...(names as readonly string[]).toSorted()]

/** The main DEX first, the others by name. */
export const allDexsAssetCtxs = defineStateChannel({
  type: 'allDexsAssetCtxs',
  summary: 'Prices, funding and volume of the markets of every perp DEX',
  example: { request: {}, data: { ctxs: [['', [EXAMPLE_PERP_CTX]]] } },
  request: z.strictObject({ type: z.literal('allDexsAssetCtxs') }),
  dataSchema: z.object({
    ctxs: z
      .array(
        z.tuple([
          z.string().describe('DEX name; empty for the main DEX'),
          z.array(PerpAssetCtx).describe('Market data in universe order'),
        ]),
      )
      .describe('Market data'),
  }),
  extract: (response, { type }): readonly string[] | readonly Context[] =>
    type === 'perpDexs' ? dexNames(response) : contextsOf(response),
  requests: (_, names) => [
    DEXES_REQUEST,
    ...(names ? dexesIn(names).map((dex) => [perpContexts(dex), ALL_CONTEXTS_MS] as const) : []),
  ],
  data: (_, [names = [], ...ctxs]) => JSON.stringify({ ctxs: dexesIn(names).map((dex, index) => [dex, ctxs[index]]) }),
})
