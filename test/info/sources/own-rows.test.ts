// Pages of rows over log, files and upstream: joined they equal the plain list, wherever the parts begin, end or have
// gaps, and while new blocks arrive.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillIdOf, fillRows } from '../../../src/archive/fill-rows.ts'
import { err, ok } from '../../../src/core/result.ts'
import { builderRows } from '../../../src/info/sources/builder-rows.ts'
import { EVER } from '../../../src/info/sources/own-history.ts'
import { rowsAnswer } from '../../../src/info/sources/own-rows.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { USER } from '../../../src/protocol/info/examples.ts'
import { blockOf, blocksOfFills, type Kept, logOf, pastOfKept } from '../stored-blocks.ts'

type Rows = ReturnType<typeof fillRows>
type Order = 'newest' | 'oldest'
interface Asked {
  readonly type: string
  readonly user: string
  readonly startTime: number
  readonly endTime: number
}
const within = (blocks: readonly EventBlock[], { startTime, endTime }: Asked, order: Order, limit: number): Rows => {
  const all = blocks.flatMap(({ fills }) => fillRows(fills))
  const rows = all.filter(({ time }) => time >= startTime && time <= endTime)
  return (order === 'newest' ? rows.toReversed() : rows).slice(0, limit)
}

const FILLS = {
  kind: 'fills',
  isWindowed: true,
  rowsOf: ({ fills }: EventBlock) => fillRows(fills),
  timeOf: ({ time }: { readonly time: number }) => time,
  idOf: (fill: Rows[number]) => fillIdOf(fill),
} as const
/** Requests a page with an upstream that knows `theirs`, in pages of this size. */
async function ask(kept: Kept, request: Asked, order: Order, limit: number, theirs: readonly EventBlock[] | null) {
  const asked: Asked[] = []
  const upstream = {
    request: async (_: string, body: string) => {
      const part = JSON.parse(body) as Asked
      asked.push(part)
      if (theirs === null) return err({ kind: 'upstream_timeout', source: 's' } as const)
      return ok({ text: JSON.stringify(within(theirs, part, order, limit)) })
    },
  }
  const answer = await rowsAnswer({ ...FILLS, request, order, limit }, { events: pastOfKept(() => kept), upstream })
  return { answer, asked, rows: answer.ok ? (JSON.parse(answer.value.body) as Rows) : null }
}

const window = fc
  .record({ startTime: fc.nat(30), ms: fc.nat(30) })
  .map(({ startTime, ms }) => ({ type: 't', user: USER, startTime, endTime: startTime + ms }))
/** Cuts of a list: start of the log, range of the files and two gaps. */
const cuts = fc.record({
  logFrom: fc.nat(60),
  late: fc.integer({ min: -3, max: 9 }),
  filesFrom: fc.nat(40),
  gap: fc.nat(50),
  length: fc.nat(6),
})
function keptOf(
  blocks: readonly EventBlock[],
  cut: { logFrom: number; late: number; filesFrom: number; gap: number; length: number },
): Kept {
  const { height, time } = blocks.at(-1)!
  const logFrom = Math.max(1, Math.min(cut.logFrom, height))
  const filesTo = Math.min(height, logFrom - 1 + cut.late)
  const filesFrom = Math.max(1, Math.min(cut.filesFrom, filesTo))
  const gaps = cut.length > 0 ? [{ from: cut.gap + 1, to: Math.min(cut.gap + cut.length, logFrom - 1) }] : []
  return {
    blocks,
    head: { height, time },
    logFrom,
    filesFrom,
    filesTo: filesTo < 1 ? null : filesTo,
    gaps: gaps.filter(({ from, to }) => from <= to),
  }
}
const order = fc.constantFrom<Order>('newest', 'oldest')

describe('a list of the public API', () => {
  it('equals the plain list if the upstream knows it, and requests only what we lack', async () => {
    await fc.assert(
      fc.asyncProperty(
        blocksOfFills(),
        cuts,
        window,
        order,
        fc.integer({ min: 1, max: 9 }),
        async (blocks, cut, asks, way, limit) => {
          const kept = keptOf(blocks, cut)
          const { rows, asked } = await ask(kept, asks, way, limit, blocks)
          expect(rows).toEqual(within(blocks, asks, way, limit))
          for (const { endTime } of asked) expect(endTime).toBeLessThanOrEqual(logOf(kept).since.time)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('keeps own rows that the upstream has dropped', async () => {
    await fc.assert(
      fc.asyncProperty(blocksOfFills(), cuts, window, order, fc.nat(25), async (blocks, cut, asks, way, forgotten) => {
        const kept = keptOf(blocks, { ...cut, filesFrom: 1, late: 2, length: 0 })
        const { rows } = await ask(
          kept,
          asks,
          way,
          9,
          blocks.filter(({ time }) => time > 10 + forgotten),
        )
        expect(rows).toEqual(within(blocks, asks, way, 9))
      }),
      { numRuns: 300 },
    )
  })

  const list = Array.from({ length: 20 }, (_, i) => blockOf(i + 1, 10 + i, 1))
  const kept: Kept = { blocks: list, head: { height: 20, time: 29 }, logFrom: 15, filesFrom: 6, filesTo: 18 }
  const ALL = { type: 't', user: USER, startTime: 0, endTime: EVER }
  const since = { height: 6, time: 15 }

  it('reports completeness if no upstream responds, newest first', async () => {
    const { answer, rows } = await ask(kept, ALL, 'newest', 100, null)
    expect(answer).toMatchObject({ ok: true, value: { height: 20, since } })
    expect(rows).toEqual(within(list.slice(5), ALL, 'newest', 100))
    // There are no older rows.
    expect((await ask(kept, { ...ALL, endTime: 14 }, 'newest', 100, null)).answer).toMatchObject({ ok: false })
  })

  it('fails if no upstream responds and the oldest rows are not ours', async () => {
    expect((await ask(kept, ALL, 'oldest', 100, null)).answer).toMatchObject({
      ok: false,
      error: { kind: 'upstream_timeout' },
    })
    expect((await ask(kept, { ...ALL, startTime: 16 }, 'oldest', 100, null)).rows).toHaveLength(14)
  })

  it('requests unreadable parts from the upstream', async () => {
    for (const way of ['newest', 'oldest'] as const) {
      const { rows, answer } = await ask({ ...kept, damaged: 9 }, ALL, way, 100, list)
      expect(rows).toEqual(within(list, ALL, way, 100))
      expect(answer).toMatchObject({ ok: true, value: { since: { height: 15 } } })
    }
  })

  it('passes the upstream through if we have nothing', async () => {
    const none = { ...kept, blocks: [] }
    const text = ' [ {"time":0.0E1} ]'
    const upstream = { request: async () => ok({ text }) }
    const asks = { ...FILLS, request: ALL, order: 'newest', limit: 9 } as const
    const answer = await rowsAnswer(asks, { events: pastOfKept(() => none), upstream })
    expect(answer).toMatchObject({ ok: true, value: { body: text } })
  })

  it('rejects a window with too many rows in the files', async () => {
    const long = Array.from({ length: 200 }, (_, i) => blockOf(i + 1, 10 + i, 500, { twapId: 1 }))
    const all: Kept = { blocks: long, head: { height: 200, time: 209 }, logFrom: 200, filesTo: 199 }
    const upstream = { request: async () => err({ kind: 'upstream_timeout', source: 's' } as const) }
    const asks = { ...FILLS, request: { ...ALL, startTime: 20 }, order: 'oldest', limit: 9, rowsOf: () => [] } as const
    expect(await rowsAnswer(asks, { events: pastOfKept(() => all), upstream })).toMatchObject({
      ok: false,
      error: { kind: 'bad_field', issues: [{ path: 'endTime' }] },
    })
  })
})

describe('the fills of a builder', () => {
  const page = async (kept: Kept, limit: number, toMs: number, fromMs = 0) => {
    const answer = await builderRows(
      { builder: USER, fromMs, toMs, isAggregated: false, limit },
      { events: pastOfKept(() => kept) },
    )
    if (!answer.ok) throw new Error(answer.error.kind)
    return JSON.parse(answer.value.body) as Rows
  }

  it('page through all of them once, while blocks move from the log into files', async () => {
    const moves = fc.array(cuts, { minLength: 1, maxLength: 5 })
    const most = (blocks: readonly EventBlock[]) => {
      const times = Map.groupBy(
        blocks.flatMap(({ fills }) => fills),
        ([, { time }]) => time,
      )
      return Math.max(...[...times.values()].map(({ length }) => length))
    }
    await fc.assert(
      fc.asyncProperty(blocksOfFills(), moves, fc.nat(24), fc.nat(3), async (blocks, cut, known, more) => {
        const limit = most(blocks) + more
        const seen: Rows = []
        let toMs = EVER
        const first = blocks.slice(0, known + 1)
        for (let turn = 0; ; turn++) {
          // Each page sees more blocks than the previous one, and another cut.
          const now = blocks.slice(0, known + 1 + turn)
          const rows = await page(
            keptOf(now, { ...cut[turn % cut.length]!, filesFrom: 1, late: 3, length: 0 }),
            limit,
            toMs,
          )
          if (rows.length === 0) break
          expect(rows.length).toBeLessThanOrEqual(limit)
          seen.push(...rows)
          toMs = rows.at(-1)!.time - 1
        }
        const tids = first.flatMap(({ fills }) => fills.map(([, { tid }]) => tid)).reverse()
        expect(seen.map(({ tid }) => tid)).toEqual(tids)
      }),
      { numRuns: 500 },
    )
  })

  it('end before unreadable data at a complete time, and fail if it comes next', async () => {
    const list = Array.from({ length: 20 }, (_, i) => blockOf(i + 1, 10 + (i >> 1), 900))
    const kept: Kept = { blocks: list, head: { height: 20, time: 19 }, logFrom: 17, filesTo: 18, damaged: 9 }
    const rows = await page(kept, 99_999, EVER)
    expect([...new Set(rows.map(({ time }) => time))]).toEqual([19, 18, 17, 16])
    await expect(page(kept, 99_999, 14)).rejects.toThrow('unavailable')
  })
})
