import { expect, it } from 'vitest'
import type { BooksArchive } from '../../../src/archive/replay/archived-books.ts'
import { ok } from '../../../src/core/result.ts'
import type { Books } from '../../../src/info/ports.ts'
import { BTC, createWorld, type World } from '../answer/service-world.ts'

const ask = (world: World, fields: object) =>
  world.send({ type: 'x_slippage', coin: 'BTC', side: 'B', sz: '0.25', ...fields })

/** A book of one-lot asks from 101 upwards, and one bid. Counts the levels requested. */
function deepBooks(asks: number): { books: Books; depths: (number | undefined)[] } {
  const depths: (number | undefined)[] = []
  const levels = Array.from({ length: asks }, (_, at) => ({ px: `${101 + at}.0`, sz: '1.0', n: 1 }))
  const snapshot: Books['snapshot'] = async (_, depth) => {
    depths.push(depth)
    return ok({ ...BTC, levels: JSON.stringify([[{ px: '99.0', sz: '1.0', n: 1 }], levels.slice(0, depth)]) })
  }
  return { books: { snapshot, tops: () => expect.unreachable() }, depths }
}

it('answers from the current book, with its height', async () => {
  const world = createWorld()
  const reply = await ask(world, { side: 'A', sz: '1.00' })
  expect(reply.body).toBe(
    '{"coin":"BTC","time":1000,"height":42,"side":"A","sz":"1.0","mid":"81308.0","avgPx":"81306.5","worstPx":"81306.0","levels":2,"filledSz":"1.0","unfilledSz":"0.0","notional":"81306.5","slippageBps":"0.1845"}',
  )
  expect([reply.headers['x-block-height'], world.charged]).toEqual(['42', [1_000_000]])
})

it('shares an answer between equal sizes', async () => {
  const world = createWorld()
  await ask(world, { sz: '0.1' })
  await ask(world, { sz: '0.100', height: null })
  expect(world.bookCalls).toBe(1)
})

it('reads the whole book only for a size that the first levels do not fill', async () => {
  const small = deepBooks(150)
  await ask(createWorld({ books: small.books }), { sz: '100' })
  expect(small.depths).toEqual([100])
  const large = deepBooks(150)
  const reply = await ask(createWorld({ books: large.books }), { sz: '120' })
  expect(large.depths).toEqual([100, undefined])
  expect(JSON.parse(reply.body)).toMatchObject({ levels: 120, unfilledSz: '0.0' })
  const thin = deepBooks(50)
  expect(JSON.parse((await ask(createWorld({ books: thin.books }), { sz: '120' })).body)).toMatchObject({
    unfilledSz: '70.0',
  })
  expect(thin.depths).toEqual([100])
})

const BOOK = { coin: 'BTC', height: 10, seq: 7, levels: [[{ px: '1.0', sz: '2.0', n: 1 }], []] } as const
const ARCHIVE: BooksArchive = {
  segmentsFrom: async (at) =>
    'height' in at && at.height <= 11
      ? [{ chain: 'c', first: 11, last: 11, firstMs: 0, lastMs: 0, epoch: BTC.epoch }]
      : [],
  async *lines() {
    yield `{"v":1,"t":"block","epoch":"${BTC.epoch}","height":11,"time":770,"px":{},"books":[{"coin":"BTC","levels":[[],[{"px":"3.0","sz":"5.0","n":1}]]}]}`
  },
  checkpointAt: async (height) => (height >= 10 ? { epoch: BTC.epoch, height: 10, time: 700 } : null),
  async *books(_, coins) {
    if (coins?.has('BTC')) yield BOOK as never
  },
}

it('answers from the book after a past block at the history price', async () => {
  const world = createWorld({ archive: ARCHIVE })
  const reply = await ask(world, { height: 11 })
  expect(JSON.parse(reply.body)).toMatchObject({
    height: 11,
    time: 770,
    mid: '2.0',
    avgPx: '3.0',
    slippageBps: '5000.0',
  })
  expect([world.charged, world.bookCalls]).toEqual([[10_000_000], 0])
})

it.each([
  [{ coin: 'btc' }, 'coin: is unknown to the exchange or not accepted there; did you mean "BTC"?'],
  [{ coin: 'ETH', height: 11 }, 'coin: had no order book after block 11'],
  [{ height: 9 }, 'height: no order book for block 9: the archive starts later'],
  [{ sz: '0.00' }, 'sz: must be above 0'],
  [{ sz: '-1' }, 'sz: must be a decimal string'],
])('rejects %j without a charge', async (fields, message) => {
  const world = createWorld({ archive: ARCHIVE })
  const reply = await ask(world, fields)
  expect([reply.status, JSON.parse(reply.body).msg, world.charged]).toEqual([422, message, []])
})
