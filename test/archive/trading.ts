// Generates a wallet's trading: consecutive fills like the exchange's, in blocks with funding in between. Sizes are
// whole hundredths, so that tests can count in integers.

import fc from 'fast-check'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../src/protocol/feed/durable-api.ts'

export const USER = `0x${'ab'.repeat(20)}`
export const BUILDER = `0x${'cd'.repeat(20)}`

/** An integer of so many decimals as wire text. */
function text(units: bigint | number, decimals: number): string {
  const negative = units < 0
  const digits = String(units)
    .replace('-', '')
    .padStart(decimals + 1, '0')
  return `${negative ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** The inverse: an integer of `decimals` from wire text with at most that many. */
export function units(wire: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = wire.replace('-', '').split('.')
  if (fraction.length > decimals) throw new Error(`${wire} has more than ${decimals} decimals`)
  const value = BigInt(whole + fraction.padEnd(decimals, '0'))
  return wire.startsWith('-') ? -value : value
}

interface Step {
  readonly coin: string
  readonly delta: number
  readonly px: number
  readonly fee: number
  readonly pnl: number
  readonly crossed: boolean
  readonly built: boolean
  readonly endsBlock: boolean
  readonly funding: number
}

const signed = (most: number) => fc.integer({ min: -most, max: most })
const step: fc.Arbitrary<Step> = fc.record({
  coin: fc.constantFrom('BTC', 'ETH', 'xyz:GOLD'),
  delta: signed(4).filter((delta) => delta !== 0),
  px: fc.integer({ min: 1, max: 9_999_999 }),
  fee: signed(1_000_000),
  pnl: signed(1_000_000_000),
  crossed: fc.boolean(),
  built: fc.boolean(),
  endsBlock: fc.boolean(),
  funding: signed(1_000),
})

export const FIRST_MS = 1_790_000_000_000
const BLOCK_MS = 70

/** Fill number `n` of the wallet from a position of `start` hundredths. */
function fillOf(n: number, { coin, delta, px, fee, pnl, crossed, built }: Step, start: number, time: number): Fill {
  const end = start + delta
  const closes = Math.sign(start) * Math.sign(delta) < 0
  return {
    coin,
    px: text(px, 2),
    sz: text(Math.abs(delta), 2),
    side: delta > 0 ? 'B' : 'A',
    time,
    startPosition: text(start, 2),
    dir: `${text(start, 2)} to ${text(end, 2)}`,
    closedPnl: closes ? text(pnl, 6) : '0.0',
    hash: '0x',
    oid: n,
    crossed,
    fee: text(fee, 6),
    tid: n,
    feeToken: 'USDC',
    ...(built ? { builder: BUILDER, builderFee: '0.000001' } : {}),
    twapId: null,
  }
}

/** Blocks of one wallet's fills, every position flat at first. */
export const trading: fc.Arbitrary<EventBlock[]> = fc.array(step, { maxLength: 60, size: 'max' }).map((steps) => {
  const positions = new Map<string, number>()
  const blocks: EventBlock[] = []
  let fills: UserFill[] = []
  steps.forEach((one, n) => {
    const time = FIRST_MS + blocks.length * BLOCK_MS
    const start = positions.get(one.coin) ?? 0
    fills.push([USER, fillOf(n, one, start, time)])
    positions.set(one.coin, start + one.delta)
    if (!one.endsBlock && n < steps.length - 1) return
    const funding = one.funding > 500 ? [{ coin: one.coin, perUnit: text(one.funding - 750, 6) }] : []
    blocks.push({ height: 100 + blocks.length, time, fills, funding })
    fills = []
  })
  return blocks
})

const payment = fc.record({
  after: fc.nat(60),
  coins: fc.subarray(['BTC', 'ETH', 'xyz:GOLD', 'SOL'], { minLength: 1 }),
  perUnit: signed(10 ** 15),
})

/** The same two heights apart, with blocks between that pay funding and nothing else. */
export const paidTrading: fc.Arbitrary<EventBlock[]> = fc
  .tuple(trading, fc.array(payment, { maxLength: 30, size: 'max' }))
  .map(([blocks, payments]) => {
    const all = blocks.map((block, at) => ({ ...block, height: 100 + 2 * at }))
    const paid = payments.flatMap(({ after, coins, perUnit }): EventBlock[] => {
      const before = all[after % Math.max(1, all.length)]
      if (!before) return []
      const funding = coins.map((coin) => ({ coin, perUnit: text(perUnit, 14) }))
      return [{ height: before.height + 1, time: before.time + BLOCK_MS / 2, fills: [], funding }]
    })
    // One block each.
    const byHeight = new Map([...all, ...paid].map((block) => [block.height, block]))
    return [...byHeight.values()].sort((a, b) => a.height - b.height)
  })
