// Movements of USDC and tokens that are not trades, each with the node's ledger update. Callers must check that a
// wallet has enough money. A negative balance is a bug and throws.

import { type Exchange, newHash, onTick, type Vault } from './exchange.ts'
import { formatAmount, min, notional, toMicro, UNIT } from './fixed-point.ts'
import { DEX_NAMES, type Market, marketAt, TOKEN_NAMES, USDC } from './market.ts'
import { newTid } from './matching.ts'
import { type LedgerDelta, recordLedger, ZERO_HASH } from './node-block.ts'
import { orderOf } from './order.ts'
import { settle } from './settle.ts'

/** Location of a wallet's USDC: an index in DEX_NAMES, or `spot`. */
type BalanceKind = number | 'spot'
type Move = readonly [account: number, pocket: BalanceKind, usdc: bigint]

const WITHDRAW_FEE = UNIT
const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address
const balanceName = (pocket: BalanceKind) => (pocket === 'spot' ? 'spot' : DEX_NAMES[pocket]!)

/** Adds USDC to balances, or removes it if negative, and records the ledger update for the wallets. */
export function move(x: Exchange, moves: readonly Move[], delta: LedgerDelta, hash = newHash(x)): void {
  for (const [account, pocket, usdc] of moves) {
    const { margin, spot } = x.accounts[account]!
    if (pocket !== 'spot') margin[pocket]!.rawUsd += usdc
    else {
      spot[USDC]!.total += usdc
      if (spot[USDC]!.total < spot[USDC]!.hold) throw new Error(`spot USDC of account ${account} is overdrawn`)
    }
  }
  recordLedger(x.block, hash, [...new Set(moves.map(([account]) => addressOf(x, account)))], delta)
}

/** Moves USDC from outside into the main DEX. */
export function deposit(x: Exchange, account: number, usdc: bigint): void {
  x.pools.deposited += usdc
  move(x, [[account, 0, usdc]], { type: 'deposit', usdc: formatAmount(usdc) })
}

/** Address that sends a token from the EVM. */
export const systemAddress = (token: number) => `0x20${token.toString(16).padStart(38, '0')}`

/** Moves USDC from the EVM into a spot balance. */
export function fromEvm(x: Exchange, hash: string, account: number, usdc: bigint): void {
  x.pools.deposited += usdc
  const amount = formatAmount(usdc)
  const user = systemAddress(USDC)
  const wallets = { user, destination: addressOf(x, account) }
  const fees = { fee: '0.0', nativeTokenFee: '0.0', nonce: null, feeToken: '' }
  const delta = { type: 'spotTransfer', token: TOKEN_NAMES[USDC]!, amount, usdcValue: amount, ...wallets, ...fees }
  move(x, [[account, 'spot', usdc]], delta, hash)
}

/** Moves USDC from the main DEX out of the exchange; `usdc` includes the fee of 1 USDC, which stays on the exchange. */
export function withdraw(x: Exchange, account: number, usdc: bigint): void {
  const paid = usdc - WITHDRAW_FEE
  x.pools.withdrawn += paid
  x.pools.fees += WITHDRAW_FEE
  const fee = formatAmount(WITHDRAW_FEE)
  move(x, [[account, 0, -usdc]], { type: 'withdraw', usdc: formatAmount(paid), nonce: x.block.timeMs, fee })
}

/** Moves USDC between the main DEXes of two wallets. */
export function internalTransfer(x: Exchange, from: number, to: number, usdc: bigint): void {
  const delta = { type: 'internalTransfer', usdc: formatAmount(usdc), ...parties(x, from, to), fee: '0.0' }
  move(x, betweenMain(from, to, usdc), delta)
}

/** Moves USDC between the main DEXes of a master and its sub-account, in either direction. */
export function subAccountTransfer(x: Exchange, hash: string, from: number, to: number, usdc: bigint): void {
  const delta = { type: 'subAccountTransfer', usdc: formatAmount(usdc), ...parties(x, from, to) }
  move(x, betweenMain(from, to, usdc), delta, hash)
}

const parties = (x: Exchange, from: number, to: number) => ({ user: addressOf(x, from), destination: addressOf(x, to) })
const betweenMain = (from: number, to: number, usdc: bigint): Move[] => [
  [from, 0, -usdc],
  [to, 0, usdc],
]
/** Moves USDC from the spot balance to a DEX if `usdc` is positive, otherwise back. */
const fromSpot = (account: number, dex: number, usdc: bigint): Move[] => [
  [account, 'spot', -usdc],
  [account, dex, usdc],
]

/** Moves USDC between a wallet's spot balance and its main DEX. */
export function classTransfer(x: Exchange, account: number, usdc: bigint, toPerp: boolean): void {
  const delta = { type: 'accountClassTransfer', usdc: formatAmount(usdc), toPerp }
  move(x, fromSpot(account, 0, toPerp ? usdc : -usdc), delta)
}

/** Moves USDC between a wallet's spot balance and a builder-deployed DEX: to the DEX if `usdc` is positive. */
export function dexClassTransfer(x: Exchange, hash: string, account: number, dex: number, usdc: bigint): void {
  const toPerp = usdc > 0n
  const amount = formatAmount(toPerp ? usdc : -usdc)
  const delta = { type: 'perpDexClassTransfer', amount, token: 'USDC', dex: DEX_NAMES[dex]!, toPerp }
  move(x, fromSpot(account, dex, usdc), delta, hash)
}

/** Moves USDC between any two balances of any two wallets. */
export function send(
  x: Exchange,
  from: number,
  to: number,
  source: BalanceKind,
  target: BalanceKind,
  usdc: bigint,
): void {
  const moves = [
    [from, source, -usdc],
    [to, target, usdc],
  ] as const
  move(x, moves, {
    type: 'send',
    ...parties(x, from, to),
    sourceDex: balanceName(source),
    destinationDex: balanceName(target),
    token: 'USDC',
    amount: formatAmount(usdc),
    usdcValue: formatAmount(usdc),
    fee: '0.0',
    nativeTokenFee: '0.0',
    nonce: x.block.timeMs,
    feeToken: '',
  })
}

/** Moves a token between two wallets, with a proportional part of its cost. */
export function spotTransfer(x: Exchange, from: number, to: number, token: number, amount: bigint): void {
  const giver = x.accounts[from]!.spot[token]!
  const taker = x.accounts[to]!.spot[token]!
  if (giver.total - giver.hold < amount) throw new Error(`token ${token} of account ${from} is overdrawn`)
  const cost = (giver.cost * amount) / giver.total
  giver.total -= amount
  giver.cost -= cost
  taker.total += amount
  taker.cost += cost
  const { user, destination } = parties(x, from, to)
  recordLedger(x.block, newHash(x), [user, destination], {
    type: 'spotTransfer',
    token: TOKEN_NAMES[token]!,
    amount: formatAmount(amount),
    usdcValue: formatAmount(usdValue(x, token, amount)),
    user,
    destination,
    fee: '0.0',
    nativeTokenFee: '0.0',
    nonce: null,
    feeToken: '',
  })
}

function usdValue(x: Exchange, token: number, amount: bigint): bigint {
  const market = x.scale.markets.find((m) => m.token === token)
  return market === undefined ? amount : notional(x.quotes[market.id]!.fair, amount)
}

function createToken(x: Exchange, account: number, token: number, amount: bigint): void {
  const balance = x.accounts[account]!.spot[token]!
  balance.total += amount
  balance.cost += usdValue(x, token, amount)
  x.pools.tokenSupply[token]! += amount
}

/** Creates a token. */
export function spotGenesis(x: Exchange, account: number, token: number, amount: bigint): void {
  createToken(x, account, token, amount)
  const delta = { type: 'spotGenesis', token: TOKEN_NAMES[token]!, amount: formatAmount(amount) }
  recordLedger(x.block, newHash(x), [addressOf(x, account)], delta)
}

/**
 * Converts USDC of the spot balance into the same number of shares of both outcome sides. The node writes no ledger
 * update for this.
 */
export function splitOutcome(x: Exchange, account: number, sides: readonly number[], amount: bigint): void {
  x.accounts[account]!.spot[USDC]!.total -= amount
  x.pools.escrow += amount
  for (const side of sides) createToken(x, account, marketAt(side).token, amount)
}

/** Pays out a builder's fees to its spot balance. */
export function claimRewards(x: Exchange, builder: number): void {
  const amount = x.pools.builderFees.get(builder) ?? 0n
  if (amount === 0n) return
  x.pools.builderFees.delete(builder)
  move(x, [[builder, 'spot', amount]], { type: 'rewardsClaim', amount: formatAmount(amount), token: 'USDC' })
}

/** Charges a fee to the spot balance, for activating a wallet or for the right to deploy. */
export function payGas(
  x: Exchange,
  hash: string,
  account: number,
  type: 'accountActivationGas' | 'deployGasAuction',
  usdc: bigint,
): void {
  x.pools.fees += usdc
  const amount = formatAmount(usdc)
  const delta = type === 'deployGasAuction' ? { type, token: 'USDC', amount } : { type, amount, token: 'USDC' }
  move(x, [[account, 'spot', -usdc]], delta, hash)
}

/** A vault pays USDC to its followers in proportion to their shares. */
export function distribute(x: Exchange, hash: string, vault: Vault, usdc: bigint): void {
  for (const [holder, follower] of vault.followers) {
    const part = toMicro((usdc * follower.shares) / vault.totalShares)
    if (part === 0n) continue
    follower.basis -= min(part, follower.basis)
    const delta = { type: 'vaultDistribution', vault: addressOf(x, vault.account), usdc: formatAmount(part) }
    move(x, betweenMain(holder, vault.account, -part), delta, hash)
  }
}

/**
 * Converts one lot of a spot token, which is too little to trade, to USDC. The node writes this as a fill of one side
 * only.
 */
export function convertDust(x: Exchange, account: number, market: Market): void {
  const px = onTick(market.id, x.quotes[market.id]!.fair, 'B')
  const request = { owner: account, market: market.id, side: 'A', px, sz: market.lot, tif: 'Ioc' } as const
  const tid = newTid(x)
  const order = orderOf({ ...request, orderType: 'Spot Dust Conversion' }, x.nextOid++, x.block.timeMs)
  const [user, fill] = settle(x, order, { px, sz: market.lot, tid, hash: ZERO_HASH }, true)
  x.pools.tokenFees[market.token]! += market.lot
  x.pools.fees -= notional(px, market.lot)
  x.block.fills.push([user, { ...fill, dir: 'Spot Dust Conversion' }])
}

/**
 * Lends USDC of the spot balance to the exchange or withdraws it, or borrows USDC or repays it, depending on
 * `operation`. `interest` is added to a withdrawal or repayment.
 */
export function borrowLend(
  x: Exchange,
  hash: string,
  account: number,
  operation: 'supply' | 'withdraw' | 'borrow' | 'repay',
  usdc: bigint,
  interest = 0n,
): void {
  const { lent } = x.pools
  const lends = operation === 'supply' || operation === 'repay' ? usdc : -usdc
  const paid = operation === 'withdraw' ? -interest : interest
  const left = (lent.get(account) ?? 0n) + lends
  if (left === 0n) lent.delete(account)
  else lent.set(account, left)
  x.pools.fees += paid
  const delta = { type: 'borrowLend', token: 'USDC', operation, amount: formatAmount(usdc) }
  move(x, [[account, 'spot', -lends - paid]], { ...delta, interestAmount: formatAmount(interest) }, hash)
}
