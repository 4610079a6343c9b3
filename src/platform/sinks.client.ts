// What runs pipelines, as their service asks for it.

import type { Objects } from '../core/objects.client.ts'
import { SINK_API_VERSION } from '../pipeline/sink-api.ts'
import type { PipelinePorts } from './pipeline-service.client.ts'

export function sinksOf(objects: Pick<Objects, 'sink'>): Pick<PipelinePorts, 'sinkOf' | 'checkTransforms'> {
  return {
    sinkOf: (id) => objects.sink(id),
    // One object of each account checks, so that a record that is refused leaves none behind.
    checkTransforms: async (account, transforms, topic) => {
      const { fault } = await objects.sink(`check/${account}`).check({ v: SINK_API_VERSION, transforms, topic })
      return fault ? [{ path: `transforms.${fault.name}`, message: fault.message }] : []
    },
  }
}
