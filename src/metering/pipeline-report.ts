// What a pipeline and the meter of its account tell each other about rows that were delivered. Types alone.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

/** Sums since the pipeline was made: what is said again, or late, changes nothing. */
export interface PipelineReport {
  readonly v: number
  /** Never used again for another one. */
  readonly pipeline: string
  /** Its cap holds for what is new; usage goes under it or, where it was replaced, the newest key of its chain. */
  readonly keyHash: KeyHash
  /** What the owner calls the pipeline, for an event of its account. Left out: a question that pauses nothing. */
  readonly name?: string
  /** Topic that usage is recorded under. */
  readonly type: string
  readonly rows: number
  readonly spent: MicroCredits
  /** The price of the batch about to be sent: others may not spend it until that is reported or late. */
  readonly hold?: MicroCredits
}

export interface PipelineResponse {
  readonly v: number
  /** What the account, or the key under its cap, may still spend, less what is held for batches of other pipelines. */
  readonly available: MicroCredits
  /** The key's, where that is what leaves less. */
  readonly cap?: MicroCredits | undefined
  /** The key was revoked or has expired, and no other replaced it: nothing more may run under it. */
  readonly ended?: 'revoked' | 'expired' | undefined
}

export interface PipelineMeterApi {
  /** Charges what is new of these sums as far as the balance goes; the rest is written off. */
  settlePipeline(report: PipelineReport): Promise<PipelineResponse>
}
