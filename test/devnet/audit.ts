// Rules of the exchange that must hold after every block. Returns a description of each violation.

import type { Exchange } from '../../src/devnet/exchange/exchange.ts'
import { notional } from '../../src/devnet/exchange/fixed-point.ts'
import { MARKETS, OUTCOME_SIDES, TOKENS, USDC } from '../../src/devnet/exchange/market.ts'
import type { OrderBook } from '../../src/devnet/exchange/order-book.ts'
import { ordersOf, type Wallet } from '../../src/devnet/exchange/wallet.ts'

/** Every violation; empty if there is none. */
export function audit(x: Exchange): string[] {
  return [...auditPositions(x), ...auditUsdc(x), ...auditTokens(x), ...auditBooks(x), ...auditVaults(x)]
}

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

function auditPositions(x: Exchange): string[] {
  const broken: string[] = []
  const open = MARKETS.map(() => 0n)
  for (const { margin } of x.accounts)
    margin.forEach(({ positions }, dex) => {
      for (const [id, { szi, cost }] of positions) {
        open[id]! += szi
        if (szi === 0n || szi > 0n !== cost > 0n)
          broken.push(`position of ${MARKETS[id]!.coin}: size ${szi}, cost ${cost}`)
        if (MARKETS[id]!.dex !== dex) broken.push(`${MARKETS[id]!.coin} on DEX ${dex}`)
      }
    })
  for (const { id, coin } of MARKETS) if (open[id] !== 0n) broken.push(`positions of ${coin} add up to ${open[id]}`)
  return broken
}

function auditUsdc(x: Exchange): string[] {
  const { pools } = x
  const cash = sum(x.accounts.flatMap(({ margin, spot }) => [...margin.map((m) => m.rawUsd), spot[USDC]!.total]))
  const total =
    cash + pools.fees + pools.deployerFees + pools.escrow + sum(pools.builderFees.values()) + sum(pools.lent.values())
  const net = pools.deposited - pools.withdrawn
  return total === net ? [] : [`USDC adds up to ${total}, deposits less withdrawals to ${net}`]
}

function auditTokens(x: Exchange): string[] {
  const broken: string[] = []
  for (let token = 1; token < TOKENS.length; token++) {
    const held = sum(x.accounts.map(({ spot }) => spot[token]!.total)) + x.pools.tokenFees[token]!
    if (held !== x.pools.tokenSupply[token])
      broken.push(`${TOKENS[token]} adds up to ${held} of ${x.pools.tokenSupply[token]}`)
  }
  for (const side of OUTCOME_SIDES)
    if (x.pools.tokenSupply[MARKETS[side]!.token] !== x.pools.escrow)
      broken.push('outcome shares differ from their escrow')
  for (const wallet of x.accounts) broken.push(...auditHolds(wallet))
  return broken
}

function auditHolds(wallet: Wallet): string[] {
  const holds = wallet.spot.map(() => 0n)
  for (const market of MARKETS) {
    if (market.kind === 'perp') continue
    for (const order of ordersOf(wallet, market.id, 'B')) holds[USDC]! += notional(order.px, order.sz)
    for (const order of ordersOf(wallet, market.id, 'A')) holds[market.token]! += order.sz
  }
  return wallet.spot.flatMap(({ total, hold }, token) => {
    const name = `${TOKENS[token]} of account ${wallet.index}`
    if (hold !== holds[token]) return [`${name} holds ${hold}, orders ${holds[token]}`]
    return hold < 0n || total < hold ? [`${name} is overdrawn: ${total} with ${hold} held`] : []
  })
}

function auditBooks(x: Exchange): string[] {
  return MARKETS.flatMap(({ id, coin }) => auditBook(x, id, x.books[id]!).map((text) => `${coin}: ${text}`))
}

function auditBook(x: Exchange, id: number, book: OrderBook): string[] {
  const broken: string[] = []
  let resting = 0
  for (const side of ['B', 'A'] as const) {
    let before: bigint | null = null
    for (const level of book.side(side)) {
      if (before !== null && (side === 'B' ? level.px <= before : level.px >= before))
        broken.push('levels out of order')
      before = level.px
      if (level.sz !== sum(level.orders.map(({ sz }) => sz)))
        broken.push(`level ${level.pxText} differs from its orders`)
      level.orders.forEach((order, i) => {
        resting++
        if (order.sz <= 0n || order.px !== level.px || order.side !== side)
          broken.push(`order ${order.oid} is misplaced`)
        if (i > 0 && level.orders[i - 1]!.oid > order.oid) broken.push(`order ${order.oid} jumped the queue`)
        if (ordersOf(x.accounts[order.owner]!, id, side)[order.slot] !== order)
          broken.push(`order ${order.oid} is not listed`)
      })
    }
  }
  const listed = x.accounts.reduce((n, { orders }) => n + orders[id]![0].length + orders[id]![1].length, 0)
  if (listed !== resting) broken.push(`${listed} orders listed, ${resting} resting`)
  const bid = book.bestPx('B')
  const ask = book.bestPx('A')
  if (bid !== undefined && ask !== undefined && bid >= ask) broken.push('crossed')
  return broken
}

function auditVaults(x: Exchange): string[] {
  return x.vaults.flatMap(({ name, totalShares, followers }) => {
    const held = sum([...followers.values()].map(({ shares }) => shares))
    return held === totalShares ? [] : [`shares of ${name} add up to ${held} of ${totalShares}`]
  })
}
