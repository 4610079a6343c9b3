// Types of the requests from tests to sender.worker.ts.

import type { EgressSettings } from '../../../src/core/egress.ts'
import type { Batch } from '../../../src/pipelines/destinations/batch.ts'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import type { SinkSettings } from '../../../src/pipelines/sink/sink-settings.ts'

export interface Order {
  readonly settings: EgressSettings & Pick<SinkSettings, 'PIPELINE_HYPERDRIVE'>
  readonly pipeline: Pipeline
  readonly batch: Batch
}
