import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/core/time.ts'
import { INCIDENT_KINDS, isClosing, STATES_OF, stateFault } from '../../src/monitor/incident-states.ts'
import { type Incident, incidentsFeed, isShown } from '../../src/monitor/incidents.ts'

const STATES = [...STATES_OF.incident, ...STATES_OF.maintenance]
const AT = Date.UTC(2026, 10, 3, 4, 5, 6)
const incident = (more: Partial<Incident> = {}): Incident => ({
  id: 7,
  kind: 'incident',
  title: 'Delayed books',
  components: ['streams'],
  state: 'resolved',
  starts: null,
  ends: null,
  created: AT,
  closed: AT,
  updates: [{ number: 12, at: AT, state: 'resolved', message: 'Over.' }],
  ...more,
})

describe('a state', () => {
  it('belongs to one kind, and the last one of each kind closes', () => {
    for (const state of STATES)
      expect(INCIDENT_KINDS.filter((kind) => stateFault(kind, state) === null)).toHaveLength(1)
    expect(STATES.filter(isClosing)).toEqual(INCIDENT_KINDS.map((kind) => STATES_OF[kind].at(-1)))
    expect(stateFault('maintenance', 'resolved')).toBe(
      'must be one of scheduled, in_progress, completed, because this is of kind maintenance',
    )
  })
})

it.each([
  [null, true],
  [AT, true],
  [AT - 90 * DAY_MS + 1, true],
  [AT - 90 * DAY_MS, false],
])('closed at %j: shown is %j', (closed, expected) => {
  expect(isShown(incident({ closed }), AT)).toBe(expected)
})

describe('the feed', () => {
  it('has an item per update, newest first', () => {
    const older = { number: 11, at: AT - 1, state: 'in_progress', message: 'A < B & "C"\nD' } as const
    const feed = incidentsFeed(
      [incident({ id: 8, updates: [older] }), incident({ updates: [{ ...older, number: 12, state: 'resolved' }] })],
      'https://api.example.com',
    )
    expect(feed.match(/<guid.*guid>/g)).toEqual([
      '<guid isPermaLink="false">https://api.example.com/status#update-12</guid>',
      '<guid isPermaLink="false">https://api.example.com/status#update-11</guid>',
    ])
    expect(feed).toContain(
      '<title>In progress: Delayed books</title>\n<link>https://api.example.com/status#incident-8</link>',
    )
    expect(feed).toContain('<pubDate>Tue, 03 Nov 2026 04:05:05 GMT</pubDate>')
    expect(feed).toContain('<description>A &lt; B &amp; &quot;C&quot;\nD</description>')
  })

  it('is bounded', () => {
    const updates = Array.from(
      { length: 100 },
      (_, number) => ({ number, at: AT, state: 'resolved', message: 'x' }) as const,
    )
    expect(incidentsFeed([incident({ updates })], 'https://a.example').match(/<item>/g)).toHaveLength(50)
  })

  it('is well-formed XML, whatever was posted', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(']]>', '<!--', '&x;', '\u0000', '\ud800', '\ufffe'),
    )
    fc.assert(
      fc.property(text, text, (title, message) => {
        const feed = incidentsFeed(
          [incident({ title, updates: [{ number: 1, at: AT, state: 'resolved', message }] })],
          'https://a.example',
        )
        const tags = feed.match(/<[^>]*>/g) ?? []
        expect(tags).toEqual(incidentsFeed([incident()], 'https://a.example').match(/<[^>]*>/g))
        const rest = feed.replace(/<[^>]*>/g, '')
        expect(rest).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot);)/)
        // Only these characters exist in XML 1.0.
        expect(rest).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u)
      }),
    )
  })
})
