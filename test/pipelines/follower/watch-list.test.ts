// Pipelines that wait for rows: each block that matters leads to a call, repeated until it is read, whatever fails in between.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Watch, WatchList } from '../../../src/pipelines/follower/watch-list.ts'
import type { EmptyRange, WatchRequest } from '../../../src/pipelines/follower-api.ts'
import { selectTopic } from '../../../src/pipelines/topics/catalogue.ts'
import type { TopicBlock, TopicTrigger, TriggerSource } from '../../../src/pipelines/topics/topic.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'

type NamedBlock = TopicBlock & { readonly names: readonly string[] | null }
const SOURCE: TriggerSource = { namesIn: (block) => (block as NamedBlock).names }
const triggerOf = (...names: string[]): TopicTrigger => ({ source: SOURCE, names })
const requestOf = (id: string, over: Partial<WatchRequest> = {}): WatchRequest => ({
  v: 1,
  id,
  account: id,
  revision: 1,
  topic: 'fills',
  filter: null,
  from: 1,
  gatherMs: 0,
  end: null,
  ...over,
})
const blockOf = (height: number, names: readonly string[] | null, epoch = 'e'): NamedBlock => ({
  height,
  time: height * 70,
  epoch,
  names,
})
const START = { height: 0, time: 0, epoch: 'e' }
const idsOf = (watches: readonly Watch[]) => watches.map(({ request: { id } }) => id)

describe('a pipeline that waits', () => {
  it('is called for its rows alone, and told which blocks it need not read', () => {
    const list = new WatchList(START)
    list.add(requestOf('a'), triggerOf('x'), 0)
    list.add(requestOf('b'), triggerOf('y'), 0)
    for (let height = 1; height <= 5; height++) list.read(blockOf(height, height === 4 ? ['x'] : ['z']), 0)
    const [found, ...others] = list.due(0, 9)
    expect([found?.request.id, others]).toEqual(['a', []])
    expect(found?.matched).toEqual({
      height: 4,
      atMs: 0,
      empty: { from: 1, last: { height: 3, time: 210, epoch: 'e' } },
    })
    expect(list.due(60_000, 9)).toEqual([])
    list.onAnswered(found!)
    list.onRead(found!, 6, 100)
    list.read(blockOf(6, ['x', 'x']), 100)
    expect([list.due(1_999, 9), idsOf(list.due(2_000, 9))]).toEqual([[], ['a']])
  })

  it('is called again after a failure, and left to its own alarm after three', () => {
    const list = new WatchList(START)
    list.add(requestOf('a', { gatherMs: 1 }), triggerOf('x'), -1)
    list.read(blockOf(1, ['x']), -1)
    for (const atMs of [0, 5_000, 15_000]) {
      expect([list.due(atMs - 1, 9), idsOf(list.due(atMs, 9))]).toEqual([[], ['a']])
      const watch = [...list][0]!
      list.onAnswered(watch)
      list.onFailed(watch)
    }
    expect([list.size, list.due(1e9, 9)]).toEqual([0, []])
  })

  it('is called at once if the clock was set back by more than it can wait, also after a failure', () => {
    const list = new WatchList(START)
    const startMs = 10_000_000
    const watch = list.add(requestOf('a', { gatherMs: 60_000 }), triggerOf('x'), startMs)
    list.read(blockOf(1, ['x']), startMs)
    expect([list.nextDueMs(startMs), idsOf(list.due(startMs - 600_000, 9))]).toEqual([60_000, ['a']])
    list.onAnswered(watch)
    list.onFailed(watch)
    expect(list.nextDueMs(startMs - 600_000)).toBe(5_000)
    expect([list.nextDueMs(startMs - 1_200_000), idsOf(list.due(startMs - 1_200_000, 9))]).toEqual([0, ['a']])
    list.onAnswered(watch)
    list.onRead(watch, 2, startMs)
    list.read(blockOf(2, ['x']), startMs)
    expect(idsOf(list.due(startMs - 1_800_000, 9))).toEqual(['a'])
  })

  it('has to read an epoch, a gap, its end and a block that cannot be evaluated', () => {
    const broken = { namesIn: () => expect.unreachable() }
    for (const [what, trigger, over] of [
      [(list: WatchList) => list.read(blockOf(1, [], 'other'), 0), triggerOf('x'), {}],
      [(list: WatchList) => list.readGap(1, 3, 0), triggerOf('x'), {}],
      [(list: WatchList) => list.read(blockOf(1, []), 0), triggerOf('x'), { end: { height: 1 } }],
      [(list: WatchList) => list.read(blockOf(1, []), 0), triggerOf('x'), { end: { timeMs: 69 } }],
      [(list: WatchList) => list.read(blockOf(1, []), 0), { source: broken, names: [] }, {}],
    ] as const) {
      const list = new WatchList(START)
      list.add(requestOf('a', over), trigger, 0)
      what(list)
      expect(idsOf(list.due(0, 9))).toEqual(['a'])
    }
  })

  it('that keeps state of every block reads once a minute, and no block is called empty', () => {
    const list = new WatchList(START)
    list.add(requestOf('a'), null, 0)
    const called: number[] = []
    for (let height = 1; height <= 2_000; height++) {
      list.read(blockOf(height, ['x']), height * 70)
      for (const watch of list.due(height * 70, 9)) {
        called.push(height)
        expect(watch.matched?.empty).toBeNull()
        list.onAnswered(watch)
        list.onRead(watch, height + 1, height * 70)
      }
    }
    expect(called).toEqual([858, 1715])
  })

  it('with a filter that does not fit into memory reads every block, too', () => {
    const list = new WatchList(START)
    const filter = { type: 'userFills', users: ['x'.repeat(60_000)] }
    for (let at = 0; at < 200; at++) list.add(requestOf(`p${at}`, { filter }), triggerOf(`${at}`), 0)
    expect([...list].filter(({ trigger }) => trigger !== null).length).toBe(166)
    list.remove('p0')
    expect(list.add(requestOf('p0', { filter }), triggerOf('0'), 0).trigger).not.toBeNull()
  })

  it('does not wait for slow destinations of another account', () => {
    const list = new WatchList(START)
    for (let at = 0; at < 50; at++) list.add(requestOf(`slow ${at}`, { account: 'slow' }), triggerOf('x'), 0)
    list.add(requestOf('own'), triggerOf('x'), 0)
    list.read(blockOf(1, ['x']), 0)
    const called = idsOf(list.due(0, 100))
    expect([called.length, called.includes('own')]).toEqual([11, true])
    list.onAnswered([...list][0]!)
    expect(list.due(0, 100).length).toBe(1)
  })

  it('of order statuses skips only blocks of which the log has them', () => {
    const list = new WatchList(START)
    const watch = list.add(requestOf('o', { topic: 'order_updates' }), triggerOf('x'), 0)
    for (let height = 1; height <= 5; height++) list.read(blockOf(height, []), 0)
    expect(list.renew(requestOf('o'), 0).empty).toBeNull()
    list.confirm(watch, 1, list.scanned, 0)
    expect(list.renew(requestOf('o'), 0).empty?.last.height).toBe(5)
    list.read(blockOf(6, []), 0)
    list.read(blockOf(7, ['x']), 0)
    expect(list.due(0, 9)[0]?.matched?.empty?.last.height).toBe(5)
    list.onAnswered(watch)
    list.onRead(watch, 8, 0)
    // The log has lost what it was asked for: the pipeline asks again.
    list.confirm(watch, null, list.scanned, 10_000)
    expect(list.due(10_000, 9)[0]?.matched?.empty).toBeNull()
  })
})

/** A pipeline: what it has read, and the blocks with rows that it found. */
class FakeSink {
  next: number
  readonly found: number[] = []
  constructor(next: number) {
    this.next = next
  }

  read(blocks: readonly NamedBlock[], name: string, empty: EmptyRange | null) {
    if (empty && this.next >= empty.from && this.next <= empty.last.height) this.next = empty.last.height + 1
    for (const { height, names } of blocks.slice(this.next - 1)) {
      if (names === null || names.includes(name)) this.found.push(height)
      this.next = height + 1
    }
    return this.next
  }
}

it('no pipeline misses a block, whatever calls fail, are lost or come late, and whenever the follower restarts', () => {
  const names = ['a', 'b', 'c', 'd']
  const step = fc.oneof(
    fc.record({ do: fc.constant('block' as const), names: fc.subarray(names) }),
    fc.record({
      do: fc.constantFrom('call' as const, 'fail' as const, 'lose' as const, 'renew' as const, 'restart' as const),
      at: fc.nat(3),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const blocks: NamedBlock[] = []
      const sinks = new Map(names.map((name) => [name, new FakeSink(1)]))
      let list = new WatchList(START)
      let nowMs = 0
      let stored = START as NonNullable<typeof list.settled>
      const watch = (name: string) => {
        const sink = sinks.get(name)!
        const request = requestOf(name, { from: sink.next })
        if (list.has(request)) {
          const { from, empty } = list.renew(request, nowMs)
          if (empty || from > sink.next)
            sink.read(blocks.slice(0, Math.max(from - 1, empty?.last.height ?? 0)), name, empty)
          return
        }
        const from = Math.max(sink.next, (list.scanned?.height ?? -1) + 1)
        list.add({ ...request, from }, triggerOf(name), nowMs)
        sink.read(blocks.slice(0, from - 1), name, null)
      }
      for (const name of names) watch(name)
      const requests = () => [...list].map(({ request }) => ({ ...request, filter: null }))
      for (const one of steps) {
        nowMs += 3_000
        if (one.do === 'block') {
          const block = blockOf(blocks.length + 1, one.names)
          blocks.push(block)
          list.read(block, nowMs)
          list.mark()
          continue
        }
        if (one.do === 'renew') watch(names[one.at]!)
        if (one.do === 'restart') {
          const kept = requests()
          list = new WatchList(stored)
          for (const request of kept) list.add(request, triggerOf(request.id), nowMs)
          for (const block of blocks.slice(stored.height)) list.read(block, nowMs)
        }
        if (one.do !== 'call' && one.do !== 'fail' && one.do !== 'lose') continue
        for (const due of list.due(nowMs, 4)) {
          const { id } = due.request
          list.onAnswered(due)
          // The pipeline has read the block, but its answer is lost.
          if (one.do !== 'fail') sinks.get(id)!.read(blocks, id, due.matched?.empty ?? null)
          if (one.do === 'call') list.onRead(due, sinks.get(id)!.next, nowMs)
          else list.onFailed(due)
        }
        stored = list.settled ?? stored
      }
      // In the end everybody confirms that it waits, and is called.
      for (let round = 0; round < 9; round++) {
        nowMs += 60_000
        for (const name of names) watch(name)
        for (const due of list.due(nowMs, 9)) {
          list.onAnswered(due)
          list.onRead(due, sinks.get(due.request.id)!.read(blocks, due.request.id, due.matched?.empty ?? null), nowMs)
        }
      }
      for (const [name, { found }] of sinks)
        expect(found).toEqual(blocks.filter((block) => block.names!.includes(name)).map(({ height }) => height))
    }),
    { numRuns: 500 },
  )
})

describe('a block that does not match', () => {
  const USERS = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)
  const user = fc.constantFrom(...USERS)
  const coin = fc.constantFrom('BTC', 'ETH', '@1', '#2')
  const fill = fc
    .tuple(user, coin, fc.nat(3))
    .map(([of, name, tid]) => [of, { ...EXAMPLE_FILL[1], coin: name, tid, builder: USERS[tid] }])
  const ledger = fc
    .uniqueArray(user, { minLength: 1 })
    .map((users) => ({ time: 1, hash: '0x1', users, delta: { type: 'x' } }))
  const order = user.map((of) => ({
    time: '2026-11-24T00:00:00.000000000',
    user: of,
    status: 'open',
    order: { coin: 'BTC', side: 'B', limitPx: '1', sz: '1', oid: 5, timestamp: 9, origSz: '1' },
  }))
  const some = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 2 })
  const events = fc.record({
    fills: some(fill),
    ledger: some(ledger),
    orders: some(order),
    funding: some(fc.constant({ coin: 'BTC', szi: '1' })),
    oracle: fc.option(some(coin.map((name) => ({ mark_px_inputs: [[name, '1']] }))), { nil: undefined }),
    writer: fc.option(some(user.map((destination) => ({ action: { type: 'x', destination } }))), { nil: undefined }),
  })
  const books = fc.record({
    books: fc.option(some(coin.map((name) => ({ coin: name, levels: [[], []] })))),
    repaired: some(coin),
  })

  it.each([
    ['fills', null],
    ['fills', { type: 'userFills', user: USERS[0] }],
    ['fills', { type: 'userFills', user: USERS[0], aggregateByTime: true }],
    ['fills', { type: 'allFills', coin: 'BTC' }],
    ['fills', { type: 'allFills' }],
    ['fills', { type: 'builderFills', builder: USERS[1] }],
    ['ledger', null],
    ['ledger', { type: 'userNonFundingLedgerUpdates', user: USERS[0] }],
    ['oracle_updates', null],
    ['oracle_updates', { type: 'oracleUpdates', coin: 'BTC' }],
    ['writer_actions', null],
    ['writer_actions', { type: 'writerActions', user: USERS[0] }],
    ['order_updates', { type: 'orderUpdates', user: USERS[0] }],
    ['completed_trades', { type: 'userFills', user: USERS[0] }],
    ['book_diffs', null],
    ['book_diffs', { type: 'l2BookDiff2', coin: 'BTC' }],
    ['book_diffs', { type: 'l2BookDiff2', marketTypes: ['spot'] }],
  ] as const)('has no rows of %s %j, and leaves its state as it was', (topic, filter) => {
    const chosen = selectTopic({ topic, filter })
    if (!chosen.ok) throw new Error(chosen.error.message)
    const { definition, interest } = chosen.value
    const trigger = definition.trigger!(interest)
    let missed = 0
    fc.assert(
      fc.property(topic === 'book_diffs' ? books : events, (content) => {
        const block = {
          height: 5,
          time: 70,
          epoch: 'e',
          v: 1,
          t: 'events',
          px: {},
          ...content,
        } as unknown as TopicBlock
        const list = new WatchList({ height: 4, time: 60, epoch: 'e' })
        list.add(requestOf('p', { topic }), trigger, 0)
        list.read(block, 0)
        if (list.due(0, 1).length > 0) return
        missed++
        const fold = definition.open(interest, null)
        const before = fold.state?.()
        expect(fold.rows(block)).toEqual([])
        expect(fold.state?.()).toEqual(before)
      }),
    )
    expect(missed).toBeGreaterThan(0)
  })
})
