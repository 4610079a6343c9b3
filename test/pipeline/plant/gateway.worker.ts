// The gateway as it is, which also hands on what a test asks of a pipeline's Sink: `POST /sink/<id>/<call>`.

import { Objects } from '../../../src/core/objects.client.ts'
import { gatewaySettings } from '../../../src/env.ts'
import gateway from '../../../src/gateway.ts'

export * from '../../../src/gateway.ts'

export default {
  async fetch(request, env, ctx) {
    const [, room, id, call] = new URL(request.url).pathname.split('/')
    if (room !== 'sink') return gateway.fetch(request, env, ctx)
    const sink = new Objects(env, gatewaySettings(env)).sink(id!) as unknown as Record<
      string,
      (asked: unknown) => unknown
    >
    return Response.json((await sink[call!]!(await request.json())) ?? null)
  },
} satisfies ExportedHandler<Cloudflare.Env>
