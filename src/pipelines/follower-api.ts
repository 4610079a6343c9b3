// RPC interface of the pipeline follower, and its calls to Sinks. The follower reads the newest blocks once for all
// pipelines, and calls a Sink when a block may have rows for it. Payloads carry `v`.

import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { Pipeline } from './pipeline.ts'

export const FOLLOWER_API_VERSION = 1

/** A block that was read. */
export interface ReadBlock extends HeightAndTime {
  /** Epoch of its books. */
  readonly epoch: string | null
}

/** No block from height `from` up to and including `last` has anything for the pipeline, unless the pipeline has read it. */
export interface EmptyRange {
  readonly from: number
  readonly last: ReadBlock
}

/** A pipeline that has read everything below `from` and waits for rows. */
export interface WatchRequest extends Pick<Pipeline, 'id' | 'account' | 'revision' | 'topic' | 'filter'> {
  readonly v: number
  readonly from: number
  /** Time over which rows accumulate after the first one; 0: none. */
  readonly gatherMs: number
  /** Last block of a pipeline with an end; null: never. */
  readonly end: { readonly height: number } | { readonly timeMs: number } | null
}

export interface WatchResponse {
  readonly v: number
  /** The follower watches from this height. The pipeline has to read the blocks below it. */
  readonly from: number
  readonly empty: EmptyRange | null
}

export interface PokeRequest {
  readonly v: number
  /** `empty` holds only for this revision of the pipeline. */
  readonly revision: number
  readonly empty: EmptyRange | null
}

export interface PokeResponse {
  readonly v: number
  /** The pipeline has read everything below this height and waits for rows; null: it does not wait, or has changed. */
  readonly next: number | null
}

export interface FollowerApi {
  /** Watches a pipeline, or confirms that it is watched. Call it again every few minutes. */
  watch(request: WatchRequest): Promise<WatchResponse>
  /** The log calls this when blocks become durable, and every few seconds if there are none. */
  advance(): Promise<AdvanceResponse>
}

export interface AdvanceResponse {
  readonly v: number
  /** False: no pipeline waits, so the log need not call again until it is asked to. */
  readonly isNeeded: boolean
  /** The log has to call again after this time, even if there are no blocks; null: no pipeline has to be called. */
  readonly againMs: number | null
}
