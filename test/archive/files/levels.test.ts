import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  dueGroup,
  type FileSpan,
  type LiveFile,
  MAX_GROUP,
  type MergedLevel,
  sliceLength,
  type UnsettledHeights,
} from '../../../src/archive/files/levels.ts'

const MINUTE_MS = 60_000
const file = (first: number, minute: number): FileSpan => {
  const ms = minute * MINUTE_MS
  return { first, last: first + 9, firstMs: ms, lastMs: ms + 999 }
}
/** Of files of one level, where no other has any. */
const due = (level: MergedLevel, files: readonly FileSpan[], unsettled?: UnsettledHeights) => {
  const isFollowed = ({ last }: FileSpan) => files.some(({ first }) => first === last + 1)
  return dueGroup(
    level,
    files.map((one): LiveFile => ({ ...one, isFollowed: isFollowed(one) })),
    unsettled,
  )
}
const firsts = (group: readonly FileSpan[] | null) => group?.map(({ first }) => first) ?? null

it('files of an hour are merged once a later file exists, and hours of a day likewise', () => {
  const files = [file(0, 57), file(10, 59), file(20, 59), file(30, 60), file(40, 200)]
  expect(firsts(due(1, files))).toEqual([0, 10, 20])
  expect(due(1, files.slice(0, 3))).toBeNull()
  expect(due(2, files)).toBeNull()
  expect(firsts(due(2, [file(0, 60), file(10, 23 * 60), file(20, 24 * 60)]))).toEqual([0, 10])
  expect(due(1, [])).toBeNull()
})

it('files are not merged across missing heights, wherever those may still come from', () => {
  const files = [file(0, 57), file(10, 58), file(40, 59), file(50, 59), file(60, 60), file(90, 61), file(100, 120)]
  expect(firsts(due(1, files))).toEqual([0, 10])
  expect(firsts(due(1, files.slice(2)))).toEqual([40, 50])
  expect(firsts(due(1, files.slice(4)))).toEqual([60])
  expect(due(1, files.slice(0, 2))).toBeNull()
})

it('files wait for adjacent heights that may still arrive; other files do not', () => {
  const files = [file(0, 57), file(10, 58), file(40, 60), file(50, 120), file(60, 121)]
  expect(firsts(due(1, files, { below: 20, pending: [] }))).toEqual([40])
  expect(firsts(due(1, files, { below: 20, pending: [{ from: 20, to: 39 }] }))).toBeNull()
  expect(firsts(due(1, files, { below: 20, pending: [{ from: 20, to: 38 }] }))).toEqual([40])
  expect(firsts(due(1, files.slice(0, 3), { below: 20, pending: [] }))).toBeNull()
  expect(firsts(due(1, [file(0, 57), file(10, 58), file(20, 60)], { below: 999, pending: [] }))).toEqual([0, 10])
})

it('files whose next heights are in a file of a higher level wait for nothing', () => {
  const files = [file(0, 57), { ...file(10, 58), isFollowed: true }].map((one) => ({ isFollowed: false, ...one }))
  expect(firsts(dueGroup(1, files, { below: 999, pending: [] }))).toEqual([0, 10])
})

it('days of a month are merged once a day of a later month exists, however long the month is', () => {
  const of = (...date: [number, number, number]) => Date.UTC(...date) / MINUTE_MS
  const days = [of(2024, 1, 28), of(2024, 1, 29), of(2024, 2, 31), of(2025, 2, 1)].map((minute, at) =>
    file(at * 10, minute),
  )
  expect(firsts(due(3, days))).toEqual([0, 10])
  expect(firsts(due(3, days.slice(2)))).toEqual([20])
  expect(due(3, days.slice(0, 2))).toBeNull()
})

it('a decreasing time does not end an hour', () => {
  expect(firsts(due(1, [file(0, 60), file(10, 59), file(20, 61), file(30, 120)]))).toEqual([0, 10, 20])
})

it('if a group is too large to be read at once, a part of it is merged earlier', () => {
  const files = Array.from({ length: MAX_GROUP + 5 }, (_, at) => file(at * 10, 3))
  expect(due(1, files)).toHaveLength(MAX_GROUP)
  expect(due(1, files.slice(0, MAX_GROUP - 1))).toBeNull()
})

it('later files do not change a group', () => {
  const minutes = fc.array(fc.nat(200), { minLength: 2, maxLength: 150 })
  fc.assert(
    fc.property(minutes, fc.nat(), (times, cut) => {
      const files = times.map((minute, at) => file(at * 10, minute))
      const early = due(1, files.slice(0, cut % files.length))
      if (early) expect(firsts(due(1, files))).toEqual(firsts(early))
    }),
  )
})

it('a slice has at least one line, and as many as fit', () => {
  expect(sliceLength(['aaaa', 'bb', 'cc'], 6)).toBe(2)
  expect(sliceLength(['aaaa', 'bb'], 3)).toBe(1)
  expect(sliceLength(['aaaa', 'bb'])).toBe(2)
})
