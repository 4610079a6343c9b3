// What answers out of our own history have in common: how far back they reach, and when they refuse.

import type { Failure } from '../../core/failure.ts'
import type { EventRead } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'

/** Later than all blocks. */
export const EVER = Number.MAX_SAFE_INTEGER

export const WINDOW_TOO_LONG: Failure = {
  kind: 'bad_field',
  issues: [{ path: 'endTime', message: 'must lie nearer to startTime: there is too much between them to go through' }],
}

/** Nothing of a page can be told for certain. */
export const UNREADABLE: Failure = {
  kind: 'unavailable',
  what: 'What comes next cannot be read at the moment',
  retryAfterMs: 1_000,
}

/** An answer that says how far back it reaches. */
export function historyAnswer(value: unknown, { head, since }: Pick<EventRead, 'head' | 'since'>): InfoAnswer {
  return { body: JSON.stringify(value), height: head.height, since }
}
