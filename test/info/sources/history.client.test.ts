import { expect, it } from 'vitest'
import { logHistory } from '../../../src/info/sources/history.client.ts'
import type { BlockRange, FillsRequest, FillsResponse } from '../../../src/protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../../../src/protocol/feed/log-api.ts'

const v = LOG_API_VERSION
const SCOPE = { by: 'user', address: '0xab' } as const
const stretch = (first: number, last: number): BlockRange => ({
  first: { height: first, time: first * 10 },
  last,
  blocks: [{ height: first, time: first * 10, fills: [], funding: [] }],
})
const page = (stretches: BlockRange[], next: number | null): FillsResponse => ({
  v,
  head: { height: 99, time: 990 },
  stretches,
  next,
})

/** A history over a log with scripted responses; the last one repeats. */
function historyOf(answers: readonly (FillsResponse | Error)[]) {
  const asked: (number | null)[] = []
  const slept: number[] = []
  const log = {
    fills: async ({ before, scope }: FillsRequest) => {
      expect(scope).toEqual(SCOPE)
      const answer = answers[Math.min(asked.push(before), answers.length) - 1]!
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const clock = { now: 0 }
  const sleep = async (ms: number) => {
    slept.push(ms)
    clock.now += ms
  }
  return { history: logHistory({ log: () => log, now: () => clock.now, sleep }), asked, slept }
}

it('reads every page and joins adjacent stretches', async () => {
  const { history, asked } = historyOf([
    page([stretch(90, 99), stretch(80, 89)], 80),
    page([stretch(70, 79), stretch(50, 60)], 50),
    page([stretch(40, 49)], null),
  ])
  const held = await history.stored(SCOPE)
  if (!held.ok) throw new Error('refused')
  expect(asked).toEqual([null, 80, 50])
  expect(held.value).toMatchObject({ head: { height: 99, time: 990 }, since: { height: 70, time: 700 } })
  expect(held.value.runs.map((run) => run.map(({ height }) => height))).toEqual([
    [40, 50],
    [70, 80, 90],
  ])
})

it('reports a later start if blocks left the log during the read', async () => {
  const { history } = historyOf([page([stretch(90, 99)], 90), page([], null)])
  expect(await history.stored(SCOPE)).toMatchObject({ ok: true, value: { since: { height: 90 } } })
})

it('stops in time and reports how far it came', async () => {
  const asked: number[] = []
  const log = {
    fills: async ({ before }: FillsRequest) => {
      const from = (before ?? 1_000) - 10
      asked.push(from)
      return page([stretch(from, from + 9)], from)
    },
  }
  const history = logHistory({ log: () => log, now: () => 0, sleep: async () => undefined })
  expect(await history.stored(SCOPE)).toMatchObject({ ok: true, value: { since: { height: asked.at(-1) } } })
  expect(asked).toHaveLength(32)
})

it('reads only down to the given height', async () => {
  const { history, asked } = historyOf([page([stretch(90, 99)], 90), page([stretch(80, 89)], 80)])
  expect(await history.stored(SCOPE, 'fills', 79)).toMatchObject({ ok: true, value: { since: { height: 80 } } })
  expect(asked).toEqual([null, 90])
})

it('waits for its turn, then gives up', async () => {
  const busy = { v, retryMs: 7 }
  const patient = historyOf([busy, page([stretch(90, 99)], 90), busy, page([stretch(80, 89)], null)])
  expect(await patient.history.stored(SCOPE)).toMatchObject({ ok: true, value: { since: { height: 80 } } })
  expect([patient.asked, patient.slept]).toEqual([
    [null, null, 90, 90],
    [7, 7],
  ])
  const { history, slept } = historyOf([busy])
  expect(await history.stored(SCOPE)).toMatchObject({ ok: false, error: { kind: 'unavailable', retryAfterMs: 1_000 } })
  expect(slept).toEqual([7, 7, 7])
})

it('reads only the newest page if that is enough, without waiting', async () => {
  const { history, asked } = historyOf([page([stretch(90, 99)], 90), page([stretch(80, 89)], null)])
  expect(await history.newest(SCOPE)).toMatchObject({ ok: true, value: { since: { height: 90 } } })
  expect(asked).toEqual([null])
  const busy = historyOf([{ v, retryMs: 7 }])
  expect(await busy.history.newest(SCOPE)).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect([busy.asked, busy.slept]).toEqual([[null], []])
})

it('continues while it makes progress, but not forever', async () => {
  const busy = (retryMs: number) => ({ v, retryMs })
  const pages = Array.from({ length: 5 }, (_, i) =>
    page([stretch(90 - 10 * i, 99 - 10 * i)], i === 4 ? null : 90 - 10 * i),
  )
  const slow = historyOf(pages.flatMap((one) => [busy(1_000), one]))
  expect(await slow.history.stored(SCOPE)).toMatchObject({ ok: true, value: { since: { height: 50 } } })
  const tooSlow = historyOf(pages.flatMap((one) => [busy(3_000), one]))
  expect(await tooSlow.history.stored(SCOPE)).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect(tooSlow.slept).toEqual([3_000, 3_000, 3_000])
})

it.each<[string, FillsResponse | Error]>([
  ['is empty', { v, head: null, stretches: [], next: null }],
  ['is away', new Error('reset')],
  ['speaks a later version', { ...page([stretch(1, 2)], null), v: v + 1 }],
])('is unavailable, never empty, while the log %s', async (_, answer) => {
  expect(await historyOf([answer]).history.stored(SCOPE)).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
})
