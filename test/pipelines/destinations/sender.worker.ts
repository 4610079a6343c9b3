// A Worker that sends one batch to a given destination, as a Sink does.

import { BatchSender } from '../../../src/pipelines/sink/batch-sender.client.ts'
import type { Order } from './sender.ts'

export default {
  async fetch(request, env) {
    const { settings, pipeline, batch } = (await request.json()) as Order
    return Response.json(await new BatchSender(settings, env).send(pipeline, batch, batch.id, async () => true))
  },
} satisfies ExportedHandler<Cloudflare.Env>
