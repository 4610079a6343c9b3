// Stores the builders of open positions, one part with each segment. The stored parts differ in age, so the fills of
// the retained segments bring them up to date.

import type { BuilderFill, RelayEvents } from '../protocol/feed/log-api.ts'
import { PositionBuilders } from './position-builders.ts'
import type { SegmentStore } from './segment.store.ts'

export class BuilderStore {
  readonly #builders: PositionBuilders
  /** True until something is stored after a restart or a reset. All changed parts are then stored at once. */
  #isFirst = true

  constructor(kv: Pick<SyncKvStorage, 'get'>, segments: SegmentStore) {
    this.#builders = new PositionBuilders((part) => kv.get<string>(keyOf(part)))
    const retained = segments.eventsBefore(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY).segments
    for (const { text } of retained.toReversed())
      for (const line of text.split('\n')) this.#builders.apply((JSON.parse(line) as RelayEvents).fills)
  }

  /** Applies the fills of the next block. Returns the builder of each liquidation. */
  onFills(fills: RelayEvents['fills']): BuilderFill[] {
    return this.#builders.apply(fills)
  }

  /** Forgets every builder, because fills were missed. */
  forget(): void {
    this.#builders.forget()
    this.#isFirst = true
  }

  /** The parts to store with the next segment, by storage key. */
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
