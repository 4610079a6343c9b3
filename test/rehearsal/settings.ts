// What a rehearsed Worker is told by its bindings.

import type { Limits } from './limits.ts'
import type { Place } from './places.ts'

/** Names of the bindings that the rehearsal adds; the product does not see them. */
export const SETTINGS = 'REHEARSAL_SETTINGS'
export const COLLECTOR = 'REHEARSAL_COLLECTOR'

export interface RehearsalSettings {
  /** Where this isolate runs, unless it only has objects. */
  readonly place: Place
  /** Where D1, R2 and the central stores of KV are. */
  readonly storePlace: Place
  /** Latencies are multiplied by this. */
  readonly scale: number
  /** Replication times are multiplied by this. */
  readonly commitScale: number
  readonly limits: Limits
  /** How long a location of KV may return an old value, at most. */
  readonly kvStaleMs: number
  /** Binding of each class of objects. */
  readonly bindings: Readonly<Record<string, string>>
}

/** Paths of the collector, which runs in Node. */
export interface PlaceRequest {
  /** Binding and ID. */
  readonly object: string
  readonly hint: string | undefined
  readonly from: Place
}
