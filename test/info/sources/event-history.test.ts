// Log and files as one list: every block once and in order, with correct reporting of gaps.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FilesReader, FilesRequest } from '../../../src/archive/files/files-read.ts'
import type { After } from '../../../src/core/deadline.ts'
import { ok } from '../../../src/core/result.ts'
import type { EventRequest } from '../../../src/info/ports.ts'
import { eventHistoryOf } from '../../../src/info/sources/event-history.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { USER } from '../../../src/protocol/info/examples.ts'
import { blockOf, blocksOfFills, filesOf, type Kept, logOf } from '../stored-blocks.ts'

const SCOPE = { by: 'user', address: USER } as const
const never: After = () => () => {}
async function read(
  kept: Kept,
  more: Partial<EventRequest> = {},
  files: FilesReader | null = filesOf(() => kept),
  most = 1e9,
) {
  const request: EventRequest = { kind: 'fills', scope: SCOPE, fromMs: 0, toMs: 1e15, order: 'newest', ...more }
  const segmentsFrom = async (at: object) => {
    const first = (at as { height: number }).height
    return [{ chain: 'c', first, last: first + 9, firstMs: 5, lastMs: 9, epoch: null }]
  }
  const history = { stored: async () => ok(logOf(kept)) }
  const told: EventBlock[] = []
  const holes: number[] = []
  const past = eventHistoryOf({ history, files, archive: { segmentsFrom }, after: never })
  const answer = await past.read(request, (one, isAfterHole) => {
    if (told.length === most) return false
    told.push(one)
    if (isAfterHole) holes.push(one.height)
    return true
  })
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  return { ...answer.value, told, holes }
}

it('passes every block of a window once and in order, wherever the log and the files meet', async () => {
  const cut = fc.record({ logFrom: fc.nat(60), late: fc.nat(9), fromMs: fc.nat(30), ms: fc.nat(30) })
  await fc.assert(
    fc.asyncProperty(
      blocksOfFills(),
      cut,
      fc.constantFrom('newest' as const, 'oldest' as const),
      async (list, at, order) => {
        const head = { height: list.at(-1)!.height, time: list.at(-1)!.time }
        const logFrom = Math.min(at.logFrom, head.height)
        const filesTo = Math.min(head.height, logFrom - 1 + at.late)
        const kept: Kept = { blocks: list, head, logFrom, filesTo: filesTo < 1 ? null : filesTo }
        const toMs = at.fromMs + at.ms
        const { told, holes, since, ended } = await read(kept, { fromMs: at.fromMs, toMs, order })
        const wanted = list.filter(
          ({ time, height }) => time >= at.fromMs && time <= toMs && (kept.filesTo !== null || height >= logFrom),
        )
        expect(told).toEqual(order === 'newest' ? wanted.toReversed() : wanted)
        expect([holes, ended]).toEqual([[], 'all'])
        expect(since).toEqual(kept.filesTo === null || logFrom < 2 ? logOf(kept).since : { height: 1, time: 0 })
      },
    ),
    { numRuns: 500 },
  )
})

const many = (count: number, rows: number) => Array.from({ length: count }, (_, i) => blockOf(i + 1, 10 + i, rows))
const keptOf = (list: readonly EventBlock[], more: Partial<Kept>): Kept => {
  const head = { height: list.at(-1)!.height, time: list.at(-1)!.time }
  return { blocks: list, head, logFrom: head.height, filesTo: head.height - 1, ...more }
}
const heights = (told: readonly EventBlock[]) => told.map(({ height }) => height)

describe('pages of the files', () => {
  it.each(['newest', 'oldest'] as const)('join, %s first, even if one time fills more than a page', async (order) => {
    const list = Array.from({ length: 9 }, (_, i) => blockOf(i + 1, i < 7 ? 10 : 11, 900))
    const { told } = await read(keptOf(list, {}), { order })
    expect(heights(told).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('are read only as far as needed, and not for blocks in the log', async () => {
    const asked: FilesRequest[] = []
    const kept = keptOf(many(40, 500), { logFrom: 40 })
    await read(
      kept,
      {},
      filesOf(() => kept, asked),
      3,
    )
    expect(asked.map(({ upTo, limit }) => [upTo, limit])).toEqual([[39, 2_048]])
    await read(
      kept,
      { fromMs: kept.head.time + 1 },
      filesOf(() => kept, asked),
    )
    expect(asked).toHaveLength(1)
  })

  it('are limited, and the result reports how far the read got', async () => {
    const kept = keptOf(many(100, 500), { logFrom: 100 })
    const newest = await read(kept)
    expect([newest.ended, newest.since]).toEqual(['work', { height: 60, time: 69 }])
    expect(await read(kept, { order: 'oldest' })).toMatchObject({ ended: 'work', since: { height: 1 } })
  })
})

describe('missing blocks', () => {
  const list = many(20, 1)

  it('after a gap are reported with its end', async () => {
    const kept = keptOf(list, { logFrom: 15, filesTo: 18, gaps: [{ from: 6, to: 8 }] })
    const newest = await read(kept)
    expect(heights(newest.told)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 5, 4, 3, 2, 1])
    expect([newest.holes, newest.since]).toEqual([[5], { height: 9, time: 5 }])
    expect(await read(kept, { order: 'oldest' })).toMatchObject({ holes: [9], since: { height: 9, time: 5 } })
  })

  it('between late files and the log are a gap', async () => {
    const kept = keptOf(list, { logFrom: 15, filesTo: 9 })
    const newest = await read(kept)
    expect(heights(newest.told)).toEqual([20, 19, 18, 17, 16, 15, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect([newest.holes, newest.since]).toEqual([[9], { height: 15, time: 24 }])
  })

  it('at the end of the files are a gap', async () => {
    const kept = keptOf(list, { logFrom: 15, filesTo: 14, gaps: [{ from: 13, to: 14 }] })
    expect(await read(kept, { order: 'oldest' })).toMatchObject({ holes: [15], since: { height: 15, time: 24 } })
  })

  it('of the log are read from the files', async () => {
    const kept = keptOf(list, { logFrom: 15, filesTo: 18 })
    const history = { stored: async () => ok({ ...logOf(kept), runs: [list.slice(9, 11), list.slice(14)] }) }
    const told: EventBlock[] = []
    const past = eventHistoryOf({ history, files: filesOf(() => kept), archive: null, after: never })
    await past.read({ kind: 'fills', scope: SCOPE, fromMs: 0, toMs: 99, order: 'oldest' }, (one) => told.push(one) > 0)
    expect(told).toEqual(list)
  })

  it('due to damage are never skipped silently', async () => {
    const kept = keptOf(many(20, 900), { logFrom: 15, filesTo: 18, damaged: 9 })
    const newest = await read(kept)
    expect(heights(newest.told)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12])
    expect([newest.ended, newest.since]).toEqual(['damage', { height: 12, time: 21 }])
    const oldest = await read(kept, { order: 'oldest' })
    expect(heights(oldest.told)).toEqual([1, 2, 3, 4, 5, 6, 15, 16, 17, 18, 19, 20])
    expect([oldest.ended, oldest.holes, oldest.since]).toEqual(['damage', [15], { height: 15, time: 24 }])
  })

  it('due to storage failures are unavailable, and hanging reads time out', async () => {
    const kept = keptOf(list, {})
    const history = { stored: async () => ok(logOf(kept)) }
    const request: EventRequest = { kind: 'fills', scope: SCOPE, fromMs: 0, toMs: 99, order: 'newest' }
    const away = { ok: false, error: { kind: 'unavailable', retryAfterMs: 1_000 } }
    const failing = { ...filesOf(() => kept), rows: async () => Promise.reject(new Error('D1 is away')) }
    expect(
      await eventHistoryOf({ history, files: failing, archive: null, after: never }).read(request, () => true),
    ).toMatchObject(away)
    const hanging = { ...filesOf(() => kept), cover: () => new Promise<never>(() => {}) }
    const soon: After = (_, run) => {
      queueMicrotask(run)
      return () => {}
    }
    expect(
      await eventHistoryOf({ history, files: hanging, archive: null, after: soon }).read(request, () => true),
    ).toMatchObject(away)
  })
})
