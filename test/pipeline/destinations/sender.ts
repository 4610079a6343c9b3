// What a test asks of sender.worker.ts.

import type { EgressSettings } from '../../../src/egress/egress.ts'
import type { Batch } from '../../../src/pipeline/batch.ts'
import type { Pipeline } from '../../../src/pipeline/pipeline.ts'
import type { SinkSettings } from '../../../src/pipeline/sink/sink-settings.ts'

export interface Order {
  readonly settings: EgressSettings & Pick<SinkSettings, 'PIPELINE_HYPERDRIVE'>
  readonly pipeline: Pipeline
  readonly batch: Batch
}
