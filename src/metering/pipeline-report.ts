// Messages between a pipeline and its account's meter about delivered rows. Types only.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

/** Totals since the pipeline was created; repeated and late reports change nothing. */
export interface PipelineReport {
  readonly v: number
  /** Never reused. */
  readonly pipeline: string
  /** Its cap limits new charges. Usage is recorded under the key, or under the newest key of its chain. */
  readonly keyHash: KeyHash
  /** Pipeline name for events. Absent: a query that pauses nothing. */
  readonly name?: string
  /** Topic under which usage is recorded. */
  readonly type: string
  readonly rows: number
  readonly spent: MicroCredits
  /** Price of the batch about to be sent, reserved until it is reported or late. */
  readonly hold?: MicroCredits
}

export interface PipelineResponse {
  readonly v: number
  /** Credits that the account, or the key under its cap, may still spend, minus the holds of other pipelines. */
  readonly available: MicroCredits
  /** The key's cap, if that is the limiting factor. */
  readonly cap?: MicroCredits | undefined
  /** The key was revoked or expired without a successor: nothing may run under it. */
  readonly ended?: 'revoked' | 'expired' | undefined
}

export interface PipelineMeterApi {
  /** Charges the increase of these totals up to the balance; the rest is written off. */
  settlePipeline(report: PipelineReport): Promise<PipelineResponse>
}
