// Worker 1: the routes. The two busiest routes are matched before the router runs, and are also mounted on it.

import { Hono } from 'hono'
import { type App, dataRoutes } from './data-routes.ts'
import { addCommonReplies, failureReply } from './http/common-replies.route.ts'
import { handleInfo } from './http/info.route.ts'
import { handleRpc, rpcChainOf } from './http/rpc.route.ts'
import { SURFACES, surfaceOf } from './monitor/request-counts.ts'
import { report, type Services, servicesOf } from './services.ts'

export { Internal } from './internal.ts'

type Env = Cloudflare.Env

let built: App | null = null

/** Routes that are loaded at the start. The platform's app handles what has no route here. */
function appOf(services: Services): App {
  if (built !== null) return built
  const { requestId } = services
  const app: App = new Hono()
  addCommonReplies(app, { requestId, report, page: async () => null })
  app.route('/', dataRoutes(services))
  app.notFound(async (c) => {
    const { platformApp } = await import('./platform-routes.ts')
    return platformApp(services).fetch(c.req.raw, c.env, c.executionCtx)
  })
  built = app
  return app
}

/** True for the path `/info`. Creating a URL object would take longer than looking up a key in memory. */
function isInfo(url: string): boolean {
  const path = url.indexOf('/', 'https://'.length)
  return url.startsWith('/info', path) && (url.length === path + 5 || url[path + 5] === '?')
}

const INFO = SURFACES.indexOf('info')
const RPC = SURFACES.indexOf('rpc')

interface CountedRequest {
  readonly services: Services
  readonly surface: number
  readonly begunMs: number
  readonly ctx: ExecutionContext
}

/** Counts the response. A bug becomes an error reply in the format of `path`. */
function counted(reply: Promise<Response>, counting: CountedRequest, path: string): Promise<Response> {
  const done = (response: Response) => {
    const { services, surface, begunMs, ctx } = counting
    services.countRequest(surface, response.status, begunMs, ctx)
    return response
  }
  return reply.then(done, (error) => {
    const id = counting.services.requestId()
    report(error, id)
    return done(failureReply(path, { kind: 'internal' }, id))
  })
}

export default {
  fetch(request, env, ctx) {
    const { method, url } = request
    const services = servicesOf(env, request)
    const { access, info, rpc } = services
    const begunMs = services.now()
    // The router would add a tenth to the time of a cached response.
    if (method === 'POST' && isInfo(url))
      return counted(
        handleInfo(info, access, request, (work) => ctx.waitUntil(work)),
        { services, surface: INFO, begunMs, ctx },
        '/info',
      )
    const chain = method === 'POST' ? rpcChainOf(url) : null
    if (chain !== null)
      return counted(
        handleRpc(rpc, access, request, (work) => ctx.waitUntil(work), chain),
        { services, surface: RPC, begunMs, ctx },
        `/v1/${chain}`,
      )
    const surface = SURFACES.indexOf(surfaceOf(url))
    const reply = Promise.resolve(appOf(services).fetch(request, env, ctx))
    return counted(reply, { services, surface, begunMs, ctx }, '/')
  },
} satisfies ExportedHandler<Env>
