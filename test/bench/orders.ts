// All orders of COIN, and as many rows per block as were recorded for BTC: 5.6 MB of order statuses and raw diffs
// per second, 386 KB per block. Invariant: the rows of each block match the orders and leave them unchanged in the
// end.

import { COIN, timeOf } from './blocks.ts'

/** BTC had 51,351; as many are 17 MB, which are to be had at other relays than the bench's one. */
const RESTING = 30_000
/** Each comes and is cancelled in the same block: two statuses and two diffs. */
const ORDERS_A_BLOCK = 285
const ORDERS_A_PART = 800
const USER = `0x${'7'.repeat(40)}`

function order(oid: number) {
  const rest = { triggerCondition: 'N/A', isTrigger: false, triggerPx: '0.0', isPositionTpsl: false, reduceOnly: false }
  const px = `${70_000 + (oid % 9_000)}.0`
  const cloid = `0x${'5'.repeat(32)}`
  const first = { coin: COIN, side: 'B', limitPx: px, sz: '0.21345', oid, timestamp: timeOf(0) }
  return { ...first, ...rest, orderType: 'Limit', tif: 'Alo', cloid }
}

/** The orders after a block, as a feeder sends them. */
export function orderParts(height: number): string[] {
  const parts = Math.ceil(RESTING / ORDERS_A_PART)
  return Array.from({ length: parts }, (_, part) => {
    const from = part * ORDERS_A_PART
    const bids = Array.from({ length: Math.min(ORDERS_A_PART, RESTING - from) }, (_, i) => ({
      user: USER,
      ...order(1 + from + i),
    }))
    return JSON.stringify({ type: 'l4', coin: COIN, height, time: timeOf(height), bids, asks: [], part, parts })
  })
}

const NONE = { coin: COIN, statuses: [], diffs: [] }
let rows: string | null = null

/** The rows of COIN in a block, or that there are none; orders of no two blocks have the same numbers. */
export function orderRows(height: number, isBusy: boolean): string {
  if (!isBusy) return JSON.stringify(NONE)
  rows ??= JSON.stringify(busyRows())
  return rows.replaceAll('"oid":-', `"oid":${height}`)
}

function busyRows() {
  const of = <T>(make: (oid: number) => T[]) => Array.from({ length: ORDERS_A_BLOCK }, (_, i) => make(-1 - i)).flat()
  const row = { time: '2026-11-01T00:00:00.123456789', user: USER, hash: `0x${'c'.repeat(64)}`, builder: null }
  const whole = (oid: number) => ({ ...order(oid), children: [], origSz: '0.21345' })
  const diff = (oid: number) => ({ user: USER, oid, coin: COIN, side: 'B', px: order(oid).limitPx })
  return {
    coin: COIN,
    statuses: of((oid) => ['open', 'canceled'].map((status) => ({ ...row, status, order: whole(oid) }))),
    diffs: of((oid) => [
      { ...diff(oid), raw_book_diff: { new: { sz: '0.21345' } } },
      { ...diff(oid), raw_book_diff: 'remove' },
    ]),
  }
}
