// Generates fills in the exchange's format and with as many digits. Each number determines one fill.

import type { UserFill } from '../../src/protocol/feed/block.ts'

const COINS = ['BTC', 'ETH', 'SOL', 'HYPE', ...Array.from({ length: 200 }, (_, at) => `COIN${at}`)]
const WORDS = [2, 3, 4, 5, 6, 7, 8, 9]

/** Of two numbers the lower one's sorts first; they differ in their first digits, as those of wallets do. */
export const addressOf = (number: number): string =>
  `0x${(number * 20_000).toString(16).padStart(8, '0')}${String(number).padStart(32, '0')}`

/** The same in SQL. */
export const addressInSql = (number: string): string => `printf('0x%08x%032d', 20000 * (${number}), ${number})`

/** From 0 to 1. */
export const randomOf = (tid: number, salt: number): number => {
  let mixed = Math.imul(tid ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

/** `trade`: what it has in common with the other side. */
export function inventedFill(user: string, number: number, time: number, builder?: string, trade = number): UserFill {
  const random = (salt: number) => randomOf(number, salt)
  const shared = (salt: number) => randomOf(trade, salt)
  const word = (salt: number) =>
    Math.floor(shared(salt) * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  const isBuy = number % 2 === 0
  const sides = { side: isBuy ? ('B' as const) : ('A' as const), dir: isBuy ? 'Open Long' : 'Close Long' }
  const px = (shared(10) * 90_000 + 10_000).toFixed(1)
  const amounts = { px, sz: (shared(11) * 3).toFixed(5), startPosition: (random(12) * 100).toFixed(5) }
  const closed = { closedPnl: (random(13) * 10).toFixed(6), fee: (random(14) / 10).toFixed(6), feeToken: 'USDC' }
  const coin = COINS[Math.floor(shared(15) ** 4 * COINS.length)]!
  const place = { hash: `0x${WORDS.map(word).join('')}`, oid: 1e11 + number, crossed: isBuy, tid: trade }
  return [
    user,
    { coin, ...amounts, ...sides, time, ...closed, ...place, ...(builder && { builder, builderFee: '0.01' }) },
  ]
}
