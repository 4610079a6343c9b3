import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketOf, bucketsOf, dueGroup, type FileSpan, GROUP_MOST, sliceOf } from '../../../src/history/files/levels.ts'

const MINUTE_MS = 60_000
const file = (first: number, minute: number): FileSpan => {
  const ms = minute * MINUTE_MS
  return { first, last: first + 9, firstMs: ms, lastMs: ms + 999 }
}
const firsts = (group: readonly FileSpan[] | null) => group?.map(({ first }) => first) ?? null

it('files of an hour are merged once a later one has come, and hours of a day', () => {
  const files = [file(0, 57), file(10, 59), file(20, 59), file(30, 60), file(40, 200)]
  expect(firsts(dueGroup(1, files))).toEqual([0, 10, 20])
  expect(dueGroup(1, files.slice(0, 3))).toBeNull()
  expect(dueGroup(2, files)).toBeNull()
  expect(firsts(dueGroup(2, [file(0, 60), file(10, 23 * 60), file(20, 24 * 60)]))).toEqual([0, 10])
  expect(dueGroup(1, [])).toBeNull()
})

it('a time that falls ends no hour', () => {
  expect(firsts(dueGroup(1, [file(0, 60), file(10, 59), file(20, 61), file(30, 120)]))).toEqual([0, 10, 20])
})

it('so many that they cannot be read at once are merged before', () => {
  const files = Array.from({ length: GROUP_MOST + 5 }, (_, at) => file(at * 10, 3))
  expect(dueGroup(1, files)).toHaveLength(GROUP_MOST)
  expect(dueGroup(1, files.slice(0, GROUP_MOST - 1))).toBeNull()
})

it('what has come later changes no group', () => {
  const minutes = fc.array(fc.nat(200), { minLength: 2, maxLength: 150 })
  fc.assert(
    fc.property(minutes, fc.nat(), (times, cut) => {
      const files = times.map((minute, at) => file(at * 10, minute))
      const early = dueGroup(1, files.slice(0, cut % files.length))
      if (early) expect(dueGroup(1, files)).toEqual(early)
    }),
  )
})

it('a key has a bucket of each level', () => {
  for (const level of [0, 1] as const) expect(bucketsOf(level)).toContain(bucketOf(level, 'u:0x1'))
})

it('a slice has a line at least, and as many as fit', () => {
  expect(sliceOf(['aaaa', 'bb', 'cc'], 6)).toBe(2)
  expect(sliceOf(['aaaa', 'bb'], 3)).toBe(1)
  expect(sliceOf(['aaaa', 'bb'])).toBe(2)
})
