// examples/book.ts against a feed that loses heights, begins anew and repairs books: what it shows is what the server
// answers to `l2BookDiffSnapshot`. Kills are in kills.test.ts, faults of every kind in test/examples/book.test.ts.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import { Feeder } from '../kit/feeder.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type Program, run } from '../kit/program.ts'
import { stateOf } from './book-follower.ts'

const COINS = ['BTC', 'ETH']
const level = (px: string, sz: string): Level => ({ px, sz, n: sz === '0' ? 0 : 1 })
const booksOf = (sz: string) =>
  COINS.map((coin) => ({ coin, levels: [[level('10.0', sz), level('9.5', '1.0')], [level('11.0', sz)]] as Levels }))

let world: World
let key: string
let feeder: Feeder
let follower: Program
beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey('100000')
  feeder = await Feeder.connect(world.ws)
  await feeder.hello()
  feeder.snapshot(100, 7_000, booksOf('1.0'))
  change(101, '2.0')
  await feeder.acked(101)
  follower = run('../test/conformance/book-follower.ts', COINS, { WEIR_URL: world.url, WEIR_KEY: key })
})
afterAll(async () => {
  await follower?.end('SIGKILL')
  await world?.stop()
})

/** A block that sets a bid of both coins, and takes another one away. */
function change(height: number, sz: string): void {
  const levels: Levels = [[level('9.0', sz), level('9.5', '0')], []]
  feeder.block({ height, books: COINS.map((coin) => ({ coin, levels })) })
}

/** The follower shows what the server has, once the server has a book of `seq`. */
async function shows(seq: number): Promise<void> {
  for (const coin of COINS) {
    let now = ''
    const reached = async () => {
      const answer = await world.info(key, { type: 'l2BookDiffSnapshot', coin })
      if (!answer.ok) return -1
      const book = (await answer.json()) as { epoch: string; seq: number; levels: Levels }
      now = stateOf(coin, book, book.levels)
      return book.seq
    }
    await expect.poll(reached, { timeout: 20_000, interval: 100 }).toBe(seq)
    await expect.poll(() => follower.lines, { timeout: 20_000, interval: 50 }).toContain(now)
  }
}

it.each([
  ['begins with the present book', 101, () => {}],
  ['takes changes', 102, () => change(102, '3.0')],
  [
    'begins again after heights that never came',
    205,
    () => {
      feeder.block({ height: 203, books: null })
      feeder.snapshot(204, 14_280, booksOf('4.0'))
      change(205, '4.5')
    },
  ],
  [
    'begins again where the feed does',
    301,
    () => {
      feeder.snapshot(300, 21_000, booksOf('5.0'))
      change(301, '6.0')
    },
  ],
])('%s', async (_, seq, act) => {
  act()
  await shows(seq)
})
