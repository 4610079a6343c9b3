// What the gateway asks of a pipeline's Sink object. Payloads carry `v`.
import type { Pipeline } from './pipeline.ts'
export const SINK_API_VERSION = 2
/** `unpaid`: it waits for credits. */
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
  /** The last height that the destination confirmed, null: none yet. */
  readonly height: number | null
  readonly timeMs: number | null
  /** Behind the newest block of the log; null where that is not known. */
  readonly lagBlocks: number | null
  readonly lagMs: number | null
  readonly rows: number
  readonly bytes: number
  readonly batches: number
  readonly deadLetters: number
  /** The price of a row, in micro-credits. */
  readonly rowMicro: number
  /** Of the batch in flight: how often it was tried. */
  readonly attempts: number
  readonly nextTryMs: number | null
  /** Null: nothing goes wrong. */
  readonly lastError: { readonly sinceMs: number; readonly atMs: number; readonly words: string } | null
  /** What went wrong last and passed; null: nothing did. */
  readonly lastIncident: { readonly sinceMs: number; readonly untilMs: number; readonly words: string } | null
  /** Why it is paused although its owner wants it to run; null: it is not paused. */
  readonly pauseReason: string | null
}
export interface SinkLogLine {
  readonly id: number
  readonly atMs: number
  readonly level: 'info' | 'warn' | 'error'
  readonly words: string
  readonly batch: string | null
}
/** A minute of work. */
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
  /** Another one is under way: this one was not begun. */
  readonly isBusy?: true
  /** It was not begun, and may be after this time: the account tests already, or has used up its CPU time. */
  readonly waitMs?: number
}
export interface CheckRequest extends Pick<Pipeline, 'account' | 'transforms' | 'topic'> {
  readonly v: number
}
export interface SinkCheck {
  readonly v: number
  /** The transform that cannot run, and why; null: all can, or they were not checked. */
  readonly fault: { readonly name: string; readonly message: string } | null
  /** They were not checked, and may be after this time. */
  readonly wait?: { readonly waitMs: number; readonly words: string }
}
export interface SinkApi {
  /**
   * The record changed (created, patched, paused, resumed). Its secret is in clear, for the memory of the object alone, and
   * `sealed` for its storage, null where there is none.
   */
  apply(request: { v: number; pipeline: Pipeline; sealed: string | null }): Promise<SinkStatus>
  status(): Promise<SinkStatus>
  logs(request: {
    v: number
    before: number | null
    limit: number
  }): Promise<{ v: number; lines: readonly SinkLogLine[] }>
  metrics(request: { v: number; minutes: number }): Promise<{ v: number; minutes: readonly SinkMinute[] }>
  /** One batch of the newest rows to the destination of this (perhaps not yet saved) pipeline; commits nothing. The platform keeps the name `test` for itself. */
  trial(request: { v: number; pipeline: Pipeline }): Promise<SinkTest>
  /** Checks transforms for the gateway, which cannot reach the Worker that runs SQL. */
  check(request: CheckRequest): Promise<SinkCheck>
  /** Sends what lies in the dead letters once more; answers how many batches were taken. */
  redeliver(request: { v: number }): Promise<{ v: number; batches: number }>
  /** The pipeline is deleted: everything of it goes. */
  drop(): Promise<void>
}
