import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { FollowedOrders } from '../../../src/order-books/l4/followed-orders.ts'
import { type L4Block, type L4Order, RestingOrders } from '../../../src/order-books/l4/resting-orders.ts'
import { CAPTURE, DIFFS, readLines, readSnapshot, WIRES } from '../../fixtures/wire.ts'
import { blocks, NaiveOrders } from './naive-orders.ts'

const STATUSES = `${CAPTURE}/node_order_statuses_by_block.accepted-only.jsonl`
type Side = [user: string, order: Omit<L4Order, 'user'>][]

const levelsOf = (orders: RestingOrders, pieceChars = 100): unknown =>
  JSON.parse([...orders.texts(pieceChars)].join(''))

function loaded([bids, asks]: readonly [readonly L4Order[], readonly L4Order[]]): RestingOrders {
  const orders = new RestingOrders()
  for (const order of [...bids, ...asks]) expect(orders.add(order)).toBe(true)
  return orders
}

// WS-152
test('a snapshot and the rows of later blocks give the next snapshot, order by order', () => {
  fc.assert(
    fc.property(blocks, blocks, fc.nat(500), (before, after, pieceChars) => {
      const node = new NaiveOrders('BTC')
      before.forEach((moves, time) => void node.block(time, moves))
      const orders = loaded(node.levels())
      for (const [at, moves] of after.entries()) {
        const rows = node.block(1000 + at, moves)
        if (rows) expect(orders.apply(1000 + at, JSON.parse(`{${rows}}`) as L4Block)).toBeNull()
        expect(levelsOf(orders, pieceChars)).toEqual(node.levels())
      }
      expect(orders.size).toBe(node.orders.length)
    }),
  )
})

test('rows that do not fit are reported', () => {
  const node = new NaiveOrders('BTC')
  const [first, second] = [3, 3].map((kind) => JSON.parse(`{${node.block(1, [{ kind, at: 0, px: 0, sz: 4 }])}}`)) as [
    L4Block,
    L4Block,
  ]
  const orders = () => {
    const made = new RestingOrders()
    made.apply(1, first)
    return made
  }
  const oid = first.book_diffs[0]!.oid
  const diff = (raw_book_diff: L4Block['book_diffs'][number]['raw_book_diff'], of = oid) => [{ oid: of, raw_book_diff }]
  for (const [book_diffs, statuses, why] of [
    [diff('remove', 99), [], 'removed'],
    [diff({ update: { origSz: '7', newSz: '1' } }), [], 'size 7'],
    [diff({ update: { origSz: '4.5', newSz: '1' } }, 99), [], 'size 4.5'],
    [first.book_diffs, first.order_statuses, 'exists'],
    [second.book_diffs, [], 'no status'],
  ] as const)
    expect(orders().apply(2, { book_diffs, order_statuses: statuses })).toContain(why)
  expect(
    orders().apply(2, { book_diffs: diff({ update: { origSz: '4.50', newSz: '1' } }), order_statuses: [] }),
  ).toBeNull()
})

type Part = Parameters<FollowedOrders['onPart']>[0]

describe('orders that are followed', () => {
  const PLACE = { time: 1, epoch: 'e' }
  const node = () => {
    const made = new NaiveOrders('BTC')
    for (let at = 0; at < 9; at++) made.block(at, [{ kind: 3, at: 0, px: at, sz: at }])
    return made
  }
  /** Whole orders in parts of a few, as a feeder sends them. */
  const partsOf = (made: NaiveOrders, height: number) => {
    const [bids, asks] = made.levels()
    const cuts = [...bids, ...asks].map((_, at) => [
      bids.slice(at, at + 1),
      asks.slice(at - bids.length, at - bids.length + 1),
    ])
    return cuts.map(([bid, ask], part) => ({
      height,
      time: 1,
      part,
      parts: cuts.length,
      bids: bid!,
      asks: part < bids.length ? [] : ask!,
    }))
  }

  it('come in parts, and advance with later blocks', () => {
    const made = node()
    const followed = new FollowedOrders()
    expect(
      partsOf(made, 10)
        .map((part) => followed.onPart(part))
        .at(-1),
    ).toBe('complete')
    expect(followed.isReady).toBe(false)
    // What an earlier link still brings leads on from nothing.
    expect(followed.onBlock({ ...PLACE, height: 30 }, undefined)).toBeNull()
    followed.follow('e')
    const rows = made.block(11, [{ kind: 3, at: 0, px: 1, sz: 1 }])
    expect(followed.onBlock({ ...PLACE, height: 10 }, 'not looked at')).toBeNull()
    expect(followed.onBlock({ ...PLACE, height: 11 }, rows)).toBeNull()
    expect(followed.onBlock({ ...PLACE, height: 12 }, '')).toBeNull()
    expect(followed.position).toEqual({ ...PLACE, height: 12 })
    expect(JSON.parse(followed.texts(100).join(''))).toEqual(made.levels())
  })

  it.each([
    ['a height is missing', 12, ''],
    ['rows are not known', 11, undefined],
    ['rows do not fit', 11, '"order_statuses":[],"book_diffs":[{"oid":77,"raw_book_diff":"remove"}]'],
    ['rows cannot be read', 11, '"order_statuses":[null],"book_diffs":[]'],
  ])('are lost if %s', (_, height, rows) => {
    const followed = new FollowedOrders()
    for (const part of partsOf(node(), 10)) followed.onPart(part)
    followed.follow('e')
    expect(followed.onBlock({ ...PLACE, height }, rows)).not.toBeNull()
    expect([followed.isReady, followed.position, followed.texts(1)]).toEqual([false, null, []])
  })

  it('start over with part 0, and are invalid if a part is missing or has a different height', () => {
    const [a, b, c] = partsOf(node(), 10) as [Part, Part, Part]
    const followed = new FollowedOrders()
    expect([a, c, b, a, a, { ...b, height: 11 }, b].map((part) => followed.onPart(part))).toEqual([
      ...['more', 'invalid', 'invalid', 'more', 'more', 'invalid', 'invalid'],
    ])
  })
})

const [, [, wire, isAbsent]] = WIRES

describe('files of a real node', () => {
  it.skipIf(isAbsent)('fit its snapshot in every row', () => {
    const [, [[, sides]]] = readSnapshot(wire) as [number, [[string, [Side, Side]]]]
    const [bids, asks] = sides.map((side) => side.map(([user, order]) => ({ ...order, user })))
    const orders = loaded([bids!, asks!])
    const oids = [...orders.texts(1e9)].join('').match(/"oid":\d+/g) ?? []
    expect(oids.map((text) => Number(text.slice(6)))).toEqual([...bids!, ...asks!].map(({ oid }) => oid))
    const statuses = new Map(readLines(wire, STATUSES).map((line) => [line.block_number, line.events]))
    for (const { block_number, events } of readLines(wire, DIFFS)) {
      const rows = { book_diffs: events, order_statuses: statuses.get(block_number) ?? [] } as unknown as L4Block
      expect(orders.apply(1, rows), `block ${block_number}`).toBeNull()
    }
  })
})
