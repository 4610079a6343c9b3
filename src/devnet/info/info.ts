// POST /info, with the public server's statuses and messages. Requests are parsed by Weir's own query schemas. Types
// that Weir computes are answered from the exchange's state. The others return the example of their query, adapted to
// the exchange's clock and wallets and to related responses.

import { queryOf } from '../../info/queries/catalogue.ts'
import { upstreamTypesOf } from '../../info/query.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { markPxs } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { BUILDERS } from '../exchange/roles.ts'
import { vaultEquity } from '../exchange/vault.ts'
import { marginState } from '../exchange/wallet.ts'
import { dexOf, type InfoContext, type InfoHandlers, NOT_FOUND, type RequestFields } from './handler.ts'
import { HISTORY_HANDLERS } from './history.ts'
import { spotMeta, TRADED_OUTCOME } from './listing.ts'
import { atCap, MARKET_HANDLERS, metaAndContexts, spotMetaAndContexts } from './markets.ts'
import { openOrdersOnDex, perpState, spotState, twapsOf, WALLET_HANDLERS, walletOf } from './wallet.ts'

/** `body`: a value for JSON.stringify. `text`: an error as plain text. */
export type InfoResponse =
  | { readonly status: 200 | 500; readonly body: unknown }
  | { readonly status: 400 | 413 | 415 | 422; readonly text: string }

const PERIODS = ['day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime']

/** Portfolio of a wallet. Every period has one point: the current value. */
function portfolio(x: InfoContext['exchange'], user: string) {
  const marks = markPxs(x)
  const value = walletOf(x, user).margin.reduce((sum, margin) => sum + marginState(margin, marks).value, 0n)
  const accountValueHistory = [[x.block.timeMs, formatAmount(value)]]
  const curve = { accountValueHistory, pnlHistory: [[x.block.timeMs, '0.0']], vlm: '0.0' }
  return PERIODS.map((name) => [name, curve])
}

/** Handlers for queries whose examples must agree with the state. */
const ADAPTED_HANDLERS: InfoHandlers = {
  liquidatable: () => [],
  outcomeTemplates: (_scene, _fields, [template]) => [template],
  perpAnnotation: (_scene, { coin }, example) => (coin === 'xyz:GOLD' ? example : null),
  portfolio: ({ exchange }, { user }) => portfolio(exchange, user),
  preTransferCheck: ({ exchange }, { user }, example) => {
    const exists = exchange.byAddress.has(user)
    return { ...example, fee: exists ? '0.0' : '1.0', userExists: exists, userHasSentTx: exists }
  },
  settledOutcome: (_scene, { outcome }, example) =>
    outcome === TRADED_OUTCOME ? null : { ...example, spec: { ...example.spec, outcome } },
  subAccounts: ({ exchange: x }, _fields, [sub]) => {
    const wallet = walletOf(x, sub.subAccountUser)
    return [{ ...sub, clearinghouseState: perpState(x, wallet, 0), spotState: spotState(x, wallet) }]
  },
  subAccounts2: ({ exchange: x }, _fields, [sub]) => {
    const wallet = walletOf(x, sub.subAccountUser)
    const dexToClearinghouseState = x.scale.dexes.map((dex, index) => [dex, perpState(x, wallet, index)])
    return [{ ...sub, dexToClearinghouseState, spotState: spotState(x, wallet) }]
  },
  tokenDetails: ({ exchange }, { tokenId }, example) => {
    const token = spotMeta(exchange).tokens.find((each) => each.tokenId === tokenId)
    if (token === undefined) return NOT_FOUND
    return { ...example, name: token.name, szDecimals: token.szDecimals, weiDecimals: token.weiDecimals }
  },
  validatorSummaries: (_scene, _fields, [validator]) => {
    const [[, stats]] = validator.stats
    return [{ ...validator, stats: ['day', 'week', 'month'].map((period) => [period, stats]) }]
  },
  vaultDetails: ({ exchange }, { vaultAddress }, example) =>
    vaultAddress === example.vaultAddress
      ? { ...example, name: exchange.vaults[0]!.name, portfolio: portfolio(exchange, vaultAddress) }
      : null,
  vaultSummaries: ({ exchange: x }, _fields, [vault]) => {
    const [backstop] = x.vaults
    if (backstop === undefined) return []
    return [{ ...vault, name: backstop.name, tvl: formatAmount(vaultEquity(x, backstop)) }]
  },
  webData2: (context, { user }, example) => {
    const { exchange: x } = context
    const wallet = walletOf(x, user)
    const [meta, assetCtxs] = metaAndContexts(context, 0)
    return {
      ...example,
      clearinghouseState: perpState(x, wallet, 0),
      openOrders: openOrdersOnDex(wallet, 0),
      meta,
      assetCtxs,
      isVault: x.vaults.some(({ account }) => account === wallet.index),
      twapStates: twapsOf(x, user),
      spotState: spotState(x, wallet),
      spotAssetCtxs: spotMetaAndContexts(context)[1],
      perpsAtOpenInterestCap: atCap(context, 0),
    }
  },
}

const HANDLERS: InfoHandlers = { ...ADAPTED_HANDLERS, ...MARKET_HANDLERS, ...WALLET_HANDLERS, ...HISTORY_HANDLERS }

/** Handles a JSON body. An unknown DEX or coin gets 500 and `null`, as on the public server. */
export function handleInfo(context: InfoContext, body: unknown): InfoResponse {
  const result = resultOf(context, body)
  if (result === undefined) return { status: 422, text: 'Failed to deserialize the JSON body into the target type' }
  return result === NOT_FOUND ? { status: 500, body: null } : { status: 200, body: result }
}

/** Returns undefined if no query matches the body. */
function resultOf(context: InfoContext, body: unknown): unknown {
  const { type } = (body ?? {}) as { readonly type?: unknown }
  const query = typeof type === 'string' ? queryOf(type) : undefined
  if (query === undefined) return undefined
  const { exchange: x } = context
  const handler = Object.hasOwn(HANDLERS, query.type) ? HANDLERS[query.type] : undefined
  const parsed = query.request.safeParse(body)
  if (!parsed.success || (handler === undefined && !upstreamTypesOf(query).includes(query.type))) return undefined
  const fields = parsed.data as unknown as RequestFields
  if (query.type !== 'perpDexLimits' && dexOf(x, fields) < 0) return NOT_FOUND
  const vault = x.accounts[x.vaults[0]?.account ?? 0]!.address
  const builder = x.accounts[BUILDERS[0]!]!.address
  const example = JSON.parse(
    JSON.stringify(query.example.response)
      .replaceAll(USER, fields.user ?? builder)
      .replaceAll(OTHER_USER, /vault/i.test(query.type) ? vault : builder)
      .replaceAll(String(TIME), String(x.block.timeMs)),
  )
  return handler === undefined ? example : handler(context, fields, example)
}
