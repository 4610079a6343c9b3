// What runs pipelines, as their service asks for it.

import type { Objects } from '../core/objects.client.ts'
import { err, ok } from '../core/result.ts'
import { SINK_API_VERSION } from '../pipeline/sink-api.ts'
import type { PipelinePorts } from './pipeline-service.client.ts'
import { waitFor } from './refusal.ts'

export function sinksOf(objects: Pick<Objects, 'sink'>): Pick<PipelinePorts, 'sinkOf' | 'checkTransforms'> {
  return {
    sinkOf: (id) => objects.sink(id),
    // One object of each account checks, so that a record that is refused leaves none behind.
    checkTransforms: async (account, transforms, topic) => {
      const request = { v: SINK_API_VERSION, account, transforms, topic }
      const { fault, wait } = await objects.sink(`check/${account}`).check(request)
      if (wait) return err(waitFor(wait.waitMs, wait.words))
      return ok(fault ? [{ path: `transforms.${fault.name}`, message: fault.message }] : [])
    },
  }
}
