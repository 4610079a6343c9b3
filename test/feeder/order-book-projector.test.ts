// Order books of another height are projected to ours, whichever is ahead. Digests identify our books at any retained height.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OrderBookProjector, RecentDiffs } from '../../src/feeder/order-book-projector.ts'
import { OrderBooks } from '../../src/feeder/order-books.ts'
import { seededRandom } from '../kit/random.ts'
import { passed } from './drained.ts'
import { ModelNode } from './model-node.ts'

/** A node of some blocks, its order books at every height, and our order books at `from`. */
function world(seed: number, blocks: number, recent?: RecentDiffs) {
  const node = new ModelNode(seededRandom(seed))
  const truth = new Map<number, OrderBooks>()
  for (let i = 0; i < blocks; i++) truth.set(node.step().height, node.books())
  const keeper = new OrderBookProjector(recent)
  const pass = (height: number) => passed(keeper, node, height)
  return { node, truth, keeper, pass }
}

const same = (ours: OrderBooks, truth: OrderBooks) => {
  for (const coin of new Set([...ours.coins(), ...truth.coins()])) {
    expect(ours.levels(coin)).toEqual(truth.levels(coin))
    expect(ours.digest(coin)).toBe(truth.digest(coin))
  }
}

test('a snapshot of any height is brought up to the current height, or waits for it', () => {
  fc.assert(
    fc.property(fc.nat(99), fc.nat(50), fc.nat(50), (seed, snapshotAt, meetAt) => {
      const { keeper, pass, truth } = world(seed, 60)
      keeper.startAt({ height: 100, time: 't' }, null)
      for (let height = 101; height <= 105 + meetAt; height++) pass(height)
      keeper.offerSnapshot({ height: 101 + snapshotAt, books: truth.get(101 + snapshotAt)!, coins: 'all' })
      for (let height = 106 + meetAt; height < 160; height++) pass(height)
      same(keeper.books!, truth.get(159)!)
    }),
  )
})

test('only coins that need a repair replace known books', () => {
  const { keeper, pass, truth } = world(1, 60)
  keeper.startAt({ height: 120, time: 't' }, truth.get(120)!)
  for (let height = 121; height <= 130; height++) pass(height)
  keeper.books!.markSuspect('BTC')
  expect(keeper.needsSnapshot).toBe(true)
  keeper.offerSnapshot({ height: 125, books: truth.get(125)!, coins: new Set(['BTC']) })
  expect(keeper.takeRepaired()).toEqual(['BTC'])
  expect(keeper.needsSnapshot).toBe(false)
  for (let height = 131; height < 160; height++) pass(height)
  same(keeper.books!, truth.get(159)!)
})

test('a snapshot that is too old is dropped and counted', () => {
  const { keeper, pass, truth } = world(2, 60, new RecentDiffs(20))
  keeper.startAt({ height: 100, time: 't' }, null)
  for (let height = 101; height <= 150; height++) pass(height)
  keeper.offerSnapshot({ height: 110, books: truth.get(110)!, coins: 'all' })
  expect(keeper.missedSnapshots).toBe(1)
  expect(keeper.availability(110)).toBe('too old')
  expect(keeper.needsSnapshot).toBe(true)
})

test('digests at an earlier height equal those of the books at that time', () => {
  const { keeper, pass, truth } = world(3, 60)
  keeper.startAt({ height: 110, time: 't' }, truth.get(110)!)
  const then = new Map<number, Map<string, number>>()
  for (let height = 111; height < 160; height++) {
    pass(height)
    then.set(height, keeper.digestsAt(height))
  }
  for (const [height, digests] of then) {
    expect(keeper.availability(height)).toBe('available')
    const nonEmpty = (all: Map<string, number>) => [...all].filter(([, digest]) => digest !== 0).sort()
    expect(nonEmpty(keeper.digestsAt(height))).toEqual(nonEmpty(digests))
  }
})

test('a long block is applied in steps, snapshots wait for it, and aborting it leaves unknown books', () => {
  const added = { coin: 'BTC', side: 'B', raw_book_diff: { new: { sz: '1.0' } } }
  const events = Array.from({ length: 2_000 }, (_, oid) => ({ oid, px: `${oid}.5`, ...added }))
  const begun = () => {
    const keeper = new OrderBookProjector()
    keeper.startAt({ height: 1, time: 't' }, new OrderBooks())
    return { keeper, steps: keeper.advance({ height: 2, time: 't' }, events) }
  }
  const whole = begun()
  let turns = 0
  while (!whole.steps.next().done) {
    turns++
    whole.keeper.offerSnapshot({ height: 1, books: new OrderBooks(), coins: new Set(['BTC']) })
    expect(whole.keeper.position?.height).toBe(1)
  }
  expect(turns).toBeGreaterThan(4)
  // The offered order book was projected to this height before it was applied.
  expect(whole.keeper.books!.depths('BTC')).toEqual([2_000, 0])
  expect([whole.keeper.takeRepaired(), whole.keeper.misfits]).toEqual([['BTC'], 0])
  const broken = begun()
  broken.steps.next()
  broken.steps.return(null)
  expect([broken.keeper.books, broken.keeper.position?.height]).toEqual([null, 2])
})
