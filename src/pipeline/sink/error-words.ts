// What went wrong, as an owner may read it.

import { visible } from '../../core/visible.ts'

/** As many as the log of a pipeline keeps. */
export const WORDS_MOST = 2_000

export function wordsOfError(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
}
