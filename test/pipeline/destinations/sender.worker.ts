// A Worker that sends one batch as a Sink does, to where it is asked to.

import { ok } from '../../../src/core/result.ts'
import { dial } from '../../../src/pipeline/destinations/dial.client.ts'
import { sendToPostgres, serverOf } from '../../../src/pipeline/destinations/postgres.client.ts'
import { Sending } from '../../../src/pipeline/sink/sending.client.ts'
import type { Order } from './sender.ts'

export default {
  async fetch(request, env) {
    const { settings, pipeline, batch, address } = (await request.json()) as Order
    const { destination_config: config } = pipeline
    if (address !== undefined && config.type === 'postgres') {
      const found = { address: async () => ok(address) }
      const server = await serverOf(config, found, dial, false)
      return Response.json(server.ok ? await sendToPostgres(server.value, config.table, batch) : server)
    }
    return Response.json(await new Sending(settings, env).sent(pipeline, batch, batch.id))
  },
} satisfies ExportedHandler<Cloudflare.Env>
