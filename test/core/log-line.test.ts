// Lines of the operator's log: JSON, on one line, bounded, without secrets.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LOG_LEVELS, type LogEvent, logLine } from '../../src/core/log-line.ts'

const parsed = (line: string) => JSON.parse(line) as Record<string, unknown>

it('has the level of its event, and omits undefined fields', () => {
  expect(parsed(logLine('request_failed', { request_id: 'req_1', error: 'broken', at: undefined, count: 2 }))).toEqual({
    level: 'error',
    event: 'request_failed',
    request_id: 'req_1',
    error: 'broken',
    count: 2,
  })
})

it('shows the stack of an error', () => {
  const { error } = parsed(logLine('relay_task_failed', { error: new TypeError('no such coin') }))
  expect(error).toMatch(/^TypeError: no such coin\n +at /)
})

it('is one line of visible characters and bounded, whatever is logged', () => {
  const events = fc.constantFrom(...(Object.keys(LOG_LEVELS) as LogEvent[]))
  fc.assert(
    fc.property(events, fc.string({ unit: 'binary', maxLength: 3_000 }), fc.boolean(), (event, text, isError) => {
      const line = logLine(event, { value: isError ? new Error(text) : text })
      expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      expect(line.length).toBeLessThan(13_000)
      expect(parsed(line)).toMatchObject({ event })
    }),
  )
})

it.each([
  ['a key', 'key cqt_1234567890abcdefghijkLMNOP ended', 'key cqt_12345678… ended'],
  ['a stream token in a URL', 'GET /ws?key=cqe_12345678abc.def-ghi', 'GET /ws?key=cqe_12345678…'],
  ['a webhook secret', 'signed with whsec_AbC+/12=', 'signed with whsec_…'],
  ['an operator token', '{"authorization":"Bearer 0123456789abcdef0123456789abcdef"}', '{"authorization":"Bearer …"}'],
])('redacts %s', (_, text, expected) => {
  expect(parsed(logLine('request_failed', { error: text })).error).toBe(expected)
  expect(logLine('request_failed', { error: new Error(text) })).toContain(JSON.stringify(expected).slice(1, -1))
})

it('shows no part of a secret that is cut off at the limit', () => {
  for (let before = 450; before < 500; before++) {
    const line = logLine('request_failed', { error: `${' '.repeat(before)}cqt_1234567890abcdefghijkLMNOP` })
    expect(line).not.toContain('cqt_123456789')
  }
})
