// A Worker that sends one batch as a Sink does, to where it is asked to.

import { Sending } from '../../../src/pipelines/sink/sending.client.ts'
import type { Order } from './sender.ts'

export default {
  async fetch(request, env) {
    const { settings, pipeline, batch } = (await request.json()) as Order
    return Response.json(await new Sending(settings, env).sent(pipeline, batch, batch.id, async () => true))
  },
} satisfies ExportedHandler<Cloudflare.Env>
