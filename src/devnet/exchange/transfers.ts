// USDC and tokens moving without a trade, each with the ledger update that the node writes.
// The callers ask for no more than a wallet can give; what would make a balance negative is a bug and throws.

import { type Exchange, newHash } from './exchange.ts'
import { formatAmount, notional, UNIT } from './fixed-point.ts'
import { DEX_NAMES, marketAt, TOKEN_NAMES, USDC } from './market.ts'
import { recordLedger } from './node-block.ts'

/** Where USDC of a wallet lies: an index in DEX_NAMES, or `spot`. */
type Pocket = number | 'spot'

const WITHDRAW_FEE = UNIT
const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address

/** Adds USDC to a pocket; below zero takes it away. Not recorded: part of a movement. */
export function addUsdc(x: Exchange, account: number, pocket: Pocket, usdc: bigint): void {
  const wallet = x.accounts[account]!
  if (pocket !== 'spot') {
    wallet.margin[pocket]!.rawUsd += usdc
    return
  }
  const balance = wallet.spot[USDC]!
  balance.total += usdc
  if (balance.total < balance.hold) throw new Error(`spot USDC of account ${account} is overdrawn`)
}

/** From outside into the main DEX. */
export function deposit(x: Exchange, account: number, usdc: bigint): void {
  addUsdc(x, account, 0, usdc)
  x.pools.deposited += usdc
  recordLedger(x.block, newHash(x), [addressOf(x, account)], { type: 'deposit', usdc: formatAmount(usdc) })
}

/** From the main DEX to outside; `usdc` includes the fee of 1 USDC, which stays on the exchange. */
export function withdraw(x: Exchange, account: number, usdc: bigint): void {
  addUsdc(x, account, 0, -usdc)
  x.pools.withdrawn += usdc - WITHDRAW_FEE
  x.pools.fees += WITHDRAW_FEE
  recordLedger(x.block, newHash(x), [addressOf(x, account)], {
    type: 'withdraw',
    usdc: formatAmount(usdc - WITHDRAW_FEE),
    nonce: x.block.timeMs,
    fee: formatAmount(WITHDRAW_FEE),
  })
}

/** Between the main DEXes of two wallets. */
export function internalTransfer(x: Exchange, from: number, to: number, usdc: bigint): void {
  addUsdc(x, from, 0, -usdc)
  addUsdc(x, to, 0, usdc)
  const user = addressOf(x, from)
  const destination = addressOf(x, to)
  const delta = { type: 'internalTransfer', usdc: formatAmount(usdc), user, destination, fee: '0.0' }
  recordLedger(x.block, newHash(x), [user, destination], delta)
}

/** Between a wallet's spot balance and its main DEX. */
export function classTransfer(x: Exchange, account: number, usdc: bigint, toPerp: boolean): void {
  addUsdc(x, account, 'spot', toPerp ? -usdc : usdc)
  addUsdc(x, account, 0, toPerp ? usdc : -usdc)
  const delta = { type: 'accountClassTransfer', usdc: formatAmount(usdc), toPerp }
  recordLedger(x.block, newHash(x), [addressOf(x, account)], delta)
}

const pocketName = (pocket: Pocket) => (pocket === 'spot' ? 'spot' : DEX_NAMES[pocket]!)

/** USDC between any two pockets of any two wallets. */
export function send(x: Exchange, from: number, to: number, source: Pocket, target: Pocket, usdc: bigint): void {
  addUsdc(x, from, source, -usdc)
  addUsdc(x, to, target, usdc)
  const user = addressOf(x, from)
  const destination = addressOf(x, to)
  recordLedger(x.block, newHash(x), from === to ? [user] : [user, destination], {
    type: 'send',
    user,
    destination,
    sourceDex: pocketName(source),
    destinationDex: pocketName(target),
    token: 'USDC',
    amount: formatAmount(usdc),
    usdcValue: formatAmount(usdc),
    fee: '0.0',
    nativeTokenFee: '0.0',
    nonce: x.block.timeMs,
    feeToken: '',
  })
}

/** A token between two wallets; what it cost its holder travels along in proportion. */
export function spotTransfer(x: Exchange, from: number, to: number, token: number, amount: bigint): void {
  const giver = x.accounts[from]!.spot[token]!
  const taker = x.accounts[to]!.spot[token]!
  if (giver.total - giver.hold < amount) throw new Error(`token ${token} of account ${from} is overdrawn`)
  const cost = (giver.cost * amount) / giver.total
  giver.total -= amount
  giver.cost -= cost
  taker.total += amount
  taker.cost += cost
  const user = addressOf(x, from)
  const destination = addressOf(x, to)
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

/** A token comes into being. */
export function spotGenesis(x: Exchange, account: number, token: number, amount: bigint): void {
  const balance = x.accounts[account]!.spot[token]!
  balance.total += amount
  balance.cost += usdValue(x, token, amount)
  x.pools.tokenSupply[token]! += amount
  const delta = { type: 'spotGenesis', token: TOKEN_NAMES[token]!, amount: formatAmount(amount) }
  recordLedger(x.block, newHash(x), [addressOf(x, account)], delta)
}

/** USDC of the spot balance into equal shares of both outcome sides. The node writes no ledger update about it. */
export function splitOutcome(x: Exchange, account: number, sides: readonly number[], amount: bigint): void {
  addUsdc(x, account, 'spot', -amount)
  x.pools.escrow += amount
  for (const side of sides) {
    const { token } = marketAt(side)
    const balance = x.accounts[account]!.spot[token]!
    balance.total += amount
    balance.cost += usdValue(x, token, amount)
    x.pools.tokenSupply[token]! += amount
  }
}

/** Pays out a builder's fees to its spot balance. */
export function claimRewards(x: Exchange, builder: number): void {
  const amount = x.pools.builderFees.get(builder) ?? 0n
  if (amount === 0n) return
  x.pools.builderFees.delete(builder)
  addUsdc(x, builder, 'spot', amount)
  const delta = { type: 'rewardsClaim', amount: formatAmount(amount), token: 'USDC' }
  recordLedger(x.block, newHash(x), [addressOf(x, builder)], delta)
}
