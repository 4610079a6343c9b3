import { expect, it } from 'vitest'
import { Answering } from '../../src/feeder/feed-socket.node.ts'

const EVERY = { lookEveryMs: 10, patienceMs: 20 }

it('takes one that was silent for longer than is waited for as gone', () => {
  const side = new Answering(EVERY, 0)
  side.heard(5)
  expect([10, 20, 30].map((nowMs) => side.look(nowMs))).toEqual([true, true, false])
})

it('does not count the time in which nobody looked', () => {
  const side = new Answering(EVERY, 0)
  expect(side.look(10)).toBe(true)
  // Stopped for a second, with the answers unread.
  expect(side.look(1_020)).toBe(true)
  side.heard(1_021)
  expect([1_030, 1_040].map((nowMs) => side.look(nowMs))).toEqual([true, true])
  expect([1_050, 1_060].map((nowMs) => side.look(nowMs))).toEqual([false, false])
})
