import { expect, it, test } from 'vitest'
import { visible, visibleLines } from '../../src/core/visible.ts'

it.each([
  ['plain ü 日本 👍', 'plain ü 日本 👍'],
  ['\u001b[2J', '\\u001b[2J'],
  ['a\nb\tc\r', 'a\\u000ab\\u0009c\\u000d'],
  ['\u007f\u0080\u009b31m', '\\u007f\\u0080\\u009b31m'],
  ['\u202eevil\u2066', '\\u202eevil\\u2066'],
  ['\u200b\ufeff\u2028\u2029', '\\u200b\\ufeff\\u2028\\u2029'],
  ['\ud800', '\\ud800'],
  ['\u{e0001}', '\\udb40\\udc01'],
])('%j is shown as %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

test('keeps our line breaks, and keeps JSON equal', () => {
  const json = JSON.stringify({ label: 'a\u009b\u202e\u{e0001}\u2028\u001b', next: 1 }, null, 2)
  expect(visibleLines(json)).toMatch(/^[\x20-\x7e\n]+$/)
  expect(JSON.parse(visibleLines(json))).toEqual(JSON.parse(json))
  expect(visibleLines(json).split('\n')).toHaveLength(4)
})
