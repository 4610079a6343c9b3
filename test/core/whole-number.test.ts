import { expect, test } from 'vitest'
import { wholeNumber } from '../../src/core/whole-number.ts'

test.each([
  ['0', 0],
  ['80', 80],
  ['9007199254740991', 9_007_199_254_740_991],
])('%j is a number', (text, number) => {
  expect(wholeNumber(0, Number.MAX_SAFE_INTEGER).parse(text)).toBe(number)
})

test.each(['', ' 80', '80 ', '080', '-1', '+1', '1.0', '1e3', '0x50', '1_000', '٣', '9007199254740992'])(
  '%j is none',
  (text) => {
    expect(wholeNumber(0, Number.MAX_SAFE_INTEGER).safeParse(text).error?.issues[0]?.message).toBe(
      'must be a whole number from 0 to 9007199254740991, in digits alone',
    )
  },
)

test('its ends belong to it', () => {
  const { success } = wholeNumber(1, 3).safeParse('4')
  expect([
    success,
    wholeNumber(1, 3).safeParse('0').success,
    wholeNumber(1, 3).parse('1'),
    wholeNumber(1, 3).parse('3'),
  ]).toEqual([...[false, false, 1, 3]])
})
