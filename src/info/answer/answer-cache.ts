// Answers of one isolate and chain, bounded in size. Knows ages, not classes: who reads decides what is too old.
// What was written longest ago is forgotten first: what is in demand is written again with every refresh.

import { BoundedMap } from '../../core/bounded-map.ts'
import type { Answer } from '../query.ts'

export interface CachedAnswer extends Answer {
  /** When the source was asked. */
  readonly at: number
  /** When its source last failed to give a newer one. */
  readonly failedAt?: number
  /** What is known of the copy in KV. */
  readonly stored?: StoredCopy
}

export interface StoredCopy {
  /** When it was written, or its source asked. */
  readonly at: number
  readonly body: string
}

/** Characters; nearly all answers are ASCII, where a character is a byte. */
const MAX_LENGTH = 16 * 1024 * 1024
const ENTRY_LENGTH = 256
/** Requests of an isolate see times that differ by less. An answer from later than this is older than it seems. */
const CLOCK_SKEW_MS = 5_000

export class AnswerCache {
  readonly #entries: BoundedMap<string, CachedAnswer>
  readonly #longest: number

  constructor(maxLength: number = MAX_LENGTH) {
    this.#entries = new BoundedMap<string, CachedAnswer>(maxLength, lengthOf)
    this.#longest = maxLength / 4
  }

  get(key: string, now: number): CachedAnswer | undefined {
    const entry = this.#entries.get(key)
    if (!entry || entry.at <= now + CLOCK_SKEW_MS) return entry
    this.#entries.delete(key)
    return undefined
  }

  /** Keeps an answer, unless one that was asked for later is there already. */
  set(key: string, answer: CachedAnswer): void {
    const known = this.#entries.get(key)
    if ((known && known.at > answer.at) || lengthOf(answer, key) > this.#longest) return
    this.#entries.set(key, answer)
  }
}

function lengthOf({ body, stored }: CachedAnswer, key: string): number {
  const other = stored === undefined || stored.body === body ? 0 : stored.body.length
  return key.length + body.length + other + ENTRY_LENGTH
}
