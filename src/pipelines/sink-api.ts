// RPC interface of the Sink objects. Payloads carry `v`.
import type { Issue } from '../core/failure.ts'
import type { DeliveredHeights, HeightRange, RowEstimate } from './backfill.ts'
import type { PokeRequest, PokeResponse } from './follower-api.ts'
import type { Pipeline } from './pipeline.ts'
export const SINK_API_VERSION = 2
/** `unpaid`: waiting for credits. */
export type SinkPhase =
  | 'idle'
  | 'backfilling'
  | 'live'
  | 'pausing'
  | 'paused'
  | 'retrying'
  | 'unpaid'
  | 'failed'
  | 'finished'
export interface SinkStatus {
  readonly v: number
  readonly phase: SinkPhase
  /** The last height that the destination confirmed; null if there is none yet. */
  readonly height: number | null
  readonly timeMs: number | null
  /** The first height that was read; null if there is none yet. */
  readonly first: number | null
  /** Heights that were read before the pipeline was restarted; absent in older versions. */
  readonly earlier?: readonly HeightRange[]
  /** Lag behind the newest block; null: unknown. */
  readonly lagBlocks: number | null
  readonly lagMs: number | null
  readonly rows: number
  readonly bytes: number
  readonly batches: number
  readonly deadLetters: number
  /** Price of a row and of a minute in which the pipeline runs, in micro-credits. */
  readonly rowMicro: number
  readonly minuteMicro: number
  /** Attempts of the batch in flight. */
  readonly attempts: number
  readonly nextTryMs: number | null
  /** Null if there is no current error. */
  readonly lastError: { readonly sinceMs: number; readonly atMs: number; readonly words: string } | null
  /** The last error that was resolved; null if there is none. */
  readonly lastIncident: { readonly sinceMs: number; readonly untilMs: number; readonly words: string } | null
  /** Reason for a pause that the owner did not request; null if there is none. */
  readonly pauseReason: string | null
}
export interface SinkLogLine {
  readonly id: number
  readonly atMs: number
  readonly level: 'info' | 'warn' | 'error'
  readonly words: string
  readonly batch: string | null
}
/** Metrics of one minute. */
export interface SinkMinute {
  readonly minuteMs: number
  readonly rows: number
  readonly bytes: number
  readonly batches: number
  readonly failures: number
  readonly lagMs: number | null
}
export interface SinkTest {
  readonly ok: boolean
  readonly rows: number
  readonly ms: number
  readonly words: string
  /** Not started: another test is running. */
  readonly isBusy?: true
  /** Not started; try again after this time. The account already runs a test or has used up its CPU time. */
  readonly waitMs?: number
}
/** The newest rows of a pipeline that need not exist. `texts`: JSON of each row, oldest first. */
export interface SinkPreview {
  readonly v: number
  readonly texts: readonly string[]
  /** Rows before transforms, and the blocks that were read for them; null: none. */
  readonly read: number
  readonly blocks: { readonly from: number; readonly to: number } | null
  /** The field at fault; null: none. */
  readonly fault: Issue | null
  /** Not started, or not finished; try again after this time. */
  readonly wait?: { readonly waitMs: number; readonly words: string }
}
/** Positions as in `execution_start_from`. An empty `from` is the first available block, an empty `to` the newest one. */
export interface SurveyRequest {
  readonly v: number
  readonly pipeline: Pipeline
  readonly from: string
  readonly to: string
  readonly delivered: DeliveredHeights
  /** Includes heights that were delivered before. */
  readonly isAgain: boolean
  /** Estimates the rows. */
  readonly isSampled: boolean
}
export interface SinkSurvey {
  readonly v: number
  /** Heights to deliver; null: `fault` or `wait` says why there are none. */
  readonly range: HeightRange | null
  /** `ms`: expected duration of the delivery. */
  readonly estimate: (RowEstimate & { readonly ms: number }) | null
  /** The field at fault; null: none. */
  readonly fault: Issue | null
  /** Not started, or not finished; try again after this time. */
  readonly wait?: { readonly waitMs: number; readonly words: string }
}
export interface CheckRequest extends Pick<Pipeline, 'account' | 'transforms' | 'topic'> {
  readonly v: number
}
export interface SinkCheck {
  readonly v: number
  /** The invalid transform and its error; null: all are valid, or were not checked. */
  readonly fault: { readonly name: string; readonly message: string } | null
  /** Not checked; try again after this time. */
  readonly wait?: { readonly waitMs: number; readonly words: string }
}
export interface SinkApi {
  /**
   * Applies a changed record (created, patched, paused, resumed). The unencrypted secret is for the object's memory
   * only; `sealed` is for its storage, null if there is no secret.
   */
  apply(request: { v: number; pipeline: Pipeline; sealed: string | null }): Promise<SinkStatus>
  status(): Promise<SinkStatus>
  logs(request: {
    v: number
    before: number | null
    limit: number
  }): Promise<{ v: number; lines: readonly SinkLogLine[] }>
  metrics(request: { v: number; minutes: number }): Promise<{ v: number; minutes: readonly SinkMinute[] }>
  /**
   * Sends one batch of the newest rows to the destination of this possibly unsaved pipeline, and commits nothing. The
   * method is not named `test`, because the platform reserves that name.
   */
  trial(request: { v: number; pipeline: Pipeline }): Promise<SinkTest>
  /** Reads the newest rows and transforms them. Nothing is sent or stored. */
  preview(request: { v: number; pipeline: Pipeline }): Promise<SinkPreview>
  /** Finds the heights of a backfill and estimates its rows. Nothing is sent or stored. */
  survey(request: SurveyRequest): Promise<SinkSurvey>
  /** Checks transforms for the gateway, which cannot reach the SQL Worker. */
  check(request: CheckRequest): Promise<SinkCheck>
  /** Sends the dead letters again; returns their number. */
  redeliver(request: { v: number }): Promise<{ v: number; batches: number }>
  /** Tells a pipeline that waits that there may be rows. Resolves when it waits again, or after a few seconds. */
  poke(request: PokeRequest): Promise<PokeResponse>
  /** Deletes all data of the pipeline. */
  drop(): Promise<void>
}
