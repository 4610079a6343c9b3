// The money movements that are seldom seen, each with the ledger update that the node writes.
// The callers ask for no more than a wallet can give, as in transfers.ts; `hash` is the transaction's.

import { type Exchange, onTick, type Vault } from './exchange.ts'
import { formatAmount, min, notional, toMicro } from './fixed-point.ts'
import { DEX_NAMES, type Market } from './market.ts'
import { newTid } from './matching.ts'
import { recordLedger, ZERO_HASH } from './node-block.ts'
import { orderOf } from './order.ts'
import { settle, type Trade } from './settle.ts'
import { addUsdc } from './transfers.ts'

const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address

/** Between the main DEXes of a master and its sub-account, either way. */
export function subAccountTransfer(x: Exchange, hash: string, from: number, to: number, usdc: bigint): void {
  addUsdc(x, from, 0, -usdc)
  addUsdc(x, to, 0, usdc)
  const user = addressOf(x, from)
  const destination = addressOf(x, to)
  recordLedger(x.block, hash, [user, destination], {
    type: 'subAccountTransfer',
    usdc: formatAmount(usdc),
    user,
    destination,
  })
}

/** Between a wallet's spot balance and a builder-deployed DEX. */
export function dexClassTransfer(
  x: Exchange,
  hash: string,
  account: number,
  dex: number,
  usdc: bigint,
  toPerp: boolean,
): void {
  addUsdc(x, account, 'spot', toPerp ? -usdc : usdc)
  addUsdc(x, account, dex, toPerp ? usdc : -usdc)
  recordLedger(x.block, hash, [addressOf(x, account)], {
    type: 'perpDexClassTransfer',
    amount: formatAmount(usdc),
    token: 'USDC',
    dex: DEX_NAMES[dex]!,
    toPerp,
  })
}

/** A fee out of the spot balance: of the first use of a wallet, or of the right to deploy. */
export function payGas(
  x: Exchange,
  hash: string,
  account: number,
  type: 'accountActivationGas' | 'deployGasAuction',
  usdc: bigint,
): void {
  addUsdc(x, account, 'spot', -usdc)
  x.pools.fees += usdc
  const amount = formatAmount(usdc)
  const delta = type === 'deployGasAuction' ? { type, token: 'USDC', amount } : { type, amount, token: 'USDC' }
  recordLedger(x.block, hash, [addressOf(x, account)], delta)
}

/** A vault pays USDC out to its followers in proportion to their shares. */
export function distribute(x: Exchange, hash: string, vault: Vault, usdc: bigint): void {
  for (const [holder, follower] of vault.followers) {
    const part = toMicro((usdc * follower.shares) / vault.totalShares)
    if (part === 0n) continue
    addUsdc(x, vault.account, 0, -part)
    addUsdc(x, holder, 0, part)
    follower.basis -= min(part, follower.basis)
    const address = addressOf(x, vault.account)
    const delta = { type: 'vaultDistribution', vault: address, usdc: formatAmount(part) }
    recordLedger(x.block, hash, [addressOf(x, holder), address], delta)
  }
}

/** One lot of a spot token, too little to trade, becomes USDC: a fill of one side, as the node writes it. */
export function convertDust(x: Exchange, account: number, market: Market): void {
  const px = onTick(market.id, x.quotes[market.id]!.fair, 'B')
  const terms: Trade = { px, sz: market.lot, tid: newTid(x), hash: ZERO_HASH }
  const request = { owner: account, market: market.id, side: 'A', px, sz: market.lot, tif: 'Ioc' } as const
  const order = orderOf({ ...request, orderType: 'Spot Dust Conversion' }, x.nextOid++, x.block.timeMs)
  const [user, fill] = settle(x, order, terms, true)
  x.pools.tokenFees[market.token]! += market.lot
  x.pools.fees -= notional(px, market.lot)
  x.block.fills.push([user, { ...fill, dir: 'Spot Dust Conversion' }])
}

type Lending = 'supply' | 'withdraw' | 'borrow' | 'repay'

/**
 * USDC of the spot balance lent to the exchange and taken back, or borrowed from it and paid back. `interest` comes on
 * top of what is withdrawn or repaid.
 */
export function borrowLend(
  x: Exchange,
  hash: string,
  account: number,
  operation: Lending,
  usdc: bigint,
  interest: bigint,
): void {
  const { lent } = x.pools
  const towards = operation === 'supply' || operation === 'repay' ? 1n : -1n
  const paid = operation === 'withdraw' ? -interest : operation === 'repay' ? interest : 0n
  addUsdc(x, account, 'spot', -towards * usdc - paid)
  lent.set(account, (lent.get(account) ?? 0n) + towards * usdc)
  x.pools.fees += paid
  if (lent.get(account) === 0n) lent.delete(account)
  recordLedger(x.block, hash, [addressOf(x, account)], {
    type: 'borrowLend',
    token: 'USDC',
    operation,
    amount: formatAmount(usdc),
    interestAmount: formatAmount(operation === 'withdraw' || operation === 'repay' ? interest : 0n),
  })
}
