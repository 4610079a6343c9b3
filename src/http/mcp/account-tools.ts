// Tools about wallets, positions and the caller's own key.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { PositionSide } from '../../protocol/info/position-shapes.ts'
import { type Answer, defineTool, PAGED } from './tool.ts'
import { Coin, End, Fields, list, PastHeight, startOr, User } from './tool-fields.ts'

const bodyOf = <T>(answers: readonly Answer[], index = 0) => answers[index]?.body as T
type Row = Readonly<Record<string, unknown>>

interface PerpAccount {
  readonly marginSummary: {
    readonly accountValue: string
    readonly totalNtlPos: string
    readonly totalMarginUsed: string
  }
  readonly withdrawable: string
  readonly assetPositions: readonly { readonly position: Row }[]
}

interface Portfolio {
  readonly clearinghouseState: Readonly<Record<string, PerpAccount | { readonly error: unknown }>>
  readonly spotClearinghouseState: { readonly balances: readonly { readonly total: string }[] }
  readonly userAbstraction: string
}

const isKnown = (account: PerpAccount | { readonly error: unknown }): account is PerpAccount =>
  'marginSummary' in account

export const accountOverview = defineTool({
  name: 'account_overview',
  title: 'Account overview',
  description:
    'Value, margin, open perp positions and spot balances of a wallet on all DEXes. The main DEX is "native". A DEX that did not answer is in unknown_dexes: its positions are unknown, not zero.',
  price: '10 credits',
  input: { user: User, ...PAGED },
  output: {
    user: z.string(),
    account_mode: z.string(),
    accounts: list('DEXes with value: dex, account_value, position_notional, margin_used, withdrawable'),
    unknown_dexes: z.array(z.string()),
    holdings: list(
      'kind "perp": dex and the position (coin, szi, entryPx, unrealizedPnl, …); kind "spot": coin, total, hold',
    ),
  },
  requests: ({ user }) => [{ info: { type: 'portfolioState', user, dex: '*' } }],
  result: (answers, { user }) => {
    const { clearinghouseState, spotClearinghouseState, userAbstraction } = bodyOf<Portfolio>(answers)
    const known = Object.entries(clearinghouseState).flatMap(([dex, state]) => (isKnown(state) ? [{ dex, state }] : []))
    const accounts = known
      .filter(({ state }) => Number(state.marginSummary.accountValue) !== 0 || state.assetPositions.length > 0)
      .map(({ dex, state: { marginSummary, withdrawable } }) => ({
        dex,
        account_value: marginSummary.accountValue,
        position_notional: marginSummary.totalNtlPos,
        margin_used: marginSummary.totalMarginUsed,
        withdrawable,
      }))
    const perps = known.flatMap(({ dex, state }) =>
      state.assetPositions.map(({ position }) => ({ kind: 'perp', dex, ...position })),
    )
    const spot = spotClearinghouseState.balances
      .filter(({ total }) => Number(total) !== 0)
      .map((balance) => ({ kind: 'spot', ...balance }))
    const unknown = Object.entries(clearinghouseState).flatMap(([dex, state]) => (isKnown(state) ? [] : [dex]))
    const fields = { user, account_mode: userAbstraction, accounts, unknown_dexes: unknown }
    return ok({ fields, list: { name: 'holdings', rows: [...perps, ...spot] } })
  },
})

export const fills = defineTool({
  name: 'fills',
  title: 'Fills of a wallet',
  description:
    'Trades of a wallet, newest first: dir, px, sz, fee, closedPnl, startPosition. A liquidated fill has the field liquidation. Follow the cursor for more.',
  price: '1 credit',
  input: {
    user: User,
    startTime: startOr('the whole history'),
    endTime: End,
    oldestFirst: z.boolean().optional().describe('If true, the oldest fills come first'),
    ...PAGED,
  },
  output: { user: z.string(), fills: list('coin, dir, px, sz, time, fee, closedPnl, …') },
  requests: ({ user, startTime = 0, endTime, oldestFirst = false }, { nowMs, page }) => [
    {
      info: {
        type: 'userFillsByTime',
        user,
        startTime,
        endTime: endTime ?? nowMs,
        reversed: !oldestFirst,
        cursor: page.source,
      },
    },
  ],
  result: (answers, { user }) => {
    const next = answers[0]?.nextCursor ?? null
    return ok({ fields: { user }, list: { name: 'fills', rows: bodyOf<readonly unknown[]>(answers), next } })
  },
})

const TRADES_PAGE = 100

interface CompletedTrade {
  readonly user: string
  readonly close_time: number
  readonly tx_index: number
}

export const completedTrades = defineTool({
  name: 'completed_trades',
  title: 'Completed trades',
  description:
    'Round trips of a wallet, from open to close, with profit after fees and funding. Without startTime: the latest 100, newest first. With startTime: all from then on, oldest first.',
  price: '10 credits',
  input: { user: User, startTime: startOr('none, which lists the latest'), endTime: End, ...PAGED },
  output: {
    user: z.string(),
    trades: list('coin, position_type, entry_px, exit_px, net_pnl, fees, open_time, close_time, …'),
  },
  requests: ({ user, startTime, endTime }, { nowMs, page }) => [
    startTime === undefined
      ? { info: { type: 'userCompletedTrades', user, limit: TRADES_PAGE } }
      : {
          info: {
            type: 'userCompletedTradesByTime',
            user,
            startTime,
            endTime: endTime ?? nowMs,
            limit: TRADES_PAGE,
            cursor: page.source || undefined,
          },
        },
  ],
  result: (answers, { user, startTime }) => {
    const rows = bodyOf<readonly CompletedTrade[]>(answers)
    const last = rows.at(-1)
    const isMore = startTime !== undefined && rows.length === TRADES_PAGE && last !== undefined
    const next = isMore ? `${last.close_time}_${last.tx_index}` : null
    return ok({ fields: { user }, list: { name: 'trades', rows: rows.map(({ user: _, ...row }) => row), next } })
  },
})

export const pnlSummary = defineTool({
  name: 'pnl_summary',
  title: 'Profit summary of a wallet',
  description:
    'Profit after fees and funding, win rate, volume, fees and funding of a wallet over its completed trades. omittedTrades counts trades that are left out because their history is incomplete.',
  price: '10 credits',
  input: { user: User, startTime: startOr('the whole history'), endTime: End },
  output: {
    totalPnl: z.string(),
    winRate: z.number(),
    totalTrades: z.number(),
    omittedTrades: z.number(),
    volumeTraded: z.string(),
    totalFees: z.string(),
    totalFunding: z.string(),
  },
  requests: ({ user, startTime, endTime }) => [{ info: { type: 'userPnlSummary', user, startTime, endTime } }],
  result: (answers) => ok({ fields: bodyOf<Row>(answers) }),
})

interface CoinPositions extends Row {
  readonly positions: readonly unknown[]
}

export const positions = defineTool({
  name: 'positions',
  title: 'Positions in a coin',
  description:
    'Perp positions of all wallets in a coin, largest first, now or after a past block, with totals of longs and shorts. They are computed from archived fills: a wallet is known from its first fill in the archive on.',
  price: '10 credits',
  input: { coin: Coin, side: PositionSide.optional(), height: PastHeight, ...PAGED },
  output: {
    coin: z.string(),
    height: z.number(),
    long: Fields.describe('Number of wallets and sum of sizes'),
    short: Fields.describe('Number of wallets and sum of sizes'),
    positions: list('user, side, szi, lastTime, …'),
  },
  requests: ({ coin, side, height }, { page }) => [
    { info: { type: 'positionsByCoin', coin, side, height, limit: 100, cursor: page.source || undefined } },
  ],
  result: (answers) => {
    const { positions: rows, ...fields } = bodyOf<CoinPositions>(answers)
    return ok({ fields, list: { name: 'positions', rows, next: answers[0]?.nextCursor ?? null } })
  },
})

interface Liquidatable {
  readonly marginAvailable: readonly number[]
}

export const liquidatableAccounts = defineTool({
  name: 'liquidatable_accounts',
  title: 'Accounts that can be liquidated now',
  description:
    'Accounts that the exchange can liquidate now, normally none. It has no past liquidations: for one wallet, see the field liquidation in fills; for all, the product fills_by_time of export_sql.',
  price: '1 credit',
  input: { ...PAGED },
  output: { accounts: list('user, positionIndex, marginAvailable (negative)') },
  requests: () => [{ info: { type: 'liquidatable' } }],
  result: (answers) => {
    const rows = bodyOf<readonly Liquidatable[]>(answers).map((row) => {
      return { ...row, marginAvailable: row.marginAvailable.map(String) }
    })
    return ok({ fields: { count: rows.length }, list: { name: 'accounts', rows } })
  },
})

export const keyUsage = defineTool({
  name: 'key_usage',
  title: 'Usage of the key',
  description:
    'Balance, plan, limits and usage of the API key that this server uses, by day and type. Labels are data.',
  price: 'free',
  input: {},
  output: {
    balance: z.string().describe('Credits left'),
    plan: z.string(),
    spent: z.string(),
    limits: Fields,
    usage: Fields,
  },
  requests: () => [
    { path: '/platform/key/', price: 0 },
    { path: '/platform/key/usage/', price: 0 },
  ],
  result: (answers) => {
    const { balance, plan, spent, cap, cap_remaining, products, period, limits } = bodyOf<Row>(answers, 0)
    const { prefix: _, label: __, ...usage } = bodyOf<Row>(answers, 1)
    return ok({ fields: { balance, plan, spent, cap, cap_remaining, products, period, limits, usage } })
  },
})
