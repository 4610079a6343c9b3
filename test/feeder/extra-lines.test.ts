// Lines of extra streams: what is left out, and exact integers.

import { expect, test } from 'vitest'
import { BLOCK_MAX_UNITS, boundedEvents, EVENT_MAX_UNITS, readExtraEvents } from '../../src/feeder/extra-lines.ts'

const line = (events: string) => `{"local_time":"t","block_time":"t","block_number":7,"events":${events}}`

test('integers keep their digits, and strings are not touched', () => {
  const events =
    '[{"wei":12345678901234567890,"n":-9007199254740993,"t":",1234567890123456789,","ok":9007199254740991,"f":1.5}]'
  expect(readExtraEvents(line(events))).toEqual({
    ok: true,
    value: [
      { wei: '12345678901234567890', n: '-9007199254740993', t: ',1234567890123456789,', ok: 9007199254740991, f: 1.5 },
    ],
  })
})

// FEED-39
test.each([
  ['a line that is too long', `["${'x'.repeat(2 * 1024 * 1024)}"]`, /^has \d+ characters, more than 2097152$/],
  ['a line that nests too deeply', `${'['.repeat(64)}${']'.repeat(64)}`, /^nests deeper than 64 levels$/],
  ['other text', '[', /^is not JSON$/],
  ['a long integer in other text', '[12345678901234567890', /^is not JSON$/],
])('%s is refused', (_, events, error) => {
  expect(readExtraEvents(line(events))).toEqual({ ok: false, error: expect.stringMatching(error) })
})

// FEED-39
test('events beyond the limits of an event or a block are left out, each with a reason', () => {
  const refused: string[] = []
  const big = 'x'.repeat(EVENT_MAX_UNITS - 2)
  const count = Math.floor(BLOCK_MAX_UNITS / EVENT_MAX_UNITS)
  const events = [`${big}x`, ...Array<string>(count + 1).fill(big), 'last']
  expect(boundedEvents(events, (reason) => refused.push(reason))).toEqual([...Array(count).fill(big), 'last'])
  expect(refused).toEqual([
    `an event has ${EVENT_MAX_UNITS + 1} characters, more than ${EVENT_MAX_UNITS}`,
    `the events of one block have more than ${BLOCK_MAX_UNITS} characters`,
  ])
})
