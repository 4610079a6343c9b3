// Shared parts of responses from our own history: completeness headers and failures.

import type { Failure } from '../../core/failure.ts'
import type { EventRead } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'

/** A time after all blocks. */
export const EVER = Number.MAX_SAFE_INTEGER

export const WINDOW_TOO_LONG: Failure = {
  kind: 'bad_field',
  issues: [{ path: 'endTime', message: 'must be closer to startTime: the window has too many rows' }],
}

/** The failure if not even the first row of the page is known to be complete. */
export const UNREADABLE: Failure = {
  kind: 'unavailable',
  what: 'The next rows are temporarily unavailable',
  retryAfterMs: 1_000,
}

/** A response with its completeness. */
export function historyAnswer(
  value: unknown,
  { head, since }: Pick<EventRead, 'head' | 'since'>,
  more: Pick<InfoAnswer, 'omittedTrades' | 'nextCursor' | 'lagMs'> = {},
): InfoAnswer {
  return { body: JSON.stringify(value), height: head.height, since, ...more }
}
