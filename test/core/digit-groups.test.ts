import { expect, test } from 'vitest'
import { inGroups } from '../../src/core/digit-groups.ts'

test.each([0, 7, 999, 1_000, 65_536, 999_999, 1_000_000, Number.MAX_SAFE_INTEGER, -1, -999, -1_000])(
  '%d is written as Intl would',
  (value) => expect(inGroups(value)).toBe(value.toLocaleString('en-US')),
)
