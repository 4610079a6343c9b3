// What went wrong, as an owner may read it.

import { visible } from '../../core/visible.ts'

const WORDS_MOST = 300

export function wordsOfError(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
}
