// Channels of what markets trade at, and the questions and answers that they are made of: an answer lists the contexts
// beside the markets, each at its market's place or with its name.

import * as z from 'zod'
import { type Coin, dexOf, marketTypeOf } from '../../core/coin.ts'
import { CoinName } from '../../protocol/feed/block.ts'
import { EXAMPLE_PERP_CTX, EXAMPLE_SPOT_CTX, PerpAssetCtx, SpotAssetCtx } from '../../protocol/info/market-shapes.ts'
import { DexName, isAllDexes } from '../../protocol/info/request-fields.ts'
import { MARKET } from '../body-fields.ts'
import { defineStateChannel, type InfoRequest, type StateRequest, type StateResponse } from '../channel.ts'

/** Oracles move about as often; each reading has a tenth of a minute's weight of a public source. */
const CONTEXT_MS = 3_000
/** Of every DEX at once: there are ten. */
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

/** `""`, or left out: the main DEX. */
export const StateDex = DexName.refine(
  (dex) => dex !== '*' && !isAllDexes(dex),
  'must be one DEX: no wildcard here',
).default('')

/** The field of a question about one DEX. */
export function dexField(dex: string): { readonly dex?: string } {
  return dex === '' ? {} : { dex }
}

function perpContexts(dex: string): InfoRequest {
  return { type: 'metaAndAssetCtxs', ...dexField(dex) }
}

/** Names of the DEXes of a `perpDexs` answer but of the main one, which is null there. */
export function dexNames({ value }: StateResponse): readonly string[] {
  return (value as readonly ({ readonly name: string } | null)[]).flatMap((dex) => dex?.name ?? [])
}

/** In the order of the answer. Throws where it is none. */
function contextsOf({ value }: StateResponse): readonly Context[] {
  const [, contexts] = value as ContextsResponse
  if (!Array.isArray(contexts)) throw new Error('no contexts')
  return contexts
}

const CONTEXTS_BY_COIN = new WeakMap<StateResponse, Contexts>()
/** By coin, worked out once for all channels and bodies. */
function contextsByCoin(answer: StateResponse): Contexts {
  const known = CONTEXTS_BY_COIN.get(answer)
  if (known) return known
  const [{ universe }] = answer.value as ContextsResponse
  const found = new Map(contextsOf(answer).map((one, i) => [one.coin ?? universe[i]?.name ?? '', one]))
  CONTEXTS_BY_COIN.set(answer, found)
  return found
}

const frameOf = <const Name extends string, Ctx extends z.ZodType>(channel: Name, ctx: Ctx) =>
  z.object({ channel: z.literal(channel), data: z.object({ coin: CoinName, ctx }) })

/** What one market trades at. Frames of spot and outcome markets have a name of their own, as the public server's. */
export const activeAssetCtx = defineStateChannel({
  type: 'activeAssetCtx',
  frameNameOf: ({ coin }) => (marketTypeOf(coin) === 'perp' ? 'activeAssetCtx' : 'activeSpotAssetCtx'),
  summary: 'What one market trades at',
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
    if (!ctx) throw new Error('there is no such market')
    return JSON.stringify({ coin, ctx })
  },
})

/** In the order of the DEX's universe. */
export const assetCtxs = defineStateChannel({
  type: 'assetCtxs',
  summary: 'What the markets of one perp DEX trade at',
  example: { request: { dex: '' }, data: { dex: '', ctxs: [EXAMPLE_PERP_CTX] } },
  request: z.strictObject({ type: z.literal('assetCtxs'), dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), ctxs: z.array(PerpAssetCtx).describe('Market data') }),
  requests: ({ dex }) => [[perpContexts(dex), CONTEXT_MS]],
  extract: contextsOf,
  data: ({ dex }, [ctxs]) => JSON.stringify({ dex, ctxs }),
})

/** As a bare list. */
export const spotAssetCtxs = defineStateChannel({
  type: 'spotAssetCtxs',
  summary: 'What all spot markets trade at',
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

/** Mark and middle of every perp and spot market, packed: all of them first, then those that changed. */
export const fastAssetCtxs = defineStateChannel({
  type: 'fastAssetCtxs',
  summary: 'Mark and middle of every market: base64 of raw DEFLATE of `{coin: {markPx, midPx}}`',
  // {"BTC":{"markPx":"81307.0","midPx":"81306.5"}}
  example: { request: {}, data: 'q1ZyCnFWsqpWyk0syg6oULJSsjA0NjDXM1DSUcrNTIGLmOmZKtXWAgA=' },
  request: z.strictObject({ type: z.literal('fastAssetCtxs') }),
  dataSchema: z.base64(),
  extract: (answer, { type }): readonly string[] | Contexts =>
    type === 'perpDexs' ? dexNames(answer) : contextsByCoin(answer),
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
  summary: 'What the markets of every perp DEX trade at',
  example: { request: {}, data: { ctxs: [['', [EXAMPLE_PERP_CTX]]] } },
  request: z.strictObject({ type: z.literal('allDexsAssetCtxs') }),
  dataSchema: z.object({
    ctxs: z
      .array(
        z.tuple([
          z.string().describe('Name of the DEX; empty: main DEX'),
          z.array(PerpAssetCtx).describe('Market data in universe order'),
        ]),
      )
      .describe('Market data'),
  }),
  extract: (answer, { type }): readonly string[] | readonly Context[] =>
    type === 'perpDexs' ? dexNames(answer) : contextsOf(answer),
  requests: (_, names) => [
    DEXES_REQUEST,
    ...(names ? dexesIn(names).map((dex) => [perpContexts(dex), ALL_CONTEXTS_MS] as const) : []),
  ],
  data: (_, [names = [], ...ctxs]) => JSON.stringify({ ctxs: dexesIn(names).map((dex, i) => [dex, ctxs[i]]) }),
})
