// The content of the node's snapshot file: every resting order of every coin at one height. On a large exchange, it has
// hundreds of megabytes. Mutable state is copied first, within milliseconds; the JSON follows in pieces.

import { sideOf } from '../exchange/crowd-orders.ts'
import { crowdOrderAt, orderText } from '../exchange/crowd-text.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { frontendOrder, type Side } from '../exchange/order.ts'
import { INACTIVE_PXS } from './listing.ts'

/** Orders per piece. Encoding a piece takes a few milliseconds. */
const PIECE = 2_000

interface Line {
  /** Price for sorting, as in CrowdOrders: an order that trades later has a lower value. */
  readonly px: number
  readonly oid: number
  readonly text: string
}

/**
 * Pieces of the file, for the state at the time of the call. Orders are sorted best price first, then first in, first
 * out.
 */
export function l4Snapshot(x: Exchange, includeUsers: boolean, includeHeight: boolean): Iterable<string> {
  const entry = (user: string, order: string) => (includeUsers ? `["${user}",${order}]` : order)
  const crowd = x.crowd?.orders.copy() ?? null
  const mine = x.scale.markets.map(({ id, tick }) =>
    (['B', 'A'] as const).map((side) =>
      x.books[id]!.side(side)
        .toReversed()
        .flatMap(({ px, orders }): Line[] =>
          orders.map((order) => ({
            px: Number(px / tick),
            oid: order.oid,
            text: entry(x.accounts[order.owner]!.address, JSON.stringify(frontendOrder(order))),
          })),
        ),
    ),
  )

  function* sideText(market: number, side: Side): Generator<string> {
    const lines = mine[market]![side === 'B' ? 0 : 1]!
    const slots = crowd?.sides[sideOf(market, side)] ?? []
    const goesBefore = (line: Line, slot: number) => {
      const px = (line.px - crowd!.px[slot]!) * (side === 'B' ? 1 : -1)
      return px > 0 || (px === 0 && line.oid < crowd!.oid[slot]!)
    }
    let piece: string[] = []
    let isFirst = true
    for (let i = 0, at = slots.length - 1; i < lines.length || at >= 0; ) {
      if (at < 0 || (i < lines.length && goesBefore(lines[i]!, slots[at]!))) piece.push(lines[i++]!.text)
      else {
        const order = crowdOrderAt(crowd!, slots[at--]!, x.accounts)
        piece.push(entry(order.user, orderText(order)))
      }
      if (piece.length < PIECE && (i < lines.length || at >= 0)) continue
      yield isFirst ? piece.join() : `,${piece.join()}`
      isFirst = false
      piece = []
    }
  }

  function* text(): Generator<string> {
    yield includeHeight ? `[${height},[` : '['
    for (const { id, coin } of x.scale.markets) {
      yield `${id === 0 ? '' : ','}["${coin}",[[`
      yield* sideText(id, 'B')
      yield '],['
      yield* sideText(id, 'A')
      yield ']]]'
    }
    for (const coin of INACTIVE_PXS.keys()) yield `,["${coin}",[[],[]]]`
    yield includeHeight ? ']]' : ']'
  }
  const { height } = x
  return text()
}
