// Channels of what one answer says of a user, as the public server has them: the whole again each time, every few seconds
// and soon after something happened to the user.

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

/** As the public server does; what depends on prices moves without an event. */
export const USER_STATE_MS = 4_500

interface UserStateDefinition<Type extends string, Body, Data extends z.ZodType> {
  readonly type: Type
  readonly summary: string
  /** Its output is how the public server acknowledges a body. */
  readonly request: z.ZodType<Body>
  readonly dataSchema: Data
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly data: unknown }
  readonly infoRequest: (body: Body) => InfoRequest
  readonly everyMs?: number
  readonly coin?: (body: Body) => string
  /** JSON of what is shown, of the answer's. */
  readonly render: (body: Body, answer: StateResponse) => string
}

function userStateChannel<
  const Type extends string,
  Body extends { readonly type: Type } & Readonly<Record<string, unknown>>,
  Data extends z.ZodType,
>({ infoRequest, everyMs = USER_STATE_MS, render, ...more }: UserStateDefinition<Type, Body, Data>) {
  return defineStateChannel({
    ...more,
    requests: (body: Body) => [[infoRequest(body), everyMs]],
    extract: (answer) => answer,
    // biome-ignore lint/style/noNonNullAssertion: one question is asked, so there is one answer
    data: (body, [answer]) => render(body, answer!),
    repeats: true,
  })
}

export const clearinghouseState = userStateChannel({
  type: 'clearinghouseState',
  summary: "A user's account on one perp DEX",
  request: z.strictObject({ type: z.literal('clearinghouseState'), user: WalletAddress, dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), user: Address, clearinghouseState: PerpState.describe('Perp account') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, clearinghouseState: PERP_STATE } },
  infoRequest: ({ type, user, dex }) => ({ type, user, ...dexField(dex) }),
  render: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","clearinghouseState":${text}}`,
})

/** With triggers and attached orders; spot orders come with the main DEX. */
export const openOrders = userStateChannel({
  type: 'openOrders',
  summary: 'The resting orders of a user on one perp DEX',
  request: z.strictObject({ type: z.literal('openOrders'), user: WalletAddress, dex: StateDex }),
  dataSchema: z.object({ dex: z.string(), user: Address, orders: z.array(FrontendOrder) }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, orders: [FRONTEND_ORDER] } },
  infoRequest: ({ user, dex }) => ({ type: 'frontendOpenOrders', user, ...dexField(dex) }),
  render: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","orders":${text}}`,
})

const NO_EFFECT = z.boolean().optional().describe('Accepted without effect')

export const spotState = userStateChannel({
  type: 'spotState',
  summary: 'The spot balances of a user',
  request: z
    .strictObject({
      type: z.literal('spotState'),
      user: WalletAddress,
      ignorePortfolioMargin: NO_EFFECT,
      // As the public server's documents call it; it is acknowledged by the other name.
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
  summary: 'What a user can buy and sell of a perp',
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

/** With the markets of the main DEX. The public server serves it no more; SDKs still ask for it. */
export const webData2 = userStateChannel({
  type: 'webData2',
  summary: "A user's account and the markets in one frame (deprecated)",
  request: z.strictObject({ type: z.literal('webData2'), user: WalletAddress }),
  dataSchema: WebData2,
  example: { request: { user: USER }, data: EXAMPLE_WEB_DATA },
  infoRequest: ({ type, user }) => ({ type, user }),
  render: (_, { text }) => text,
})

/**
 * No answer lists TWAP orders but `webData2`, which knows the main DEX and spot: another `dex` is refused rather than shown
 * without any.
 */
export const twapStates = userStateChannel({
  type: 'twapStates',
  summary: 'The TWAP orders of a user that are at work',
  request: z.strictObject({
    type: z.literal('twapStates'),
    user: WalletAddress,
    dex: z.literal('', 'must be empty or left out: TWAP orders of other DEXes are not listed anywhere').default(''),
  }),
  dataSchema: z.object({ dex: z.string(), user: Address, states: TwapStates.describe('Active TWAP orders') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, states: [[3, EXAMPLE_TWAP]] } },
  infoRequest: ({ user }) => ({ type: 'webData2', user }),
  render: ({ user, dex }, { value }) =>
    JSON.stringify({ dex, user, states: (value as { twapStates: unknown[] }).twapStates }),
})

/** The main DEX in an answer of all, where its wire name is empty. */
const MAIN_DEX = 'native'

/** The main DEX first. */
export const allDexsClearinghouseState = userStateChannel({
  type: 'allDexsClearinghouseState',
  summary: "A user's account on every perp DEX",
  request: z.strictObject({ type: z.literal('allDexsClearinghouseState'), user: WalletAddress }),
  dataSchema: z.object({
    user: Address,
    clearinghouseStates: z
      .array(
        z.tuple([
          z.string().describe('Name of the DEX; empty: main DEX'),
          PerpState.describe('Perp account on that DEX'),
        ]),
      )
      .describe('Perp accounts by DEX'),
  }),
  example: { request: { user: USER }, data: { user: USER, clearinghouseStates: [['', PERP_STATE]] } },
  infoRequest: ({ user }) => ({ type: 'clearinghouseState', user, dex: 'ALL_DEXES' }),
  // One reading asks for each DEX.
  everyMs: 2 * USER_STATE_MS,
  render: ({ user }, { value }) => {
    const states = Object.entries(value as Readonly<Record<string, object>>)
    // One that is missing would read as no position.
    if (states.some(([, state]) => 'error' in state)) throw new Error('a DEX has not answered')
    return JSON.stringify({
      user,
      clearinghouseStates: states.map(([dex, state]) => [dex === MAIN_DEX ? '' : dex, state]),
    })
  },
})
