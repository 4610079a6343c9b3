// Where the archive ends and the log goes on: each height once, whoever has it when it is asked.

import { describe, expect, it } from 'vitest'
import type { ArchivedSegment } from '../../../src/archive/archive/archive-read.ts'
import { toChunks } from '../../../src/core/chunks.ts'
import type { ReadBlock } from '../../../src/pipelines/follower-api.ts'
import { FatalPipelineError } from '../../../src/pipelines/pipeline.ts'
import { type KnownOrders, Source, type SourceItem, type SourcePorts } from '../../../src/pipelines/sink/source.ts'
import type { DurablePage, DurablePart } from '../../../src/protocol/feed/durable-api.ts'

const segment = (first: number, last: number): ArchivedSegment => ({
  chain: 'c',
  first,
  last,
  firstMs: first * 1_000,
  lastMs: last * 1_000,
  epoch: 'e',
})
const lines = (first: number, last: number, more: object = {}): DurablePart => {
  const texts = Array.from({ length: last - first + 1 }, (_, at) => `block ${first + at}`)
  return { first, last, lines: toChunks(texts.join('\n')), ...more }
}
/** Each call takes the next answer; the last one stays. */
const source = (
  archived: ArchivedSegment[][],
  logged: Partial<DurablePage>[],
  kind: 'events' | 'orders' | 'replica' = 'events',
  known: KnownOrders | null = null,
) => {
  const asked: number[] = []
  const next = <T>(answers: T[]): T => (answers.length > 1 ? answers.shift()! : answers[0]!)
  const archive: SourcePorts['archive'] = {
    segmentsFrom: async () => next(archived),
    last: async () => null,
    async *lines({ first, last }) {
      for (let height = first; height <= last; height++) yield `block ${height}`
    },
  }
  const durable = async (from: number) => {
    asked.push(from)
    return { v: 1, head: null, parts: [], ...next(logged) }
  }
  return { source: new Source({ archive, head: async () => null, durable }, kind, known), asked }
}
const told = (pieces: SourceItem[]) => pieces.map((one) => ('line' in one ? one.height : `${one.from}-${one.to}`))

describe('a source', () => {
  it('returns to the archive for blocks that the log has dropped in the meantime', async () => {
    const archived = [[], [segment(10, 12)], [segment(10, 12)], []]
    const one = source(archived, [
      { parts: [{ gap: { from: 10, to: 12 } }, lines(13, 14)] },
      { parts: [lines(13, 14)] },
      {},
    ])
    expect(told(await Array.fromAsync(one.source.items({ height: 10 })))).toEqual([10, 11, 12, 13, 14])
    expect(one.asked).toEqual([10, 13, 15])
  })

  it('leaves out the payments of an hour, of which no topic has rows', async () => {
    const line = '{"payments":["0x1 1 BTC 1 1 1"],"height":10}'
    const archive = {
      segmentsFrom: async () => [segment(10, 10)],
      last: async () => null,
      lines: async function* () {
        yield line
      },
    }
    const own = new Source(
      { archive, head: async () => null, durable: async () => ({ v: 1, head: null, parts: [] }) },
      'events',
    )
    expect(await own.items({ height: 10 }).next()).toMatchObject({ value: { line: '{"height":10}' } })
  })

  it('skips blocks that it has already returned, and continues after them with the next call', async () => {
    const one = source(
      [[]],
      [{ parts: [lines(8, 12)] }, {}, { parts: [lines(11, 14), { gap: { from: 15, to: 16 } }] }, {}],
    )
    expect(told(await Array.fromAsync(one.source.items({ height: 10 })))).toEqual([10, 11, 12])
    expect(one.source.isBehind).toBe(false)
    expect(told(await Array.fromAsync(one.source.items({ height: 10 })))).toEqual([13, 14, '15-16'])
    expect(one.asked).toEqual([10, 13, 13, 17])
  })

  it('ends when the log requests a delay, and reports the delay', async () => {
    const one = source([[]], [{ retryMs: 700 }])
    expect(await Array.fromAsync(one.source.items({ height: 10 }))).toEqual([])
    expect([one.source.retryMs, one.source.isBehind]).toEqual([700, true])
  })

  // PIPE-15
  it('reports order statuses as unknown before they were requested', async () => {
    const parts = [lines(10, 13, { orders: toChunks('[1]\n\n[3]\n[4]') })]
    const one = source([[]], [{ parts, ordersFrom: 12 }, { ordersFrom: 12 }], 'orders')
    expect(await Array.fromAsync(one.source.items({ height: 10 }))).toEqual([
      { from: 10, to: 11, why: 'order statuses were not requested yet' },
      { height: 12, line: 'block 12', rows: '[3]' },
      { height: 13, line: 'block 13', rows: '[4]' },
    ])
  })

  // PIPE-34
  it('passes signed actions on with their blocks, without any if the log has none', async () => {
    const parts = [lines(10, 11, { replica: toChunks('\n[{}]') }), lines(12, 12)]
    const one = source([[]], [{ parts }, {}], 'replica')
    expect(await Array.fromAsync(one.source.items({ height: 10 }))).toEqual([
      { height: 10, line: 'block 10' },
      { height: 11, line: 'block 11', rows: '[{}]' },
      { height: 12, line: 'block 12' },
    ])
  })

  // PIPE-15
  it('of order statuses that nobody is asked for knows none, and says why, the same as it is read anew', async () => {
    const why = 'order statuses are not requested: all pipelines and streams together have reached the wallet limit'
    const parts = [lines(10, 13)]
    const one = source([[]], [{ parts, ordersFrom: null }, { ordersFrom: null }], 'orders')
    expect(await Array.fromAsync(one.source.items({ height: 10 }))).toEqual([{ from: 10, to: 13, why }])
    const known = { to: 11, ordersFrom: one.source.ordersFrom! }
    const again = source([[]], [{ parts, ordersFrom: 13 }, { ordersFrom: 13 }], 'orders', known)
    expect(await Array.fromAsync(again.source.items({ height: 10 }))).toEqual([
      { from: 10, to: 11, why },
      { from: 12, to: 12, why: 'order statuses were not requested yet' },
      expect.objectContaining({ height: 13 }),
    ])
  })

  // PIPE-15
  it('ends where from then on other order statuses are known, so that a batch has one beginning of them', async () => {
    const page = (height: number, ordersFrom: number) => ({ parts: [lines(height, height)], ordersFrom })
    const one = source([[]], [page(10, 10), page(11, 12), page(11, 12), { ordersFrom: 12 }], 'orders')
    expect(told(await Array.fromAsync(one.source.items({ height: 10 })))).toEqual([10])
    expect([one.source.ordersFrom, one.source.isBehind]).toEqual([10, true])
    expect(told(await Array.fromAsync(one.source.items({ height: 11 })))).toEqual(['11-11'])
    expect(one.source.ordersFrom).toBe(12)
  })

  // PIPE-3, PIPE-15
  it('of a batch that was read before knows the order statuses that it knew then, whatever the log says now', async () => {
    const one = source([[]], [{ parts: [lines(10, 14)], ordersFrom: 114 }, { ordersFrom: 114 }], 'orders', {
      to: 12,
      ordersFrom: 11,
    })
    const pieces = await Array.fromAsync(one.source.items({ height: 10 }))
    expect(told(pieces)).toEqual(['10-10', 11, 12, '13-14'])
  })

  const READ: ReadBlock = { height: 9, time: 9_000, epoch: 'new' }
  const HEAD = { height: 12, time: 12_000 }
  const blocks = (first: number, last: number, add = 0) => {
    const texts = Array.from({ length: last - first + 1 }, (_, at) =>
      JSON.stringify({ time: (first + at) * 1_000 + add }),
    )
    return { first, last, lines: toChunks(texts.join('\n')) }
  }
  const opened = (over: {
    archived?: ArchivedSegment[]
    last?: number
    parts: DurablePart[]
    read?: ReadBlock | null
    head?: number
  }) => {
    const { archived = [], last = null, parts, read = READ, head = 12 } = over
    const segmentsFrom = async (at: object) =>
      archived.filter((one) => one.last >= ((at as { height?: number }).height ?? 0))
    const asked: number[] = []
    const lines = async function* ({ first, last: to }: ArchivedSegment) {
      for (let height = first; height <= to; height++) yield `{"of":"archive"}`
    }
    const durable = async (from: number) => {
      asked.push(from)
      return { v: 1, head: { ...HEAD, height: head }, parts: asked.length > 1 ? [] : parts }
    }
    const ports = {
      archive: { segmentsFrom, last: async () => last, lines },
      head: async () => ({ ...HEAD, height: head }),
      durable,
    }
    return { own: new Source(ports, 'events', null, read), asked }
  }
  const all = async (own: Source, place = { height: 10 }) => told(await Array.fromAsync(own.items(place)))

  // PIPE-28
  it('reads the previous block again, and continues if it is unchanged', async () => {
    const same = opened({ parts: [blocks(9, 12)] })
    expect([await all(same.own), same.asked]).toEqual([
      [10, 11, 12],
      [9, 13],
    ])
    const other = opened({ parts: [blocks(9, 12, 1)] })
    await expect(all(other.own)).rejects.toThrow(/^Block 9 /)
    const below = opened({ parts: [], head: 8 })
    await expect(all(below.own)).rejects.toThrow(/^Block 9 .* block 8/)
    // Nothing was read yet: it waits for its height.
    const later = opened({ parts: [], head: 8, read: null })
    expect(await all(later.own)).toEqual([])
  })

  // PIPE-28
  it('takes nothing from an archive of before a reset, which has heights that the log has not reached again, or old ones', async () => {
    const archived = [
      { ...segment(10, 11), epoch: 'old', lastMs: 5_000 },
      { ...segment(12, 40), epoch: 'old', lastMs: 6_000 },
    ]
    const before = opened({ archived, last: 40, parts: [{ gap: { from: 0, to: 9 } }, blocks(10, 12)], read: null })
    expect(await all(before.own)).toEqual([10, 11, 12])
    const passed = opened({ archived, last: 40, head: 50, parts: [{ gap: { from: 9, to: 10 } }, blocks(11, 12)] })
    expect(await all(passed.own)).toEqual(['10-10', 11, 12])
    // A block of another year alone is no sign of one.
    const odd = opened({ archived: archived.map((one) => ({ ...one, epoch: 'new' })), last: 40, head: 50, parts: [] })
    expect((await all(odd.own)).length).toBe(31)
  })

  it('checks the lines of the log against their heights', async () => {
    const wrong = { first: 10, last: 12, lines: toChunks('block 10\nblock 11') }
    const failure = await Array.fromAsync(source([[]], [{ parts: [wrong] }]).source.items({ height: 10 })).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(FatalPipelineError)
    expect((failure as Error).message).toContain('2 lines for blocks 10 to 12')
  })
})
