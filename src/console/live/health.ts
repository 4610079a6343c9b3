// One sentence and one word for the state of the page's data.

import type { ConnectionStatus } from '../../client/api.ts'
import type { BookState } from './market-book.ts'
import type { MarketReplay } from './market-replay.ts'
import { BOOK_STATES, HEALTH, REPLAY_STATES } from './strings.ts'

interface Health {
  /** Shown on the page at all times. */
  readonly text: string
  readonly kind: 'good' | 'wait' | 'bad'
  readonly meaning: string
}

const KINDS = {
  syncing: 'wait',
  'in step': 'good',
  'out of step': 'wait',
  gone: 'bad',
  refused: 'bad',
} as const satisfies Record<BookState, Health['kind']>

/** `book` and `past`: null if the page has none. A replay hides the state of the live book. */
export function healthOf(
  connection: ConnectionStatus['state'],
  book: BookState | null,
  past: MarketReplay['state'] | null,
): Health {
  if (past !== null) return { text: REPLAY_STATES[past], kind: 'wait', ...HEALTH.replay }
  if (connection === 'open') {
    if (book === null) return { ...HEALTH.noMarket, kind: 'wait' }
    return { text: BOOK_STATES[book], kind: KINDS[book], meaning: HEALTH.book[book] }
  }
  if (connection === 'connecting' || connection === 'waiting') return { ...HEALTH[connection], kind: 'wait' }
  return { ...HEALTH.ended, kind: 'bad' }
}
