// Channels of one user's state in the public server's shape: the full state every few seconds, and soon after an event
// of the user.

import * as z from 'zod'
import { marketTypeOf } from '../../core/coin.ts'
import { Address, CoinName } from '../../protocol/feed/block.ts'
import { ActiveAssetData, EXAMPLE_ACTIVE_ASSET } from '../../protocol/info/account-shapes.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { FRONTEND_ORDER, PERP_STATE, SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { FrontendOrder } from '../../protocol/info/order-shapes.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { EXAMPLE_TWAP } from '../../protocol/info/twap-shapes.ts'
import { EXAMPLE_WEB_DATA, TwapStates, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { MARKET, WalletAddress } from '../body-fields.ts'
import { defineStateChannel, type InfoRequest, type StateResponse } from '../channel.ts'
import { dexField, StateDex } from './asset-contexts.ts'

/** The public server's interval. Values that depend on prices change without an event. */
export const USER_STATE_MS = 4_500

interface UserStateDefinition<Type extends string, Body, Data extends z.ZodType> {
  readonly type: Type
  readonly summary: string
  /** Its output is the body that the public server acknowledges. */
  readonly request: z.ZodType<Body>
  readonly dataSchema: Data
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly data: unknown }
  readonly infoRequest: (body: Body) => InfoRequest
  readonly everyMs?: number
  readonly coin?: (body: Body) => string
  /** JSON of a frame's data from the response. */
  readonly render: (body: Body, response: StateResponse) => string
}

function userStateChannel<
  const Type extends string,
  Body extends { readonly type: Type } & Readonly<Record<string, unknown>>,
  Data extends z.ZodType,
>({ infoRequest, everyMs = USER_STATE_MS, render, ...more }: UserStateDefinition<Type, Body, Data>) {
  return defineStateChannel({
    ...more,
    requests: (body: Body) => [[infoRequest(body), everyMs]],
    extract: (response) => response,
    // biome-ignore lint/style/noNonNullAssertion: one question is asked, so there is one answer
    data: (body, [response]) => render(body, response!),
    repeats: true,
  })
}

export const clearinghouseState = userStateChannel({
  type: 'clearinghouseState',
  summary: "A user's perp account on one DEX",
  request: z.strictObject({ type: z.literal('clearinghouseState'), user: WalletAddress, dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), user: Address, clearinghouseState: PerpState.describe('Perp account') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, clearinghouseState: PERP_STATE } },
  infoRequest: ({ type, user, dex }) => ({ type, user, ...dexField(dex) }),
  render: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","clearinghouseState":${text}}`,
})

/** Includes trigger and attached orders. Spot orders come with the main DEX. */
export const openOrders = userStateChannel({
  type: 'openOrders',
  summary: "A user's resting orders on one perp DEX",
  request: z.strictObject({ type: z.literal('openOrders'), user: WalletAddress, dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), user: Address, orders: z.array(FrontendOrder) }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, orders: [FRONTEND_ORDER] } },
  infoRequest: ({ user, dex }) => ({ type: 'frontendOpenOrders', user, ...dexField(dex) }),
  render: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","orders":${text}}`,
})

const NO_EFFECT = z.boolean().optional().describe('Accepted but has no effect')

export const spotState = userStateChannel({
  type: 'spotState',
  summary: "A user's spot balances",
  request: z
    .strictObject({
      type: z.literal('spotState'),
      user: WalletAddress,
      ignorePortfolioMargin: NO_EFFECT,
      // The name in the public server's documentation. The acknowledgement uses the canonical name.
      isPortfolioMargin: NO_EFFECT,
    })
    .transform(({ type, user, ignorePortfolioMargin, isPortfolioMargin }) => ({
      type,
      user,
      ignorePortfolioMargin: ignorePortfolioMargin ?? isPortfolioMargin ?? false,
    })),
  dataSchema: z.object({ user: Address, spotState: SpotState }),
  example: { request: { user: USER, ignorePortfolioMargin: false }, data: { user: USER, spotState: SPOT_STATE } },
  infoRequest: ({ user }) => ({ type: 'spotClearinghouseState', user }),
  render: ({ user }, { text }) => `{"user":"${user}","spotState":${text}}`,
})

export const activeAssetData = userStateChannel({
  type: 'activeAssetData',
  summary: "A user's maximum buy and sell sizes in a perp",
  request: z.strictObject({
    type: z.literal('activeAssetData'),
    user: WalletAddress,
    coin: CoinName.refine((coin) => marketTypeOf(coin) === 'perp', 'must be a perp').describe(MARKET.description ?? ''),
  }),
  dataSchema: ActiveAssetData,
  example: { request: { user: USER, coin: 'BTC' }, data: EXAMPLE_ACTIVE_ASSET },
  coin: ({ coin }) => coin,
  infoRequest: ({ type, user, coin }) => ({ type, user, coin }),
  render: (_, { text }) => text,
})

/** Includes the main DEX's markets. The public server no longer has this channel, but SDKs still request it. */
export const webData2 = userStateChannel({
  type: 'webData2',
  summary: "A user's account, and all markets, in one frame (deprecated)",
  request: z.strictObject({ type: z.literal('webData2'), user: WalletAddress }),
  dataSchema: WebData2,
  example: { request: { user: USER }, data: EXAMPLE_WEB_DATA },
  infoRequest: ({ type, user }) => ({ type, user }),
  render: (_, { text }) => text,
})

/**
 * Only `webData2` lists TWAP orders, for the main DEX and spot. Another `dex` is rejected, because it would wrongly
 * show none.
 */
export const twapStates = userStateChannel({
  type: 'twapStates',
  summary: "A user's active TWAP orders",
  request: z.strictObject({
    type: z.literal('twapStates'),
    user: WalletAddress,
    dex: z.literal('', 'must be empty or omitted. TWAP orders of other DEXes are not available').default(''),
  }),
  dataSchema: z.object({ dex: z.string(), user: Address, states: TwapStates.describe('Active TWAP orders') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, states: [[3, EXAMPLE_TWAP]] } },
  infoRequest: ({ user }) => ({ type: 'webData2', user }),
  render: ({ user, dex }, { value }) =>
    JSON.stringify({ dex, user, states: (value as { twapStates: unknown[] }).twapStates }),
})

/** Key of the main DEX in a response for all DEXes. */
const MAIN_DEX = 'native'

/** The main DEX first. */
export const allDexsClearinghouseState = userStateChannel({
  type: 'allDexsClearinghouseState',
  summary: "A user's perp accounts on every DEX",
  request: z.strictObject({ type: z.literal('allDexsClearinghouseState'), user: WalletAddress }),
  dataSchema: z.object({
    user: Address,
    clearinghouseStates: z
      .array(
        z.tuple([
          z.string().describe('DEX name; empty for the main DEX'),
          PerpState.describe('Perp account on that DEX'),
        ]),
      )
      .describe('Perp accounts by DEX'),
  }),
  example: { request: { user: USER }, data: { user: USER, clearinghouseStates: [['', PERP_STATE]] } },
  infoRequest: ({ user }) => ({ type: 'clearinghouseState', user, dex: 'ALL_DEXES' }),
  // One poll requests every DEX.
  everyMs: 2 * USER_STATE_MS,
  render: ({ user }, { value }) => {
    const states = Object.entries(value as Readonly<Record<string, object>>)
    // If a DEX were missing, clients would assume that the user has no positions there.
    if (states.some(([, state]) => 'error' in state)) throw new Error('a DEX did not respond')
    return JSON.stringify({
      user,
      clearinghouseStates: states.map(([dex, state]) => [dex === MAIN_DEX ? '' : dex, state]),
    })
  },
})
