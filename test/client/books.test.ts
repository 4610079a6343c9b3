import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import { StepCheck, StepChecker } from '../../src/client/step-check.ts'
import type { BookScope } from '../../src/client/subscription.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { FakeRuntime } from './fake-runtime.ts'

const lv = (px: string, n: number) => ({ px, sz: n ? `${n}.0` : '0', n })
/** `after`: the bids after the change, if it carries their checksum. */
const batch = (height: number, coin: string, prev_seq: number, bids: object[], after?: Levels[0], epoch = 'A') => {
  const checked = after && { checksum: checksumOf(after) }
  const book_diffs = [{ coin, seq: height, prev_seq, levels: [bids, []], ...checked }]
  const Updates = { time: height, block_height: height, epoch, cursor: `${height}`, book_diffs }
  return { channel: 'l2BookDiff2', data: { Updates } }
}
const checksumOf = (bids: Levels[0]) => crc32(`${bids.map(({ px, sz, n }) => `${px}:${sz}:${n}`).join(':')}/`)
const snapshotText = (coin: string, height: number, seq: number, bids: object[], epoch = 'A') =>
  JSON.stringify({ coin, time: height, height, epoch, seq, levels: [bids, []] })
const ok = (text: string) => ({ status: 200, text, retryAfterMs: null })

const endpoint = () => ({ url: 'http://g', key: 'k' })
function setUp(scope: BookScope) {
  const runtime = new FakeRuntime()
  const log: string[] = []
  const steps: string[] = []
  const connection = new Connection(runtime, { endpoint })
  const books = new DiffBooks(connection, runtime, scope, {
    changed: (book) => log.push(`${book.coin} ${book.seq}`),
    gap: (coin, reason) => log.push(`${coin} gap ${reason}`),
    unknown: (coin) => log.push(`${coin} unknown`),
    refused: (reason) => log.push(`refused ${reason}`),
    step: (coin, step) => steps.push(`${coin ?? 'all'} ${step}`),
  })
  connection.start()
  runtime.last.open()
  return { runtime, books, log, steps }
}
function reopen(runtime: FakeRuntime): void {
  runtime.last.end({ code: 1006 })
  runtime.advance(1_000)
  runtime.last.open()
  runtime.last.ack()
}

describe('books of l2BookDiff2', () => {
  test('requests the snapshot only after the ack, joins it with the diffs, and restarts after a gap', async () => {
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

  test('retries 503, 429 and network failures with backoff, and respects Retry-After', async () => {
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

  test('ignores a snapshot requested before a reconnect', async () => {
    const { runtime, books, log } = setUp({ coin: 'BTC' })
    runtime.last.ack()
    reopen(runtime)
    await runtime.posts[0]!.answer(ok(snapshotText('BTC', 6, 5, [])))
    expect(books.get('BTC')!.live).toBe(false)
    await runtime.posts[1]!.answer(ok(snapshotText('BTC', 9, 7, [])))
    expect(log).toEqual(['BTC 7'])
  })

  test("discovers a wildcard's coins from the stream, with at most four concurrent fetches", async () => {
    const { runtime, books } = setUp({})
    runtime.last.ack()
    for (let i = 0; i < 6; i++) runtime.last.receive(batch(10 + i, `C${i}`, 9, [lv('1', 1)]))
    runtime.last.receive(batch(20, '@1', 9, [lv('1', 1)]))
    expect(runtime.posts).toHaveLength(4)
    await runtime.posts[0]!.answer(ok(snapshotText('C0', 12, 10, [lv('1', 1)])))
    expect([runtime.posts.length, [...books.coins()].length, books.get('C0')!.live]).toEqual([5, 6, true])
  })

  test('reports an unknown coin and an exhausted account once, without a request loop', async () => {
    const { runtime, log } = setUp({ coin: ['NOPE', 'BTC'] })
    runtime.last.ack()
    await runtime.posts[0]!.answer(ok('null'))
    await runtime.posts[1]!.answer({ status: 402, text: '{"msg":"Not enough credits."}', retryAfterMs: null })
    for (let i = 0; i < 9; i++) runtime.last.receive(batch(10 + i, 'BTC', 9 + i, []))
    runtime.advance(1_000)
    expect([log, runtime.posts.length]).toEqual([['NOPE unknown', 'refused Not enough credits.'], 2])
  })
})

test.each<BookScope>([{}, { coin: ['GONE', 'BTC'] }])(
  'a coin that is gone when the socket is back has no step, and the others are the whole: %j',
  async (scope) => {
    const { runtime, books, steps } = setUp(scope)
    runtime.last.ack()
    for (const coin of ['GONE', 'BTC']) runtime.last.receive(batch(6, coin, 5, []))
    for (const [at, coin] of ['GONE', 'BTC'].entries())
      await runtime.posts[at]!.answer(ok(snapshotText(coin, 6, 6, [])))
    reopen(runtime)
    await runtime.posts[3]!.answer(ok(snapshotText('BTC', 9, 7, [])))
    expect([books.step('GONE'), books.step()]).toEqual(['syncing', 'syncing'])
    await runtime.posts[2]!.answer(ok('null'))
    steps.length = 0
    runtime.advance(5_000)
    expect([books.step('GONE'), books.step('BTC'), books.step(), steps]).toEqual([undefined, 'in step', 'in step', []])
    await runtime.posts[4]!.answer(ok(snapshotText('GONE', 20, 20, [])))
    expect([books.step('GONE'), books.step('NEVER')]).toEqual(['in step', undefined])
  },
)

// WS-148
describe('checksums', () => {
  const own = (bids: Levels[0]) => [bids, []]
  const five = [lv('10', 5)]

  async function live() {
    const world = setUp({ coin: ['BTC', 'ETH'] })
    expect(world.books.step()).toBe('syncing')
    expect(world.runtime.last.sent.at(-1)!.subscription).toMatchObject({ type: 'l2BookDiff2', checksum: true })
    world.runtime.last.ack()
    for (const [at, coin] of ['BTC', 'ETH'].entries())
      await world.runtime.posts[at]!.answer(ok(snapshotText(coin, 5, 5, five)))
    world.runtime.last.receive(batch(6, 'BTC', 5, [lv('9', 1)], [...five, lv('9', 1)]))
    expect(world.steps.splice(0)).toEqual(['BTC in step', 'ETH in step', 'all in step'])
    expect(world.books.get('BTC')!.checks).toBe(1)
    return world
  }
  const mended = ['BTC out of step', 'all out of step', 'BTC syncing', 'all syncing', 'BTC in step', 'all in step']

  test('detects a level changed in memory with the next change, and refetches the book at once', async () => {
    const { runtime, books, log, steps } = await live()
    Object.assign(books.get('BTC')!.levels()[0][1]!, { sz: '1.5' })
    const after = [lv('11', 2), ...five, lv('9', 1)]
    runtime.last.receive(batch(7, 'BTC', 6, [lv('11', 2)], after))
    expect([books.get('BTC')!.live, books.step('BTC'), books.step('ETH')]).toEqual([false, 'syncing', 'in step'])
    await runtime.posts[2]!.answer(ok(snapshotText('BTC', 7, 7, after)))
    expect([books.get('BTC')!.levels(), steps]).toEqual([own(after), mended])
    expect(log.at(-2)).toMatch(/^BTC gap checksum \d+ at seq 7\b.*\d+$/)
    runtime.last.receive(batch(8, 'BTC', 7, [lv('11', 0)], [...five, lv('9', 1)]))
    expect(books.get('BTC')!.checks).toBe(2)
  })

  test('detects a change altered in transit at once', async () => {
    const { runtime, books, steps } = await live()
    runtime.last.receive(batch(7, 'BTC', 6, [lv('11', 3)], [lv('11', 2), ...five, lv('9', 1)]))
    await runtime.posts[2]!.answer(ok(snapshotText('BTC', 8, 7, [lv('11', 2), ...five, lv('9', 1)])))
    expect([books.get('BTC')!.levels(1), steps]).toEqual([own([lv('11', 2)]), mended])
  })

  test('stays out of step after repeated checksum mismatches, and refetches with backoff', async () => {
    const { runtime, books } = await live()
    const waits: number[] = []
    let posts = 3
    for (let height = 7; waits.length < 9; height++) {
      runtime.last.receive(batch(height, 'BTC', height - 1, [lv('11', height)], []))
      let waited = 0
      for (; runtime.posts.length < posts && waited < 90_000; waited += 250) {
        expect(books.step('BTC')).toBe('out of step')
        runtime.advance(250)
        runtime.last.receive({ channel: 'pong' })
      }
      waits.push(waited)
      await runtime.posts[posts++ - 1]!.answer(ok(snapshotText('BTC', height, height, five)))
      expect(books.step()).toBe('in step')
    }
    expect(waits).toEqual([0, 750, 1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000])
    runtime.last.receive(batch(16, 'BTC', 15, [lv('9', 1)], [...five, lv('9', 1)]))
    runtime.last.receive(batch(17, 'BTC', 16, [lv('9', 2)], []))
    expect(runtime.posts).toHaveLength(posts)
  })

  test('verifies changes that arrived during a snapshot request', async () => {
    const { runtime, books } = setUp({ coin: 'BTC' })
    runtime.last.ack()
    runtime.last.receive(batch(6, 'BTC', 5, [lv('9', 1)], five))
    await runtime.posts[0]!.answer(ok(snapshotText('BTC', 5, 5, five)))
    expect([books.get('BTC')!.live, books.step()]).toEqual([false, 'out of step'])
    runtime.advance(100)
    await runtime.posts[1]!.answer(ok(snapshotText('BTC', 6, 6, five)))
    expect(books.step()).toBe('in step')
  })

  test('is out of step without a connection, and in step after reconnecting', async () => {
    const { runtime, books, log } = await live()
    runtime.last.end({ code: 1006 })
    expect([books.step(), books.step('ETH')]).toEqual(['out of step', 'out of step'])
    runtime.advance(1_000)
    runtime.last.open()
    runtime.last.ack()
    for (const post of runtime.posts.slice(2)) await post.answer(ok(snapshotText('X', 9, 9, five)))
    expect([books.step(), log.at(-1)]).toEqual(['in step', 'ETH 9'])
  })
})

describe('step check', () => {
  async function live() {
    const world = setUp({ coin: 'BTC' })
    world.runtime.last.ack()
    await world.runtime.posts[0]!.answer(ok(snapshotText('BTC', 5, 5, [lv('10', 5)])))
    return { ...world, book: world.books.get('BTC')! }
  }
  const snap = (seq: number, n: number) => {
    return { coin: 'BTC', epoch: 'A', time: seq, height: seq, seq, levels: [[lv('10', n)], []] as never }
  }

  test('finds the state with the same seq, or waits for it', async () => {
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

  test('lists the levels that differ', async () => {
    const { book } = await live()
    expect(new StepCheck(book).snapshot(snap(5, 4))).toMatchObject({ kind: 'differs', changes: [[lv('10', 4)], []] })
  })

  test('compares at once, every 5 s, and again when a lost book is live', async () => {
    const { runtime, book } = await live()
    const verdicts: string[] = []
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
    runtime.advance(10_000)
    checker.changed(book)
    await answerLast(6, 6)
    expect(verdicts).toEqual(['in_step 5', 'differs 6', 'in_step 6'])
  })

  test('retries soon when no snapshot arrived or it was too old', async () => {
    const { runtime, book } = await live()
    const verdicts: string[] = []
    new StepChecker(runtime, endpoint, (coin) => verdicts.push(coin)).changed(book)
    await runtime.posts[1]!.fail()
    runtime.advance(250)
    await runtime.posts[2]!.answer(ok(snapshotText('BTC', 4, 4, [])))
    runtime.advance(250)
    await runtime.posts[3]!.answer(ok(snapshotText('BTC', 5, 5, [lv('10', 5)])))
    expect(verdicts).toEqual(['BTC'])
  })
})
