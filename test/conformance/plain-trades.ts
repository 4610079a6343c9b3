// Independent computation of completed trades with integers from collected fills, to verify responses.

import type { Fill } from '../../src/protocol/feed/block.ts'

/** A fill of one wallet and the height of its block, as a stream told them. */
export interface SeenFill {
  readonly height: number
  readonly fill: Fill
}

/** Of one wallet and coin in one block, positive is received. */
export type FundingAt = (coin: string, height: number) => bigint

const DECIMALS = 10

/** Tenths of billionths of wire text. */
export function whole(wire: string): bigint {
  const [digits = '', fraction = ''] = wire.replace('-', '').split('.')
  const value = BigInt(digits + fraction.padEnd(DECIMALS, '0'))
  return wire.startsWith('-') ? -value : value
}

export function wire(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(DECIMALS + 1, '0')
  const text = `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '')
  return value < 0n ? `-${text}` : text
}

/** Half away from zero. */
function divide(a: bigint, b: bigint): bigint {
  const half = (2n * (a < 0n ? -a : a) + b) / (2n * b)
  return a < 0n ? -half : half
}

/** Round trips of one wallet, in the order of their closing; without `tx_index`. */
export function plainTrades(user: string, seen: readonly SeenFill[], fundingAt: FundingAt) {
  const coins = [...new Set(seen.map(({ fill }) => fill.coin))].filter((coin) => !/[@#/]/.test(coin))
  const trades = coins.flatMap((coin) => tradesOf(user, coin, seen, fundingAt))
  return trades.sort((a, b) => a.at - b.at).map(({ at: _, ...trade }) => trade)
}

function tradesOf(user: string, coin: string, seen: readonly SeenFill[], fundingAt: FundingAt) {
  const trades = []
  // What has been gathered since the position was last flat; null where that was not seen.
  let parts:
    | { height: number; px: bigint; sz: bigint; fee: bigint; pnl: bigint; opens: boolean; maker: boolean }[]
    | null
  parts = null
  let since = { time: 0, peak: 0n }
  for (const [at, { fill, height }] of seen.entries()) {
    if (fill.coin !== coin) continue
    const start = whole(fill.startPosition)
    const sz = whole(fill.sz)
    const fee = whole(fill.fee)
    const end = start + (fill.side === 'B' ? sz : -sz)
    const common = { height, px: whole(fill.px), maker: !fill.crossed }
    if (start === 0n) {
      parts = []
      since = { time: fill.time, peak: 0n }
    }
    const size = (position: bigint) => (position < 0n ? -position : position)
    const flips = start !== 0n && end !== 0n && start > 0n !== end > 0n
    const reduces = start !== 0n && (flips || size(end) < size(start))
    const closing = flips ? size(start) : reduces ? sz : 0n
    const closingFee = flips ? divide(fee * closing, sz) : reduces ? fee : 0n
    if (reduces) parts?.push({ ...common, sz: closing, fee: closingFee, pnl: whole(fill.closedPnl), opens: false })
    if (flips || end === 0n) {
      if (parts) trades.push({ at, ...tradeOf(user, fill, parts, since, start, height, fundingAt) })
      parts = flips ? [] : null
      since = { time: fill.time, peak: 0n }
    }
    if (closing < sz) parts?.push({ ...common, sz: sz - closing, fee: fee - closingFee, pnl: 0n, opens: true })
    if (size(end) > since.peak) since.peak = size(end)
  }
  return trades
}

function tradeOf(
  user: string,
  last: Fill,
  parts: readonly {
    height: number
    px: bigint
    sz: bigint
    fee: bigint
    pnl: bigint
    opens: boolean
    maker: boolean
  }[],
  since: { time: number; peak: bigint },
  start: bigint,
  closed: number,
  fundingAt: FundingAt,
) {
  const sum = (value: (part: (typeof parts)[number]) => bigint) =>
    parts.reduce((total, part) => total + value(part), 0n)
  const price = (opens: boolean) => {
    const size = sum((part) => (part.opens === opens ? part.sz : 0n))
    return wire(
      divide(
        sum((part) => (part.opens === opens ? part.px * part.sz : 0n)),
        size,
      ),
    )
  }
  let funding = 0n
  for (let height = parts[0]!.height; height < closed; height++) funding += fundingAt(last.coin, height)
  const gross = sum(({ pnl }) => pnl)
  const fees = sum(({ fee }) => fee)
  return {
    user,
    coin: last.coin,
    position_type: start > 0n ? 'Long' : 'Short',
    gross_pnl: wire(gross),
    net_pnl: wire(gross - fees + funding),
    funding_pnl: wire(funding),
    entry_px: price(true),
    exit_px: price(false),
    position_closed_size: wire(since.peak),
    fees: wire(fees),
    fills: parts.length,
    open_time: since.time,
    close_time: last.time,
    duration_ms: last.time - since.time,
    max_position_size: wire(since.peak),
    maker_fills: parts.filter(({ maker }) => maker).length,
    builder: last.builder ?? null,
  }
}
