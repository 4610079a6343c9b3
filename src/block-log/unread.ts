// The bound on what readers have not read: no call of the platform tells it, so hubs say how far they are. Where one
// lags, feeders are asked to pause; where they do not, nothing more is taken; and one that stands still is let go.

import type { ReaderLink } from './reader-link.ts'

/** Characters under way to one reader at which feeders are asked to pause: twice a second of the worst catch-up … */
export const SLOW_CHARS = 16 * 1024 * 1024
/** … and at which no block is taken. */
export const FULL_CHARS = 2 * SLOW_CHARS
/** For how long feeders are asked to pause. */
export const SLOW_MS = 250
/** A reader that has read nothing of so much for this long is let go: it attaches again where it lives. */
const STUCK_MS = 10_000

type Reader = Pick<ReaderLink, 'kind' | 'unread' | 'readMs' | 'close'>

/** What is under way to the reader that is furthest behind; those that stand still are closed and count no more. */
export function mostUnread(readers: Iterable<Reader>, nowMs: number): number {
  let most = 0
  for (const reader of readers) {
    // A single order-level book keeps nobody waiting: it reads on from where it is, out of what is stored.
    if (reader.kind.kind === 'l4') {
      if (reader.unread > FULL_CHARS) reader.close()
    } else if (reader.unread > SLOW_CHARS && nowMs - reader.readMs > STUCK_MS) reader.close()
    else most = Math.max(most, reader.unread)
  }
  return most
}
