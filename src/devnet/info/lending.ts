// Borrowing and lending as the public info queries show it: what the ledger says of it, at fixed rates.

import { type Exchange, markPx } from '../exchange/exchange.ts'
import { formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import { TOKEN_NAMES, USDC } from '../exchange/market.ts'
import { NOTHING, type Scene, type SomeAnswers } from './answer.ts'
import { spotMeta } from './market.ts'

const YEARLY_RATE = '0.05'
const LOAN_TO_VALUE = '0.5'

function oraclePx(x: Exchange, token: number): bigint {
  const market = x.scale.markets.find((each) => each.kind === 'spot' && each.token === token)
  return market === undefined ? UNIT : markPx(x, market.id)
}

function reserve({ exchange, past }: Scene, token: number) {
  const { borrowed, supplied } = past.loans.total(TOKEN_NAMES[token]!)
  return {
    borrowYearlyRate: YEARLY_RATE,
    supplyYearlyRate: '0.0',
    balance: formatAmount(supplied > borrowed ? supplied - borrowed : 0n),
    utilization: formatAmount(supplied === 0n ? 0n : (borrowed * UNIT) / supplied),
    oraclePx: formatAmount(oraclePx(exchange, token)),
    ltv: token === USDC ? '1.0' : LOAN_TO_VALUE,
    totalSupplied: formatAmount(supplied),
    totalBorrowed: formatAmount(borrowed),
  }
}

function userState({ exchange, past }: Scene, user: string) {
  let debt = 0n
  let cover = 0n
  const tokenToState = [...past.loans.of(user)].map(([name, { borrowed, supplied }]) => {
    const token = TOKEN_NAMES.indexOf(name)
    const px = oraclePx(exchange, token)
    debt += notional(px, borrowed)
    cover += notional(px, supplied)
    const part = (amount: bigint) => ({ basis: formatAmount(amount), value: formatAmount(amount) })
    return [token, { borrow: part(borrowed), supply: part(supplied) }] as const
  })
  return {
    tokenToState,
    health: cover >= debt ? 'healthy' : 'atRisk',
    healthFactor: debt === 0n ? null : formatAmount((cover * UNIT) / debt),
  }
}

const within = (startTime: number, endTime: number | null | undefined) => (row: { readonly time: number }) =>
  row.time >= startTime && row.time <= (endTime ?? Number.POSITIVE_INFINITY)

/** A token that does not exist has no reserve. */
export const LENDING_ANSWERS = {
  allBorrowLendReserveStates: (scene) =>
    spotMeta(scene.exchange).tokens.map(({ index }) => [index, reserve(scene, index)]),
  borrowLendReserveState: (scene, { token }) =>
    spotMeta(scene.exchange).tokens.some(({ index }) => index === token) ? reserve(scene, token) : NOTHING,
  borrowLendUserState: (scene, { user }) => userState(scene, user),
  userBorrowLendInterest: ({ past }, { user, startTime, endTime }) =>
    past.loans.interest(user).filter(within(startTime, endTime)),
} satisfies SomeAnswers
