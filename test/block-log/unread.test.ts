import { expect, it } from 'vitest'
import { mostUnread, ReaderLink, SLOW_CHARS } from '../../src/block-log/reader-link.ts'

const reader = (follows: boolean) => {
  let closed = false
  const request = { v: 1, name: 'r', reader: { kind: 'hub', index: 0, shards: 1 } as const, cursor: null, follows }
  const socket = { send: () => undefined, close: () => (closed = true) }
  const link = new ReaderLink(request, 0, socket, () => 0)
  return { link, isClosed: () => closed }
}

// FEED-24
it('what is under way is what was sent and is not said to be read, of the reader that is furthest behind', () => {
  const fast = reader(true)
  const slow = reader(true)
  const silent = reader(false)
  const links = [fast.link, slow.link, silent.link]
  for (const link of links) link.frame('x'.repeat(1000))
  fast.link.read(900, 5)
  fast.link.read(800, 6)
  slow.link.read(2000, 6)
  slow.link.read(Number.NaN, 6)
  expect([fast.link.unread, slow.link.unread, silent.link.unread]).toEqual([100, 1000, 0])
  expect(mostUnread(links, 7)).toBe(1000)
})

it('a reader that stands still is let go, and holds up nobody', () => {
  const { link, isClosed } = reader(true)
  link.readMs = 1000
  link.frame('x'.repeat(SLOW_CHARS + 1))
  expect([mostUnread([link], 11_000), isClosed()]).toEqual([SLOW_CHARS + 1, false])
  expect([mostUnread([link], 11_001), isClosed()]).toEqual([0, true])
})
