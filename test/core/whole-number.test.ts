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
  (text) => expect(wholeNumber(0, Number.MAX_SAFE_INTEGER).safeParse(text).success).toBe(false),
)

test('includes both ends', () => {
  const taken = ['0', '1', '3', '4'].map((text) => wholeNumber(1, 3).safeParse(text).success)
  expect(taken).toEqual([false, true, true, false])
})
