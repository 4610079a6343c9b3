// What a pipeline and the meter of its account tell each other about rows that were delivered. Types alone.

import type { MicroCredits } from './amount.ts'

/** Sums since the pipeline was made: what is said again, or late, changes nothing. */
export interface PipelineReport {
  readonly v: number
  /** Never used again for another one. */
  readonly pipeline: string
  /** That made it: usage is recorded under it, and its cap holds, also when it was revoked. */
  readonly keyHash: string
  /** Topic that usage is recorded under. */
  readonly type: string
  readonly rows: number
  readonly spent: MicroCredits
}

export interface PipelineAnswer {
  readonly v: number
  /** What the account, or the key under its cap, may still spend. */
  readonly available: MicroCredits
  /** The key's, where that is what leaves less. */
  readonly cap?: MicroCredits | undefined
}

export interface PipelineMeterApi {
  /** Charges what is new of these sums as far as the balance goes; the rest is written off. */
  settlePipeline(report: PipelineReport): Promise<PipelineAnswer>
}
