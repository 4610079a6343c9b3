// The unchanged gateway, which also passes a test's calls to a pipeline's Sink (`POST /sink/<id>/<call>`) and shows
// the stored data of objects (`GET /objects/<prefix>`). It seals the secret in a pipeline that a call contains, as
// its record would have it.

import { Objects } from '../../../src/core/objects.client.ts'
import gateway from '../../../src/gateway.ts'
import { gatewaySettings } from '../../../src/http/gateway-settings.ts'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import { seal } from '../../../src/pipelines/sealing.client.ts'
import { secretOf } from '../../../src/pipelines/secrets.ts'

export * from '../../../src/gateway.ts'

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    const [, room, id, call] = pathname.split('/')
    if (room === 'objects') return Response.json(await textsOf(env.ARCHIVE, pathname.slice('/objects/'.length)))
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

/** As they were before they were packed. */
async function textsOf(bucket: R2Bucket, prefix: string): Promise<string[]> {
  const { objects } = await bucket.list({ prefix })
  const bodies = await Promise.all(objects.map(({ key }) => bucket.get(key)))
  const unpacked = bodies.map((object) => object!.body.pipeThrough(new DecompressionStream('gzip')))
  return Promise.all(unpacked.map((body) => new Response(body).text()))
}
