import { describe, expect, test } from 'vitest'
import { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import { SeededBooks } from '../../src/client/seeded-books.ts'
import { StepCheck } from '../../src/client/step-check.ts'
import { StepChecker } from '../../src/client/step-checker.ts'
import type { BookScope } from '../../src/client/subscription.ts'
import { FakeRuntime } from './fake-runtime.ts'

const lv = (px: string, n: number) => ({ px, sz: n ? `${n}.0` : '0', n })
const batch = (height: number, coin: string, prev_seq: number, bids: object[], epoch = 'A') => ({
  channel: 'l2BookDiff2',
  data: {
    Updates: {
      ...{ time: height, block_height: height, epoch, cursor: `${height}` },
      book_diffs: [{ coin, seq: height, prev_seq, levels: [bids, []] }],
    },
  },
})
const snapshotText = (coin: string, height: number, seq: number, bids: object[], epoch = 'A') =>
  JSON.stringify({ coin, time: height, height, epoch, seq, levels: [bids, []] })
const ok = (text: string) => ({ status: 200, text, retryAfterMs: null })

function setUp(scope: BookScope) {
  const runtime = new FakeRuntime()
  const log: string[] = []
  const connection = new Connection(runtime, { endpoint: () => ({ url: 'http://g', key: 'k' }) })
  const books = new DiffBooks(connection, runtime, scope, {
    changed: (book) => log.push(`${book.coin} ${book.seq}`),
    gap: (coin, reason) => log.push(`${coin} gap ${reason}`),
    unknown: (coin) => log.push(`${coin} unknown`),
    refused: (reason) => log.push(`refused ${reason}`),
  })
  connection.start()
  runtime.last.open()
  return { runtime, books, log, connection }
}

describe('books of l2BookDiff2', () => {
  test('asks for the snapshot only after the ack, joins it with the diffs, and begins again after a gap', async () => {
    const { runtime, books, log } = setUp({ coin: 'BTC' })
    expect(runtime.posts).toHaveLength(0)
    runtime.last.ack()
    expect(runtime.posts.map((post) => [post.url, post.body])).toEqual([
      ['http://g/info', '{"type":"l2BookDiffSnapshot","coin":"BTC"}'],
    ])
    runtime.last.receive(batch(8, 'BTC', 5, [lv('10', 8)]))
    await runtime.posts[0]!.answer(ok(snapshotText('BTC', 6, 5, [lv('10', 5), lv('9', 1)])))
    expect(books.get('BTC')!.levels()).toEqual([[lv('10', 8), lv('9', 1)], []])
    runtime.last.receive(batch(12, 'BTC', 11, [lv('10', 0)]))
    expect(books.get('BTC')!.live).toBe(false)
    await runtime.posts[1]!.answer(ok(snapshotText('BTC', 12, 12, [lv('9', 1)])))
    expect(log).toEqual(['BTC 8', 'BTC gap gap: prev_seq 11 follows seq 8', 'BTC 12'])
  })

  test('retries 503, 429 and no answer with backoff, and waits as long as it is told', async () => {
    const { runtime, books } = setUp({ coin: ['BTC'] })
    runtime.last.ack()
    await runtime.posts[0]!.answer({ status: 503, text: '', retryAfterMs: null })
    runtime.advance(200)
    await runtime.posts[1]!.fail()
    runtime.advance(400)
    await runtime.posts[2]!.answer({ status: 429, text: '', retryAfterMs: 3_000 })
    runtime.advance(2_999)
    expect(runtime.posts).toHaveLength(3)
    runtime.advance(1)
    await runtime.posts[3]!.answer(ok(snapshotText('BTC', 6, 5, [])))
    expect(books.get('BTC')!.live).toBe(true)
  })

  test('a snapshot asked for before a reconnect is not used after it', async () => {
    const { runtime, books, log } = setUp({ coin: 'BTC' })
    runtime.last.ack()
    runtime.last.end({ code: 1006 })
    runtime.advance(1_000)
    runtime.last.open()
    runtime.last.ack()
    await runtime.posts[0]!.answer(ok(snapshotText('BTC', 6, 5, [])))
    expect(books.get('BTC')!.live).toBe(false)
    await runtime.posts[1]!.answer(ok(snapshotText('BTC', 9, 7, [])))
    expect(log).toEqual(['BTC 7'])
  })

  test('a wildcard takes coins as the stream names them, at most four fetches at a time', async () => {
    const { runtime, books } = setUp({})
    runtime.last.ack()
    for (let i = 0; i < 6; i++) runtime.last.receive(batch(10 + i, `C${i}`, 9, [lv('1', 1)]))
    runtime.last.receive(batch(20, '@1', 9, [lv('1', 1)]))
    expect(runtime.posts).toHaveLength(4)
    await runtime.posts[0]!.answer(ok(snapshotText('C0', 12, 10, [lv('1', 1)])))
    expect([runtime.posts.length, [...books.coins()].length, books.get('C0')!.live]).toEqual([5, 6, true])
  })

  test('an unknown coin and an exhausted account are said once, not asked in a loop', async () => {
    const { runtime, log } = setUp({ coin: ['NOPE', 'BTC'] })
    runtime.last.ack()
    await runtime.posts[0]!.answer(ok('null'))
    await runtime.posts[1]!.answer({ status: 402, text: '{"msg":"Not enough credits."}', retryAfterMs: null })
    for (let i = 0; i < 9; i++) runtime.last.receive(batch(10 + i, 'BTC', 9 + i, []))
    runtime.advance(1_000)
    expect([log, runtime.posts.length]).toEqual([['NOPE unknown', 'refused Not enough credits.'], 2])
  })
})

describe('books of l2BookDiff', () => {
  const seed = (coin: string, block_height: number, bids: object[]) => ({
    channel: 'l2BookDiff',
    data: { Snapshot: { coin, time: 1, block_height, levels: [bids, []] } },
  })
  const update = (coin: string, block_height: number, bids: object[]) => ({
    channel: 'l2BookDiff',
    data: { Updates: { time: 2, block_height, book_diffs: [{ coin, levels: [bids, []] }] } },
  })

  test('a Snapshot, Updates after it, and nothing left after the socket', () => {
    const runtime = new FakeRuntime()
    const gaps: string[] = []
    const connection = new Connection(runtime, { endpoint: () => ({ url: 'http://g', key: 'k' }) })
    const books = new SeededBooks(
      connection,
      { marketTypes: ['*'] },
      { gap: (coin, why) => gaps.push(`${coin} ${why}`) },
    )
    connection.start()
    runtime.last.open()
    runtime.last.ack()
    runtime.last.receive(seed('@1', 5, [lv('2', 2), lv('1', 1)]))
    runtime.last.receive(update('@1', 5, [lv('2', 9)]))
    runtime.last.receive(update('@1', 6, [lv('2', 0), lv('1.5', 3)]))
    runtime.last.receive(update('BTC', 6, [lv('1', 1)]))
    expect(books.get('@1')!.levels()).toEqual([[lv('1.5', 3), lv('1', 1)], []])
    runtime.last.end({ code: 1012 })
    expect([[...books.coins()], gaps]).toEqual([[], ['BTC an update came before the snapshot', 'null close 1012']])
  })
})

describe('step check', () => {
  async function live() {
    const world = setUp({ coin: 'BTC' })
    world.runtime.last.ack()
    await world.runtime.posts[0]!.answer(ok(snapshotText('BTC', 5, 5, [lv('10', 5)])))
    return { ...world, book: world.books.get('BTC')! }
  }
  const snap = (seq: number, n: number) => ({
    ...{ coin: 'BTC', epoch: 'A', time: seq, height: seq, seq },
    levels: [[lv('10.0', n)], []] as never,
  })

  test('finds the state of the same seq among those since it began, or waits for it', async () => {
    const { runtime, book } = await live()
    const check = new StepCheck(book)
    runtime.last.receive(batch(6, 'BTC', 5, [lv('10', 6)]))
    expect(check.changed(book)).toBe(null)
    expect(check.snapshot(snap(5, 5))).toEqual({ kind: 'in_step', seq: 5, height: 5 })
    const ahead = new StepCheck(book)
    expect(ahead.snapshot(snap(7, 7))).toBe(null)
    runtime.last.receive(batch(7, 'BTC', 6, [lv('10', 7)]))
    expect(ahead.changed(book)?.kind).toBe('in_step')
    expect(new StepCheck(book).snapshot(snap(4, 4))).toBe('stale')
  })

  test('names the levels that differ', async () => {
    const { book } = await live()
    expect(new StepCheck(book).snapshot(snap(5, 4))).toMatchObject({ kind: 'differs', changes: [[lv('10.0', 4)], []] })
  })

  test('the checker compares at once, every 5 s, and again as soon as a lost book is live', async () => {
    const { runtime, book } = await live()
    const verdicts: string[] = []
    const endpoint = () => ({ url: 'http://g', key: 'k' })
    const checker = new StepChecker(runtime, endpoint, (_coin, { kind, seq }) => verdicts.push(`${kind} ${seq}`))
    const answerLast = (seq: number, n: number) =>
      runtime.posts.at(-1)!.answer(ok(snapshotText('BTC', seq, seq, [lv('10', n)])))
    checker.changed(book)
    await answerLast(5, 5)
    runtime.advance(4_999)
    expect([verdicts, runtime.posts.length]).toEqual([['in_step 5'], 2])
    runtime.advance(1)
    await answerLast(6, 4)
    runtime.last.receive(batch(6, 'BTC', 5, [lv('10', 6)]))
    checker.changed(book)
    checker.lost()
    runtime.advance(20_000)
    checker.changed(book)
    await answerLast(6, 6)
    expect(verdicts).toEqual(['in_step 5', 'differs 6', 'in_step 6'])
  })

  test('the checker tries again soon where no snapshot came or it was older than all it holds', async () => {
    const { runtime, book } = await live()
    const verdicts: string[] = []
    new StepChecker(
      runtime,
      () => ({ url: 'http://g', key: 'k' }),
      (coin) => verdicts.push(coin),
    ).changed(book)
    await runtime.posts[1]!.fail()
    runtime.advance(250)
    await runtime.posts[2]!.answer(ok(snapshotText('BTC', 4, 4, [])))
    runtime.advance(250)
    await runtime.posts[3]!.answer(ok(snapshotText('BTC', 5, 5, [lv('10', 5)])))
    expect(verdicts).toEqual(['BTC'])
  })
})
