// The builders of open positions in the log's storage, a part with each segment: parts are of different times, and the
// segments that are held since lead from there to the present.

import type { BuilderFill, RelayEvents } from '../protocol/feed/log-api.ts'
import { PositionBuilders } from './position-builders.ts'
import type { SegmentStore } from './segment.store.ts'

export class BuilderStore {
  readonly #builders: PositionBuilders
  /** Nothing was stored since this object woke, or forgot all: what has changed by then is stored all at once. */
  #isFirst = true

  constructor(kv: Pick<SyncKvStorage, 'get'>, segments: SegmentStore) {
    this.#builders = new PositionBuilders((part) => kv.get<string>(keyOf(part)))
    const held = segments.eventsBefore(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY).segments
    for (const { text } of held.toReversed())
      for (const line of text.split('\n')) this.#builders.apply((JSON.parse(line) as RelayEvents).fills)
  }

  /** The fills of the next block: those that are told to a builder. */
  onFills(fills: RelayEvents['fills']): BuilderFill[] {
    return this.#builders.apply(fills)
  }

  /** Fills were missed. */
  forget(): void {
    this.#builders.forget()
    this.#isFirst = true
  }

  /** What is to be stored with the next segment, by its keys. */
  takeChanged(): Record<string, string> {
    const puts: Record<string, string> = {}
    do {
      const changed = this.#builders.takeChanged()
      if (changed === undefined) break
      puts[keyOf(changed.part)] = changed.text
    } while (this.#isFirst)
    this.#isFirst = false
    return puts
  }
}

const keyOf = (part: number): string => `builders/${part}`
