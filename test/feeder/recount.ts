// Books and level changes of recorded blocks, counted anew by summing all orders before and after every block. It shares
// no code with the product, and is the golden result of both captures: of the recorded one it equals the file beside it.

import { createHash } from 'node:crypto'
import { DIFFS, readLines, readSnapshot } from '../fixtures/wire.ts'

interface Level {
  readonly px: string
  readonly sz: string
  readonly n: number
}
type Levels = [Level[], Level[]]
interface Book {
  readonly levels_per_side: [number, number]
  readonly sha256: string
  readonly top20: Levels
}
export interface Golden {
  readonly coin: string
  readonly snapshot_height: number
  readonly last_height: number
  readonly snapshot: Book
  readonly diffs: readonly { readonly block_height: number; readonly block_time: string; readonly levels: Levels }[]
  readonly end: Book
}
interface Order {
  readonly side: string
  readonly px: string
  readonly sz: bigint
}
/** Size and orders of every price, of the bids and of the asks. */
type Sums = Map<string, readonly [sz: bigint, n: number]>[]
type Change = 'remove' | { new?: { sz: string }; update?: { newSz: string } }

export function recount(wire: string): Golden {
  const [height, [[coin, sides] = ['', [[], []]]]] = readSnapshot(wire)
  const orders = new Map<unknown, Order>()
  const rest = (oid: unknown, side: unknown, px: unknown, sz: unknown) =>
    orders.set(oid, { side, px, sz: unitsOf(sz as string) } as Order)
  for (const [, { oid, side, limitPx, sz, isTrigger }] of sides.flat()) if (!isTrigger) rest(oid, side, limitPx, sz)
  let before = sumsOf(orders)
  const snapshot = summaryOf(before)
  const diffs = readLines(wire, DIFFS).map(({ block_number, block_time, events }) => {
    for (const { oid, side, px, raw_book_diff } of events) {
      const change = raw_book_diff as Change
      if (change === 'remove') orders.delete(oid)
      else rest(oid, side, px, change.new?.sz ?? change.update!.newSz)
    }
    const after = sumsOf(orders)
    const levels = [0, 1].map((side) => changedLevels(before[side]!, after[side]!, side === 0)) as Levels
    before = after
    return { block_height: block_number, block_time, levels }
  })
  const last_height = diffs.at(-1)!.block_height
  return { coin, snapshot_height: height, last_height, snapshot, diffs, end: summaryOf(before) }
}

function sumsOf(orders: ReadonlyMap<unknown, Order>): Sums {
  const sums: Sums = [new Map(), new Map()]
  for (const { side, px, sz } of orders.values()) {
    const ofSide = sums[side === 'B' ? 0 : 1]!
    const [sum, n] = ofSide.get(px) ?? [0n, 0]
    if (sz > 0n) ofSide.set(px, [sum + sz, n + 1])
  }
  return sums
}

function changedLevels(before: Sums[0], after: Sums[0], isBid: boolean): Level[] {
  const changed = new Map(
    [...after].filter(([px, [sum, n]]) => before.get(px)?.[0] !== sum || before.get(px)?.[1] !== n),
  )
  for (const px of before.keys()) if (!after.has(px)) changed.set(px, [0n, 0])
  return bestFirst(changed, isBid)
}

const bestFirst = (sums: Sums[0], isBid: boolean): Level[] =>
  [...sums]
    .sort(([a], [b]) => Number(unitsOf(a) - unitsOf(b)) * (isBid ? -1 : 1))
    .map(([px, [sum, n]]) => ({ px, sz: n === 0 ? '0' : textOf(sum), n }))

const DECIMALS = 8
const unitsOf = (text: string) => {
  const [whole, decimals = ''] = text.split('.')
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'))
}
const textOf = (units: bigint) => {
  const digits = String(units).padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/(\.\d+?)0*$/, '$1')
}

function summaryOf(sums: Sums): Book {
  const levels = [bestFirst(sums[0]!, true), bestFirst(sums[1]!, false)] as Levels
  return {
    levels_per_side: [levels[0].length, levels[1].length],
    sha256: createHash('sha256').update(JSON.stringify(levels)).digest('hex'),
    top20: [levels[0].slice(0, 20), levels[1].slice(0, 20)],
  }
}
