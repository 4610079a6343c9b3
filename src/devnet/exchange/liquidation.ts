// Closes the positions of wallets below their maintenance margin: normally at market, but through the backstop vault at
// mark price if their value is below two thirds of the maintenance margin. Only that vault takes losses.

import { isCrowd } from './crowd.ts'
import { type Exchange, markPxs, onTick } from './exchange.ts'
import { abs, formatAmount } from './fixed-point.ts'
import { marketAt, perpsOf } from './market.ts'
import { cancelOrder, newTid, placeOrder, recordTrade } from './matching.ts'
import { recordLedger, ZERO_HASH } from './node-block.ts'
import { type Liquidation, opposite, orderOf, type Side } from './order.ts'
import { isIsolated } from './roles.ts'
import { type MarginAccount, type MarginState, marginState, type Wallet } from './wallet.ts'

/**
 * Liquidates those of the accounts that are below their maintenance margin, except the backstop vault and the crowd.
 */
export function liquidate(x: Exchange, accounts: Iterable<number>): void {
  const marks = markPxs(x)
  for (const index of accounts) {
    const wallet = x.accounts[index]!
    if (index === x.vaults[0]?.account || isCrowd(x, index)) continue
    wallet.margin.forEach((margin, dex) => {
      if (margin.positions.size === 0) return
      const state = marginState(margin, marks)
      if (state.value < state.maintenance) close(x, wallet, margin, dex, state, marks)
    })
  }
}

function close(x: Exchange, wallet: Wallet, margin: MarginAccount, dex: number, state: MarginState, marks: bigint[]) {
  cancelAll(x, wallet, dex)
  const method = state.value * 3n < state.maintenance * 2n ? 'backstop' : 'market'
  const liquidatedPositions = [...margin.positions].map(([id, { szi }]) => ({
    coin: marketAt(id).coin,
    szi: formatAmount(szi),
  }))
  recordLedger(x.block, ZERO_HASH, [wallet.address], {
    type: 'liquidation',
    liquidatedNtlPos: formatAmount(state.ntl),
    accountValue: formatAmount(state.value),
    leverageType: isIsolated(wallet.index) ? 'Isolated' : 'Cross',
    liquidatedPositions,
  })
  for (const [id, { szi }] of [...margin.positions]) {
    const mark = marks[id]!
    const info: Liquidation = { liquidatedUser: wallet.address, markPx: formatAmount(mark), method }
    if (method === 'market') closeAtMarket(x, wallet, id, szi, mark, info)
    else takeOver(x, wallet, id, szi, mark, info)
  }
  if (method === 'backstop') seize(x, margin, dex)
}

function cancelAll(x: Exchange, wallet: Wallet, dex: number): void {
  for (const { id } of perpsOf(dex, x.scale.markets))
    for (const list of wallet.orders[id]!) for (const order of [...list]) cancelOrder(x, order, 'liquidatedCanceled')
}

const closingSide = (szi: bigint): Side => (szi > 0n ? 'A' : 'B')

function closeAtMarket(x: Exchange, wallet: Wallet, id: number, szi: bigint, mark: bigint, info: Liquidation): void {
  const side = closingSide(szi)
  const px = onTick(id, side === 'A' ? (mark * 97n) / 100n : (mark * 103n) / 100n, side)
  const common = { tif: 'LiquidationMarket', orderType: 'Market', reduceOnly: true, liquidation: info } as const
  placeOrder(x, { ...common, owner: wallet.index, market: id, side, px, sz: abs(szi) })
}

/** The vault takes over a position at mark price, outside the book and without fees. */
function takeOver(x: Exchange, wallet: Wallet, id: number, szi: bigint, mark: bigint, info: Liquidation): void {
  const side = closingSide(szi)
  const px = onTick(id, mark, side)
  const sz = abs(szi)
  const common = { market: id, px, sz, tif: 'LiquidationMarket', orderType: 'Market', liquidation: info } as const
  const closing = orderOf({ ...common, owner: wallet.index, side, reduceOnly: true }, x.nextOid++, x.block.timeMs)
  const opening = orderOf({ ...common, owner: x.vaults[0]!.account, side: opposite(side) }, x.nextOid++, x.block.timeMs)
  recordTrade(x, closing, opening, { px, sz, tid: newTid(x), hash: ZERO_HASH, free: true })
}

/** The vault gets the rest of the wallet's margin, even if it is negative. */
function seize(x: Exchange, margin: MarginAccount, dex: number): void {
  x.accounts[x.vaults[0]!.account]!.margin[dex]!.rawUsd += margin.rawUsd
  margin.rawUsd = 0n
}
