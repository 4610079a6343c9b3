import { describe, expect, test } from 'vitest'
import { findLeftovers, guardianOf, hasGroup, type Lock, type ProcessInfo } from '../../src/launch/leftovers.ts'

const process = (pid: number, born: number, more: Partial<ProcessInfo> = {}): ProcessInfo => ({
  pid,
  born,
  ppid: 1,
  pgid: pid,
  command: 'node',
  ...more,
})
const lock: Lock = {
  boot: 'b1',
  launcher: { pid: 10, born: 100 },
  guardian: { pid: 9, born: 90 },
  children: { gateway: { pid: 11, born: 110 }, feeder: { pid: 12, born: 120 } },
}
const npm = process(9, 90)
const launcher = process(10, 100, { ppid: 9 })
const gateway = process(11, 110)
const workerd = process(13, 130, { pgid: 11, command: 'workerd serve' })

describe('what an earlier start left', () => {
  test('nothing without a lock, and nothing of another boot', () => {
    expect(findLeftovers(null, [launcher], 'b1')).toEqual({ running: null, pids: [], groups: [] })
    expect(findLeftovers(lock, [npm, launcher, gateway], 'b2')).toEqual({ running: null, pids: [], groups: [] })
  })

  test('a launcher whose npm lives is left alone, and so is one that had none', () => {
    expect(findLeftovers(lock, [npm, launcher, gateway], 'b1').running).toBe(10)
    expect(findLeftovers({ ...lock, guardian: null }, [launcher], 'b1').running).toBe(10)
  })

  test('a launcher whose npm was killed is ended, then its children', () => {
    expect(findLeftovers(lock, [launcher, gateway], 'b1')).toEqual({ running: null, pids: [10], groups: [11] })
  })

  test('children of a killed launcher are ended, also workerd whose Node process is gone', () => {
    const feeder = process(12, 120)
    expect(findLeftovers(lock, [npm, workerd, feeder], 'b1')).toEqual({ running: null, pids: [], groups: [11, 12] })
  })

  test('strangers that got our pids are left alone', () => {
    const strangers = [process(10, 500), process(11, 510), process(14, 520, { pgid: 11 }), process(12, 530)]
    expect(findLeftovers(lock, [npm, ...strangers], 'b1')).toEqual({ running: null, pids: [], groups: [] })
  })
})

test('a group lives as long as its leader or any member born after it', () => {
  const leader = { pid: 11, born: 110 }
  expect([[gateway], [workerd], [], [process(15, 50, { pgid: 11 })]].map((table) => hasGroup(leader, table))).toEqual([
    ...[true, true, false, false],
  ])
})

test('the guardian is npm, behind whatever shell it uses, and never init', () => {
  const sh = process(8, 95, { ppid: 9, command: '/bin/sh -c node src/launch/main.node.ts' })
  expect(guardianOf(10, [npm, launcher])).toEqual({ pid: 9, born: 90 })
  expect(guardianOf(10, [npm, sh, process(10, 100, { ppid: 8 })])).toEqual({ pid: 9, born: 90 })
  expect(guardianOf(10, [process(1, 1), process(10, 100, { ppid: 1 })])).toBe(null)
  expect(guardianOf(10, [])).toBe(null)
})
