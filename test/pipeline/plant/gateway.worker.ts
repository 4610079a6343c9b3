// The gateway as it is, which also hands on what a test asks of a pipeline's Sink: `POST /sink/<id>/<call>`. It seals what
// a pipeline is told, as its record would have it.

import { Objects } from '../../../src/core/objects.client.ts'
import { gatewaySettings } from '../../../src/env.ts'
import gateway from '../../../src/gateway.ts'
import type { Pipeline } from '../../../src/pipeline/pipeline.ts'
import { seal } from '../../../src/pipeline/sealing.client.ts'
import { secretOf } from '../../../src/pipeline/secrets.ts'

export * from '../../../src/gateway.ts'

export default {
  async fetch(request, env, ctx) {
    const [, room, id, call] = new URL(request.url).pathname.split('/')
    if (room !== 'sink') return gateway.fetch(request, env, ctx)
    const sink = new Objects(env, gatewaySettings(env)).sink(id!) as unknown as Record<
      string,
      (asked: unknown) => unknown
    >
    const asked = await request.json<{ pipeline?: Pipeline }>()
    const secret = asked.pipeline ? secretOf(asked.pipeline.destination_config) : ''
    const sealed = secret === '' ? null : await seal(secret, id!, env.KEY_SECRET)
    return Response.json((await sink[call!]!(asked.pipeline ? { ...asked, sealed } : asked)) ?? null)
  },
} satisfies ExportedHandler<Cloudflare.Env>
