import { expect, it } from 'vitest'
import type { BooksArchive } from '../../../src/archive/replay/archived-books.ts'
import type { After } from '../../../src/core/deadline.ts'
import { ok } from '../../../src/core/result.ts'
import { archivedBooks } from '../../../src/info/sources/historical-books.ts'
import { BTC, createWorld } from '../answer/service-world.ts'

const EPOCH = BTC.epoch
const BOOK = { coin: 'BTC', height: 10, seq: 7, levels: [[{ px: '1.0', sz: '2', n: 1 }], []] } as const
const line = (height: number, px: string) =>
  `{"v":1,"t":"block","epoch":"${EPOCH}","height":${height},"time":${height * 70},"px":{},"books":[{"coin":"BTC","levels":[[],[{"px":"${px}","sz":"1","n":1}]]}]}`

/** Blocks 11 to 13; 12 is lost if `isTorn`. */
function archiveOf(isTorn = false): BooksArchive {
  const segment = { chain: 'c', first: 11, last: 13, firstMs: 770, lastMs: 910, epoch: EPOCH }
  return {
    segmentsFrom: async (at) => (('height' in at ? at.height <= 13 : at.timeMs <= 910) ? [segment] : []),
    async *lines() {
      for (const height of [11, 12, 13]) if (height !== 12 || !isTorn) yield line(height, `${height}.0`)
    },
    checkpointAt: async (height) => (height >= 10 ? { epoch: EPOCH, height: 10, time: 700 } : null),
    async *books(_, coins) {
      if (coins?.has('BTC')) yield BOOK as never
    },
  }
}

const ask = (archive: BooksArchive | null, fields: object) =>
  createWorld({ archive }).send({ type: 'l2BookDiffSnapshot', coin: 'BTC', ...fields })

it.each([{ block_height: 12 }, { time: 840 }, { time: 909, block_height: null }])(
  'returns the book after the block of %j at the history price',
  async (moment) => {
    const world = createWorld({ archive: archiveOf() })
    const reply = await world.send({ type: 'l2BookDiffSnapshot', coin: 'BTC', ...moment })
    const asks = [11, 12].map((px) => ({ px: `${px}.0`, sz: '1', n: 1 }))
    expect(JSON.parse(reply.body)).toEqual({
      coin: 'BTC',
      time: 840,
      height: 12,
      epoch: EPOCH,
      seq: 12,
      levels: [BOOK.levels[0], asks],
    })
    expect([reply.status, reply.headers['x-block-height'], world.charged]).toEqual([200, '12', [10_000_000]])
    expect(world.bookCalls).toBe(0)
  },
)

it('accepts null for the current book, and returns null for a coin without a book', async () => {
  expect(JSON.parse((await ask(archiveOf(), { block_height: null, time: null })).body)).toMatchObject({ height: 42 })
  expect((await ask(archiveOf(), { coin: 'ETH', block_height: 12 })).body).toBe('null')
})

it.each([
  [archiveOf(), { block_height: 9 }, 422, /^block_height: no order book for block 9: the archive starts later/],
  [archiveOf(true), { block_height: 13 }, 422, /^block_height: .*blocks 12 to 12/],
  [archiveOf(), { block_height: 43 }, 422, /^block_height: .*newest block is 42/],
  [archiveOf(), { block_height: 42 }, 503, /block 42 is not archived yet/],
  [null, { block_height: 12 }, 503, /no archive/],
  [archiveOf(), { block_height: -1 }, 422, /^block_height: /],
  [archiveOf(), { block_height: 1.5 }, 422, /^block_height: /],
  [archiveOf(), { block_height: '12' }, 422, /^block_height: /],
  [archiveOf(), { time: 699 }, 422, /^time: no order book for the time 699: the archive starts later/],
  [archiveOf(true), { time: 910 }, 422, /^time: .*blocks 12 to 12/],
  [archiveOf(), { time: 1_001 }, 422, /^time: .*newest block is 42, with the time 1000/],
  [archiveOf(), { time: 1_000 }, 503, /time 1000 is not archived yet/],
  [null, { time: 840 }, 503, /no archive/],
  [archiveOf(), { time: -1 }, 422, /^time: must be a time in Unix milliseconds/],
  [archiveOf(), { time: 1.5 }, 422, /^time: /],
  [archiveOf(), { time: '2026-11-30T12:00:00Z' }, 422, /^time: /],
  [archiveOf(), { block_height: 12, time: 840 }, 422, /^time: cannot be combined with a height/],
])('explains a missing book: %#', async (archive, moment, status, words) => {
  const world = createWorld({ archive })
  const reply = await world.send({ type: 'l2BookDiffSnapshot', coin: 'BTC', ...moment })
  expect([reply.status, JSON.parse(reply.body).msg]).toEqual([status, expect.stringMatching(words)])
  expect(world.charged).toEqual([])
})

it('reads two past books concurrently and rejects a third', async () => {
  const never: After = () => () => {}
  const archive = { ...archiveOf(), checkpointAt: () => new Promise<null>(() => {}) }
  const books = archivedBooks({ archive, live: { snapshot: async () => ok(null) }, after: never })
  void books.at('BTC', { height: 12 })
  void books.at('BTC', { height: 12 })
  expect(await books.at('BTC', { height: 12 })).toMatchObject({
    ok: false,
    error: { kind: 'unavailable', retryAfterMs: 1000 },
  })
})

it('times out a long read, which then stops', async () => {
  const ends: (() => void)[] = []
  const after: After = (ms, run) => {
    if (ms > 0) ends.push(run)
    else queueMicrotask(run)
    return () => {}
  }
  let reads = 0
  const lines = Array.from({ length: 5_000 }, (_, at) => line(11 + at, '5.0'))
  const segment = { chain: 'c', first: 11, last: 5_010, firstMs: 0, lastMs: 0, epoch: EPOCH }
  const archive: BooksArchive = {
    ...archiveOf(),
    segmentsFrom: async () => [segment],
    async *lines() {
      reads++
      for (const end of ends) end()
      yield* lines
    },
  }
  const books = archivedBooks({ archive, live: { snapshot: async () => ok(null) }, after })
  expect(await books.at('BTC', { height: 9_000 })).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  await new Promise((go) => setTimeout(go, 0))
  expect(reads).toBe(1)
})
