import { describe, expect, it } from 'vitest'
import { HISTORY } from '../../src/console/status/history-strings.ts'
import {
  dayLines,
  incidentsOn,
  levelOf,
  overallOf,
  percentText,
  spanText,
  stateOf,
} from '../../src/console/status/history-view.ts'
import type { ComponentHistory } from '../../src/monitor/history.ts'
import type { Incident } from '../../src/monitor/incidents.ts'

const DAY = { date: '2026-11-30', checks: 1_440, failed: 0, p50Ms: 100, p99Ms: 2_500 }
const component = (state: ComponentHistory['state'], name: ComponentHistory['name'] = 'api'): ComponentHistory => ({
  name,
  state,
  uptimePercent: 100,
  checks: 1,
  failed: 0,
  p50Ms: null,
  p99Ms: null,
  days: [],
})
const incident = (more: Partial<Incident> = {}): Incident => ({
  id: 1,
  kind: 'incident',
  title: 'Slow',
  components: ['api'],
  state: 'identified',
  starts: null,
  ends: null,
  created: Date.parse('2026-11-29T23:00Z'),
  closed: null,
  updates: [],
  ...more,
})

describe('a day', () => {
  it.each([
    [0, 0, 'none'],
    [1_440, 0, 'up'],
    [1_440, 1, 'partial'],
    [100, 1, 'partial'],
    [1_440, 15, 'outage'],
    [1, 1, 'outage'],
  ])('with %d checks and %d failed is %s', (checks, failed, level) => {
    expect(levelOf({ checks, failed })).toBe(level)
  })

  it('says what was measured', () => {
    expect(dayLines({ ...DAY, failed: 1 })).toEqual([
      '99.93% uptime',
      '1,440 checks, 1 failed',
      'p50 ≤ 100 ms, p99 ≤ 2.5 s',
    ])
    expect(dayLines({ ...DAY, checks: 0 })).toEqual([HISTORY.noData])
    expect(dayLines({ ...DAY, p50Ms: null })).toHaveLength(2)
    expect([percentText(null), percentText(100), spanText(90_000), spanText(999)]).toEqual([
      '–',
      '100%',
      '1 min',
      '999 ms',
    ])
  })
})

it.each<[string, Partial<Incident>, readonly string[]]>([
  ['open since then', {}, ['2026-11-29', '2026-11-30']],
  ['closed at midnight', { closed: Date.parse('2026-11-30') }, ['2026-11-29', '2026-11-30']],
  ['closed on its day', { closed: Date.parse('2026-11-29T23:59Z') }, ['2026-11-29']],
  ['of another component', { components: ['archive'] }, []],
  [
    'planned for the next day',
    { kind: 'maintenance', starts: Date.parse('2026-11-30T02:00Z'), ends: Date.parse('2026-11-30T03:00Z') },
    ['2026-11-30'],
  ],
])('an incident %s is shown on its days', (_, more, expected) => {
  const days = ['2026-11-28', '2026-11-29', '2026-11-30']
  expect(days.filter((date) => incidentsOn([incident(more)], 'api', date).length > 0)).toEqual(expected)
})

it.each<[string, readonly ComponentHistory[], readonly Incident[], string, string]>([
  ['nothing was checked', [], [], 'none', HISTORY.noChecks],
  ['no check is recent', [component('unknown')], [], 'none', HISTORY.noChecks],
  ['all is well', [component('up'), component('unknown')], [incident({ closed: 1 })], 'up', HISTORY.allUp],
  ['a check fails', [component('up'), component('down', 'streams')], [], 'outage', HISTORY.problems('Streams')],
  ['an incident is open', [component('up')], [incident()], 'partial', HISTORY.openIncident('Slow')],
  [
    'maintenance is planned',
    [component('up')],
    [incident({ kind: 'maintenance', state: 'scheduled' })],
    'up',
    HISTORY.allUp,
  ],
  [
    'maintenance runs',
    [component('up')],
    [incident({ kind: 'maintenance', state: 'in_progress' })],
    'partial',
    HISTORY.inMaintenance,
  ],
])('the headline if %s', (_, components, incidents, level, text) => {
  expect(overallOf({ components, incidents })).toEqual({ level, text })
})

describe('the state of a component', () => {
  it.each([
    ['no incident', 'up', [], 'Operational'],
    ['an open incident', 'up', [incident()], 'Identified'],
    ['an open incident and no checks', 'unknown', [incident()], 'Identified'],
    ['failed checks', 'down', [incident()], 'Down'],
    ['an incident elsewhere', 'up', [incident({ components: ['streams'] })], 'Operational'],
    ['a past incident', 'up', [incident({ closed: 1 })], 'Operational'],
    ['planned maintenance', 'up', [incident({ kind: 'maintenance', state: 'scheduled' })], 'Operational'],
    ['maintenance', 'up', [incident({ kind: 'maintenance', state: 'in_progress' })], 'In progress'],
  ] as const)('with %s is right', (_, state, incidents, text) => {
    expect(stateOf(component(state), incidents).text).toBe(text)
  })
})
