// When alerts begin and end, and how often they are sent.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ALERTS,
  type Alert,
  AlertEvent,
  alertReadings,
  attempted,
  checkAlerts,
  dueAlerts,
  type Facts,
  NO_ALERTS,
  type StoredAlerts,
} from '../../src/monitor/alerts.ts'

const MINUTE_MS = 60_000
const LIVE = { state: 'live', advice: 'All is well.', height: 9, archive: null } as const
type Archive = NonNullable<Facts['status']>['archive']
const withArchive = (archive: object): Check => ({ ...GOOD, status: { ...LIVE, archive: archive as Archive } })
const GOOD = { status: LIVE, usageLateMs: 0, charged: 0, writtenOff: 0 }
type Check = typeof GOOD | (Omit<typeof GOOD, 'status'> & { readonly status: Facts['status'] })

let ids = 0
const ports = { chain: 'hyperliquid', newId: () => `evt_${ids++}`, hasReceiver: true }
const factsOf = ({ charged, writtenOff, ...rest }: Check, atMs: number): Facts => ({
  ...rest,
  sums: { atMs, charged, writtenOff },
})

/** Checks once a minute. Messages are delivered at once. Returns `alert type` of each, in order. */
function told(checks: readonly Check[], stored: StoredAlerts = NO_ALERTS) {
  const messages: string[] = []
  let state = stored
  checks.forEach((check, minute) => {
    const nowMs = minute * MINUTE_MS
    state = checkAlerts(state, factsOf(check, nowMs), ports).next
    for (const due of dueAlerts(state, nowMs)) {
      const { alert, type } = AlertEvent.parse(JSON.parse(due.body))
      messages.push(`${alert} ${type}`)
      state = attempted(state, due, true, nowMs, 0)
    }
  })
  return messages
}
const times = (count: number, check: Check) => Array.from({ length: count }, () => check)
const BAD: Readonly<Record<Alert, Check>> = {
  feed_not_live: { ...GOOD, status: { ...LIVE, state: 'no_feeder', advice: 'Start a feeder.' } },
  archive_late: withArchive({ height: 5, lagMs: 601_000 }),
  write_offs_high: { ...GOOD, charged: 900, writtenOff: 100 },
  usage_copies_late: { ...GOOD, usageLateMs: 20 * MINUTE_MS + 1 },
}

describe.each(ALERTS)('%s', (alert) => {
  it('sends one message when it begins and one when it ends', () => {
    const after = alert === 'write_offs_high' ? times(70, BAD[alert]) : times(5, GOOD)
    expect(told([...times(3, GOOD), ...times(20, BAD[alert]), ...after])).toEqual([
      `${alert} alert.started`,
      `${alert} alert.ended`,
    ])
  })

  it('needs two checks to begin and three to end', () => {
    const bad = BAD[alert]
    expect(told([GOOD, bad, GOOD, bad, GOOD])).toEqual([])
    if (alert !== 'write_offs_high')
      expect(told([bad, bad, GOOD, GOOD, bad, GOOD, GOOD])).toEqual([`${alert} alert.started`])
  })
})

it('without a receiver, alerts begin and end, and nothing waits to be sent', () => {
  const waiting = { id: 'evt_old', body: '{}', attempts: 0, nextMs: 0 }
  let state: StoredAlerts = { ...NO_ALERTS, outbox: [waiting] }
  const types: string[] = []
  for (const [minute, check] of [...times(3, BAD.feed_not_live), ...times(3, GOOD)].entries()) {
    const { next, events } = checkAlerts(state, factsOf(check, minute * MINUTE_MS), { ...ports, hasReceiver: false })
    types.push(...events.map(({ type }) => type))
    expect(next.outbox).toEqual([])
    state = next
  }
  expect(types).toEqual(['alert.started', 'alert.ended'])
})

it('shows what a check read against the thresholds', () => {
  const readings = alertReadings(factsOf({ ...BAD.write_offs_high, usageLateMs: 61_000 }, MINUTE_MS), {
    sums: [{ atMs: 0, charged: 0, writtenOff: 0 }],
  })
  expect(readings).toMatchObject({
    feed_not_live: { fault: null, value: null, threshold: null },
    archive_late: { value: null, threshold: 600_000 },
    write_offs_high: { value: 10, threshold: 1, fault: '10.0 % of the credits of the last hour were written off.' },
    usage_copies_late: { value: 61_000, threshold: 1_200_000, fault: null },
  })
})

it('a log that does not answer is not live', () => {
  expect(told(times(2, { ...GOOD, status: null }))).toEqual(['feed_not_live alert.started'])
})

it.each([
  ['archive', withArchive({ height: 5, lagMs: 600_000 })],
  ['copies', { ...GOOD, usageLateMs: 20 * MINUTE_MS }],
])('the limit itself is no alert: %s', (_, check) => {
  expect(told(times(5, check))).toEqual([])
})

it('an archive that does not report for ten minutes is late', () => {
  const silent = withArchive({ height: null, lagMs: null })
  expect(told([GOOD, ...times(9, silent), GOOD, ...times(9, silent)])).toEqual([])
  expect(told(times(12, silent))).toEqual(['archive_late alert.started'])
  const empty = { ...silent, status: { ...silent.status, height: null } as NonNullable<Facts['status']> }
  expect(told(times(12, empty))).toEqual([])
  // After a reset to lower heights, the lag is unknown for as long as the log takes.
  expect(told(times(12, withArchive({ height: 50, lagMs: null })))).toEqual([])
})

it('an archive that was late is not over when the log restarts or does not answer', () => {
  const late = times(3, BAD.archive_late)
  const silent = withArchive({ height: null, lagMs: null })
  expect(told([...late, ...times(5, silent)])).toEqual(['archive_late alert.started'])
  expect(told([...late, ...times(5, { ...GOOD, status: null })])).toEqual([
    'archive_late alert.started',
    'feed_not_live alert.started',
  ])
})

it('write-offs of exactly one percent are no alert', () => {
  expect(told([GOOD, ...times(5, { ...GOOD, charged: 990, writtenOff: 10 })])).toEqual([])
  expect(told([GOOD, ...times(5, { ...GOOD, charged: 989, writtenOff: 11 })])).toEqual([
    'write_offs_high alert.started',
  ])
})

it('invariant: messages of an alert alternate, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(fc.subarray([...ALERTS]), { maxLength: 60 }), (checks) => {
      const all = told(
        checks.map((bad) =>
          Object.assign({}, GOOD, ...bad.filter((one) => one !== 'write_offs_high').map((one) => diffOf(one))),
        ),
      )
      for (const alert of ALERTS) {
        const own = all.filter((one) => one.startsWith(`${alert} `)).map((one) => one.split(' ')[1])
        own.forEach((type, index) => {
          expect(type).toBe(index % 2 === 0 ? 'alert.started' : 'alert.ended')
        })
      }
    }),
  )
})
const diffOf = (alert: Alert) =>
  alert === 'usage_copies_late' ? { usageLateMs: BAD[alert].usageLateMs } : { status: BAD[alert].status }

it('a message is tried ten times with growing delays, and later ones wait for it', () => {
  let state = NO_ALERTS
  for (let check = 0; check < 2; check++)
    state = checkAlerts(state, factsOf(BAD.feed_not_live, check * MINUTE_MS), ports).next
  for (let check = 2; check < 5; check++) state = checkAlerts(state, factsOf(GOOD, check * MINUTE_MS), ports).next
  const attempts: [string, number][] = []
  for (let nowMs = 5 * MINUTE_MS; nowMs < 86_400_000; nowMs += MINUTE_MS) {
    for (const due of dueAlerts(state, nowMs).slice(0, 1)) {
      attempts.push([AlertEvent.parse(JSON.parse(due.body)).type, nowMs])
      state = attempted(state, due, false, nowMs, 0.5)
    }
  }
  expect(attempts.map(([type]) => type)).toEqual([...times10('alert.started'), ...times10('alert.ended')])
  expect(state.outbox).toEqual([])
})
const times10 = (type: string) => Array.from({ length: 10 }, () => type)

it('nothing is written at a check without a change, except sums every five minutes', () => {
  let state = checkAlerts(NO_ALERTS, factsOf(GOOD, 0), ports).next
  let writes = 0
  for (let minute = 1; minute <= 120; minute++) {
    const next = checkAlerts(state, factsOf(GOOD, minute * MINUTE_MS), ports).next
    if (next !== state) writes++
    state = next
  }
  expect(writes).toBe(24)
  expect(state.sums.length).toBeLessThanOrEqual(13)
})
