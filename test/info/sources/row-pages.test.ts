// Pages by row: joined they are the list, for any number of rows per time, while blocks arrive, move into files, fall
// out of them or get lost.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillRows } from '../../../src/archive/fill-rows.ts'
import type { Failure } from '../../../src/core/failure.ts'
import { err, ok, type Result } from '../../../src/core/result.ts'
import { EVER } from '../../../src/info/sources/own-history.ts'
import { rowPage } from '../../../src/info/sources/row-pages.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { USER } from '../../../src/protocol/info/examples.ts'
import { blockOf, blocksOfFills, type Kept, pastOfKept } from '../stored-blocks.ts'

type Rows = ReturnType<typeof fillRows>
type Order = 'newest' | 'oldest'
interface Asked {
  readonly type: string
  readonly user: string
  readonly startTime: number
  readonly endTime: number
  readonly cursor?: string
}
/** Rows of the source for a request, or its failure. */
type Source = (asked: Asked, order: Order, limit: number) => Result<Rows, Failure>

const NO_SOURCE: Source = () => err({ kind: 'unavailable', what: 'No source', hint: 'none' } as const)
const ALL = { type: 't', user: USER, startTime: 0, endTime: EVER }

const listOf = (blocks: readonly EventBlock[], order: Order, isMerged = false): Rows => {
  const rows = blocks.flatMap(({ fills }) => fillRows(fills, isMerged))
  return order === 'newest' ? rows.toReversed() : rows
}
const within = (rows: Rows, { startTime, endTime }: Asked) =>
  rows.filter(({ time }) => time >= startTime && time <= endTime)
/** A source that knows these blocks, and returns at most `limit` rows. */
const sourceOf =
  (blocks: readonly EventBlock[]): Source =>
  (asked, order, limit) =>
    ok(within(listOf(blocks, order), asked).slice(0, limit))

interface Walk {
  readonly order: Order
  readonly limit: number
  readonly request?: Asked
  readonly isMerged?: boolean
  readonly source?: Source | null
  readonly rowsOf?: (block: EventBlock) => Rows
}

/** Reads all pages. `keptAt` has the state of the history at each page. */
async function walk(
  keptAt: (turn: number) => Kept,
  { order, limit, request = ALL, isMerged, source = NO_SOURCE, rowsOf }: Walk,
) {
  const pages: Rows[] = []
  const asked: Asked[] = []
  let cursor = ''
  for (let turn = 0; ; turn++) {
    if (turn > 500) throw new Error('the list does not end')
    const upstream = {
      async request(_: string, body: string) {
        const part = JSON.parse(body) as Asked
        asked.push(part)
        const rows = source?.(part, order, limit) ?? ok([])
        return rows.ok ? ok({ text: JSON.stringify(rows.value) }) : rows
      },
    }
    const page = await rowPage(
      {
        scope: { by: 'user', address: USER },
        kind: 'fills',
        request: { ...request, cursor },
        order,
        limit,
        rowsOf: rowsOf ?? (({ fills }) => fillRows(fills, isMerged)),
        timeOf: ({ time }) => time,
      },
      { events: pastOfKept(() => keptAt(turn)) },
      source && upstream,
    )
    if (!page.ok) return { pages, rows: pages.flat(), asked, error: page.error }
    pages.push(JSON.parse(page.value.body) as Rows)
    if (page.value.nextCursor === undefined) return { pages, rows: pages.flat(), asked, error: null }
    expect(page.value.nextCursor.length).toBeLessThan(50)
    cursor = page.value.nextCursor
  }
}

const order = fc.constantFrom<Order>('newest', 'oldest')
const limit = fc.integer({ min: 1, max: 7 })
const window = fc
  .record({ startTime: fc.nat(30), ms: fc.nat(30) })
  .map(({ startTime, ms }) => ({ ...ALL, startTime, endTime: startTime + ms }))

/** A state of the history: the start of the log, the range of the files, and a gap. */
const state = fc.record({ logFrom: fc.nat(60), late: fc.integer({ min: -3, max: 9 }), filesFrom: fc.nat(40) })
const gap = fc.record({ from: fc.nat(50), length: fc.nat(6) })
type State = { logFrom: number; late: number; filesFrom: number }
type Gap = { from: number; length: number }
function keptOf(blocks: readonly EventBlock[], cut: State, missing: Gap = { from: 0, length: 0 }): Kept {
  const { height, time } = blocks.at(-1)!
  const logFrom = Math.max(1, Math.min(cut.logFrom, height))
  const filesTo = Math.min(height, logFrom - 1 + cut.late)
  const gaps = [{ from: missing.from + 1, to: Math.min(missing.from + missing.length, logFrom - 1) }]
  return {
    blocks,
    head: { height, time },
    logFrom,
    filesFrom: Math.max(1, Math.min(cut.filesFrom, filesTo)),
    filesTo: filesTo < 1 ? null : filesTo,
    gaps: gaps.filter(({ from, to }) => from <= to),
  }
}
/** Times differ between blocks. */
const apart = (blocks: readonly EventBlock[]) =>
  blocks.map(({ height, fills }) => blockOf(height, height + 9, fills.length))

describe('a list by row', () => {
  it('has every row once and in order, while blocks arrive and move into files', async () => {
    const turns = fc.array(state, { minLength: 1, maxLength: 5 })
    const asks = fc.record({ order, limit, request: fc.option(window, { nil: ALL }), isMerged: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(blocksOfFills(), turns, fc.nat(24), asks, async (blocks, states, known, how) => {
        const blocksAt = (turn: number) => blocks.slice(0, known + 1 + turn)
        const keptAt = (turn: number) => {
          const { logFrom, late } = states[turn % states.length]!
          return keptOf(blocksAt(turn), { logFrom, late: Math.abs(late), filesFrom: 1 })
        }
        const { rows, pages, error } = await walk(keptAt, { ...how, source: null })
        const listAt = (turn: number) => within(listOf(blocksAt(turn), how.order, how.isMerged), how.request)
        expect(error).toBe(null)
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(how.limit)
        // Newest first, blocks that arrive later are before the first row.
        expect(rows).toEqual(listAt(how.order === 'newest' ? 0 : pages.length - 1))
      }),
      { numRuns: 1_000 },
    )
  })

  it('has every row once and in order across gaps, or fails, if the source has what we lack', async () => {
    const turns = fc.array(fc.tuple(state, gap), { minLength: 1, maxLength: 5 })
    const asks = fc.record({ order, limit, request: fc.option(window, { nil: ALL }) })
    let failed = 0
    let read = 0
    await fc.assert(
      fc.asyncProperty(blocksOfFills(), turns, asks, async (list, states, how) => {
        const blocks = apart(list)
        const keptAt = (turn: number) => keptOf(blocks, ...states[turn % states.length]!)
        const { rows, error } = await walk(keptAt, { ...how, source: sourceOf(blocks) })
        const wanted = within(listOf(blocks, how.order), how.request)
        expect(rows).toEqual(error ? wanted.slice(0, rows.length) : wanted)
        if (error) failed++
        else read++
        if (error) expect(error).toMatchObject({ kind: 'bad_field', issues: [{ path: 'cursor' }] })
      }),
      { numRuns: 2_000 },
    )
    expect(read).toBeGreaterThan(failed)
  })

  it('has own rows before and after gaps if there is no source', async () => {
    await fc.assert(
      fc.asyncProperty(blocksOfFills(), state, gap, order, limit, async (list, cut, missing, way, rowsMax) => {
        const blocks = apart(list)
        const kept = keptOf(blocks, cut, missing)
        const { rows, error } = await walk(() => kept, { order: way, limit: rowsMax })
        const isOwn = ({ height }: EventBlock) =>
          height >= kept.logFrom ||
          (height >= (kept.filesFrom ?? 1) &&
            height <= (kept.filesTo ?? 0) &&
            !kept.gaps?.some(({ from, to }) => from <= height && height <= to))
        expect([rows, error]).toEqual([listOf(blocks.filter(isOwn), way), null])
      }),
      { numRuns: 500 },
    )
  })

  it('is cut after many blocks without a row, and continues there', async () => {
    const blocks = Array.from({ length: 120 }, (_, i) => blockOf(i + 1, 10 + i, 500))
    const kept = keptOf(blocks, { logFrom: 110, late: 3, filesFrom: 1 })
    const rowsOf = ({ height, fills }: EventBlock) => (height % 50 === 7 ? fillRows(fills.slice(0, 1)) : [])
    for (const way of ['oldest', 'newest'] as const) {
      const { rows, pages, error } = await walk(() => kept, { order: way, limit: 5, source: null, rowsOf })
      const times = [16, 66, 116]
      expect([rows.map(({ time }) => time), error]).toEqual([way === 'oldest' ? times : times.toReversed(), null])
      expect(pages.length).toBeGreaterThan(2)
    }
  })

  it('ends before unreadable data, and then fails', async () => {
    const blocks = Array.from({ length: 20 }, (_, i) => blockOf(i + 1, 10 + i, 900))
    const kept = { ...keptOf(blocks, { logFrom: 17, late: 1, filesFrom: 1 }), damaged: 9 }
    for (const way of ['oldest', 'newest'] as const) {
      const { rows, error } = await walk(() => kept, { order: way, limit: 2_000, source: null })
      expect(rows).toEqual(listOf(blocks, way).slice(0, rows.length))
      expect(rows.length).toBeGreaterThan(2_000)
      expect(rows.every(({ time }) => (way === 'oldest' ? time < 18 : time > 18))).toBe(true)
      expect(error).toMatchObject({ kind: 'unavailable' })
    }
  })

  it('fails if a block is lost whose rows it has begun', async () => {
    const blocks = [blockOf(1, 10, 9), blockOf(2, 11, 9)]
    const stored = keptOf(blocks, { logFrom: 1, late: 0, filesFrom: 1 })
    const lost = { ...stored, blocks: blocks.slice(1), logFrom: 2 }
    const { rows, error } = await walk((turn) => (turn === 0 ? stored : lost), { order: 'oldest', limit: 4 })
    expect(rows).toHaveLength(4)
    expect(error).toMatchObject({
      kind: 'bad_field',
      issues: [{ path: 'cursor', message: expect.stringMatching(/no longer stored/) }],
    })
  })
})

describe('rows older than the own history', () => {
  const blocks = Array.from({ length: 20 }, (_, i) => blockOf(i + 1, 10 + (i >> 1), 2))
  /** Own rows begin at height 12, in the middle of the rows of time 15. */
  const kept = keptOf(blocks, { logFrom: 17, late: 3, filesFrom: 12 })

  it('come from the source, in pages of their own that end between two times', async () => {
    for (const way of ['oldest', 'newest'] as const) {
      const { rows, pages, asked, error } = await walk(() => kept, { order: way, limit: 6, source: sourceOf(blocks) })
      expect([rows, error]).toEqual([listOf(blocks, way), null])
      for (const { endTime } of asked) expect(endTime).toBeLessThanOrEqual(15)
      const isTheirs = pages.filter((page) => page.length > 0).map((page) => page.map(({ time }) => time <= 15))
      for (const page of isTheirs) expect(new Set(page).size).toBe(1)
      expect(isTheirs.filter(([first]) => first).length).toBe(6)
    }
  })

  it('fail if one time has more of them than the source returns', async () => {
    const { rows, error } = await walk(() => kept, { order: 'oldest', limit: 4, source: sourceOf(blocks) })
    expect(rows).toEqual([])
    expect(error).toMatchObject({
      kind: 'bad_field',
      issues: [{ path: 'cursor', message: expect.stringMatching(/more at 10 than/) }],
    })
  })

  it('fail if the source returns their other end', async () => {
    const turned: Source = (request, _, most) => sourceOf(blocks)(request, 'oldest', most)
    const own = { order: 'newest', source: turned } as const
    const { rows, error } = await walk(() => kept, { ...own, limit: 6 })
    expect(rows).toEqual(listOf(blocks, 'newest').slice(0, rows.length))
    expect(error).toMatchObject({
      kind: 'bad_field',
      issues: [{ path: 'cursor', message: expect.stringMatching(/other end/) }],
    })
    // All of them, in the wrong order.
    expect(await walk(() => kept, { ...own, limit: 30 })).toMatchObject({ rows: listOf(blocks, 'newest'), error: null })
  })

  it('fail with their source', async () => {
    const source: Source = () => err({ kind: 'upstream_timeout', source: 's' })
    expect((await walk(() => kept, { order: 'oldest', limit: 6, source })).error).toMatchObject({
      kind: 'upstream_timeout',
    })
    const { rows, error } = await walk(() => kept, { order: 'newest', limit: 6, source })
    expect([rows.at(-1)!.time, error?.kind]).toEqual([16, 'upstream_timeout'])
  })
})
