// Blocks, put together into what is sent at once. Laws: no body is more than the gateway takes; where it can, one ends with a
// minute, since segments do.

import { MINUTE_MS } from '../../core/time.ts'
import { BACKFILL_SPAN } from '../../history/archive/backfill-lines.ts'
import type { ReadBlock } from './read-blocks.ts'

/** A body ends with the first minute that ends behind so much … */
const ENOUGH_CHARS = 1024 * 1024
/** … and never has more; a character is three bytes at most. */
const CHARS_MOST = 2.5 * 1024 * 1024

export class Bodies {
  #held: ReadBlock[] = []
  #chars = 0

  /** Takes the next block; answers a body that is whole by it. */
  push(block: ReadBlock): readonly ReadBlock[] | null {
    const body = this.#endsBefore(block) ? this.flush() : null
    this.#held.push(block)
    this.#chars += block.line.length + 1
    return body
  }

  /** What is left. */
  flush(): readonly ReadBlock[] | null {
    const body = this.#held
    this.#held = []
    this.#chars = 0
    return body.length === 0 ? null : body
  }

  #endsBefore({ height, time, line }: ReadBlock): boolean {
    const first = this.#held[0]
    const last = this.#held.at(-1)
    if (!first || !last) return false
    const isNewMinute = Math.floor(time / MINUTE_MS) !== Math.floor(last.time / MINUTE_MS)
    if (isNewMinute && this.#chars >= ENOUGH_CHARS) return true
    return this.#chars + line.length > CHARS_MOST || height - first.height > BACKFILL_SPAN
  }
}
