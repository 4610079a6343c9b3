// Positions of a wallet: those of its last fills, at any height, wherever the fills are stored and blocks are missing.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { positionsOf } from '../../../src/info/sources/own-positions.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { fillWith } from '../../kit/fills.ts'
import { createWorld, USER } from '../answer/service-world.ts'
import { type Gap, type Kept, pastOfKept } from '../stored-blocks.ts'

const COINS = ['BTC', 'ETH', 'xyz:GOLD']
const wire = (units: number) => `${units}.0`

/** Blocks with a fill of one coin each; a delta of 0 is a block without fills. */
const anyKept = fc
  .record({
    steps: fc.array(fc.tuple(fc.nat(2), fc.integer({ min: -2, max: 2 })), { minLength: 1, maxLength: 30 }),
    files: fc.nat(30),
    gap: fc.tuple(fc.nat(40), fc.nat(3)),
    asked: fc.nat(29),
  })
  .map(({ steps, files, gap: [from, more], asked }) => {
    const ends: Record<string, number> = {}
    const blocks = steps.map(([at, delta], index): EventBlock => {
      const coin = COINS[at]!
      const start = ends[coin] ?? 0
      ends[coin] = start + delta
      const time = 100 + index
      const side = delta > 0 ? 'B' : 'A'
      const fill = fillWith({ coin, side, sz: wire(Math.abs(delta)), startPosition: wire(start), time, tid: index })
      return { height: index + 1, time, fills: delta === 0 ? [] : [[USER, fill]], funding: [] }
    })
    const head = { height: blocks.length, time: blocks.at(-1)!.time }
    const filesTo = Math.min(files, head.height)
    const gaps: Gap[] = from >= 1 && from + more <= filesTo ? [{ from, to: from + more }] : []
    const kept: Kept = { blocks, head, filesTo: filesTo === 0 ? null : filesTo, logFrom: filesTo + 1, gaps }
    return { kept, height: 1 + (asked % head.height) }
  })

/** The last fill that is stored of each coin, up to a height. */
function expected({ blocks, gaps = [] }: Kept, height: number) {
  const isLost = (one: number) => gaps.some(({ from, to }) => from <= one && one <= to)
  const last = new Map<string, { szi: string; lastHeight: number; breakHeight: number | null; gapAfter: boolean }>()
  for (const block of blocks.filter((one) => one.height <= height && !isLost(one.height)))
    for (const [, { coin, side, sz, startPosition }] of block.fills) {
      const szi = wire(Number(startPosition) + (side === 'B' ? 1 : -1) * Number(sz))
      const before = last.get(coin)
      const isBroken = (before?.szi ?? '0.0') !== startPosition
      const gapAfter = gaps.some(({ from }) => block.height < from && from <= height)
      const breakHeight = isBroken ? block.height : (before?.breakHeight ?? null)
      if (szi === '0.0') last.delete(coin)
      else last.set(coin, { szi, lastHeight: block.height, breakHeight, gapAfter })
    }
  return Object.fromEntries(last)
}

describe('positionsByUser', () => {
  it('has the last fill of each coin at any height, and tells of missing blocks', async () => {
    await fc.assert(
      fc.asyncProperty(anyKept, async ({ kept, height }) => {
        const own = await positionsOf(USER, height, { events: pastOfKept(() => kept) })
        if (!own.ok) throw new Error(JSON.stringify(own.error))
        const found = [...own.value.byCoin].map(([coin, { change, gapAfter }]) => {
          const { szi, height: lastHeight, at } = change
          return [coin, { szi, lastHeight, breakHeight: at?.height ?? null, gapAfter }]
        })
        expect(Object.fromEntries(found)).toEqual(expected(kept, height))
      }),
    )
  })

  it('is now without a height, leaves out spot and closed positions, and rejects heights above the newest', async () => {
    const world = createWorld()
    const fill = (coin: string, more: object = {}): UserFill => [USER, fillWith({ coin, sz: '2', ...more })]
    const fills = [fill('ETH'), fill('@107'), fill('BTC'), fill('BTC', { side: 'A', startPosition: '2.0', sz: '2.50' })]
    const blocks = [
      { height: 8, time: 80, fills, funding: [] },
      { height: 9, time: 90, fills: [fill('ETH', { side: 'A', startPosition: '2' })], funding: [] },
    ]
    world.held = { head: { height: 9, time: 90 }, since: { height: 5, time: 50 }, runs: [blocks] }
    const ask = async (more: object) =>
      JSON.parse((await world.send({ type: 'positionsByUser', user: USER, ...more })).body)
    const btc = {
      coin: 'BTC',
      side: 'short',
      szi: '-0.5',
      lastHeight: 8,
      lastTime: 80,
      breakHeight: null,
      breakTime: null,
    }
    expect(await ask({})).toEqual({ user: USER, height: 9, positions: [{ ...btc, gapAfter: false }] })
    expect((await ask({ height: 8 })).positions.map(({ szi }: { szi: string }) => szi)).toEqual(['-0.5', '2.0'])
    expect((await ask({ height: 10 })).msg).toBe('height: must be at most 9, the newest block')
  })
})

describe('positionsByCoin', () => {
  const SIZES = [3, -7, 2, -2, 5]
  const userAt = (at: number) => `0x${String(at).repeat(40)}`
  const fills = SIZES.map((size, at): UserFill => {
    const side = size > 0 ? 'B' : 'A'
    return [userAt(at), fillWith({ coin: 'BTC', side, sz: wire(Math.abs(size)), startPosition: '0.0' })]
  })
  const closed: UserFill = [userAt(0), fillWith({ coin: 'BTC', side: 'A', sz: '3.0', startPosition: '3.0' })]
  const run = [
    { height: 8, time: 80, fills, funding: [] },
    { height: 10, time: 100, fills: [closed], funding: [] },
  ]
  const world = createWorld()
  world.held = { head: { height: 10, time: 100 }, since: { height: 5, time: 50 }, runs: [run] }
  const send = (more: object) => world.send({ type: 'positionsByCoin', coin: 'BTC', ...more })
  const sizes = (body: string) => JSON.parse(body).positions.map(({ szi }: { szi: string }) => szi)

  it('lists the largest first, of both sides or one, with the totals of both', async () => {
    const { body } = await send({})
    expect(sizes(body)).toEqual(['-7.0', '5.0', '2.0', '-2.0'])
    expect(JSON.parse(body)).toMatchObject({ long: { wallets: 2, sz: '7.0' }, short: { wallets: 2, sz: '9.0' } })
    expect(sizes((await send({ side: 'short' })).body)).toEqual(['-7.0', '-2.0'])
    expect(sizes((await send({ side: 'long', height: 9 })).body)).toEqual(['5.0', '3.0', '2.0'])
  })

  it('is read page by page at the height of the first page', async () => {
    const first = await send({ height: 9, limit: 2 })
    const cursor = first.headers['x-next-cursor']
    expect([sizes(first.body), cursor]).toEqual([['-7.0', '5.0'], '9_2'])
    const second = await send({ cursor, limit: 3 })
    expect([sizes(second.body), second.headers['x-next-cursor']]).toEqual([['3.0', '2.0', '-2.0'], undefined])
    expect((await send({ cursor, height: 8 })).status).toBe(422)
    expect((await send({ height: 11 })).status).toBe(422)
    expect((await send({ coin: '@107' })).status).toBe(422)
  })

  it('marks positions whose later blocks are missing', async () => {
    world.now += 10_000
    const gap = { ...world.held, since: { height: 10, time: 100 }, runs: run.map((block) => [block]) }
    world.held = gap
    const marks = JSON.parse((await send({})).body).positions.map(({ gapAfter }: { gapAfter: boolean }) => gapAfter)
    expect(marks).toEqual([true, true, true, true])
  })
})
