// Messages between a pipeline and its account's meter about delivered rows. Types only.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

/** Totals since the pipeline was created; repeated and late reports change nothing. */
export interface PipelineReport {
  readonly v: number
  /** Pipeline id, which is never reused. */
  readonly pipeline: string
  /** Its cap limits new charges. Usage is recorded under the key, or under the newest key of its chain. */
  readonly keyHash: KeyHash
  /**
   * Pipeline name, used in events. Absent if the key is not the pipeline's current payer. In that case, its end pauses
   * nothing.
   */
  readonly name?: string
  /** Topic under which usage is recorded. */
  readonly type: string
  readonly rows: number
  readonly spent: MicroCredits
  /** Price of the batch about to be sent. It is reserved until the batch is reported or overdue. */
  readonly hold?: MicroCredits
}

export interface PipelineResponse {
  readonly v: number
  /**
   * Credits that the account may still spend, or less if the key's cap allows less. The holds of other pipelines are
   * subtracted.
   */
  readonly available: MicroCredits
  /** The key's cap, if that is the limiting factor. */
  readonly cap?: MicroCredits | undefined
  /** Set if the key was revoked or expired and has no successor. Nothing may run under it. */
  readonly ended?: 'revoked' | 'expired' | undefined
}

export interface PipelineMeterApi {
  /** Charges the increase of these totals up to the balance; the rest is written off. */
  settlePipeline(report: PipelineReport): Promise<PipelineResponse>
}
