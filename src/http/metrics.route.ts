// GET /metrics for Prometheus, with METRICS_TOKEN. The route does not exist while the token is unset or short.

import { Hono } from 'hono'
import type { AddressVerdict } from '../accounts/address-limiter.ts'
import { endpointNotFound, type Failure } from '../core/failure.ts'
import { checkBearerSecret } from '../core/secret.ts'
import { formatFor, metricsText } from '../monitor/exposition.ts'
import { metricFamilies } from '../monitor/metric-families.ts'
import type { MonitorApi } from '../monitor/monitor-api.ts'
import { restFailure } from '../protocol/failure-wire.ts'
import type { SourcesStatus } from '../protocol/feed/sources-shape.ts'

interface MetricsDeps {
  readonly token: string | undefined
  readonly monitor: () => Pick<MonitorApi, 'scrape'>
  readonly sources: () => Promise<SourcesStatus>
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly requestId: () => string
}

const HINT = 'The metrics token is missing or wrong. Send "Authorization: Bearer <METRICS_TOKEN>".'

export function metricsRoutes({ token, monitor, sources, wrongToken, requestId }: MetricsDeps): Hono {
  const app = new Hono()
  const reply = (failure: Failure) => {
    const { status, headers, body } = restFailure(failure, requestId())
    return new Response(body, { status, headers })
  }
  app.get('/metrics', async (c) => {
    const gate = checkBearerSecret(c.req.header('authorization'), token)
    if (gate === 'closed') return reply(endpointNotFound())
    if (gate === 'refused') {
      const { waitMs, limit } = wrongToken(c.req.raw)
      // The right token never waits.
      return reply(
        waitMs > 0
          ? { kind: 'rate_limited', retryAfterMs: waitMs, limit, hint: HINT }
          : { kind: 'key_malformed', hint: HINT },
      )
    }
    const [scrape, others] = await Promise.all([monitor().scrape(), sources()])
    const format = formatFor(c.req.header('accept'))
    const headers = { 'content-type': format.contentType, 'cache-control': 'no-store', vary: 'accept' }
    return c.body(metricsText(metricFamilies(scrape, others), format), 200, headers)
  })
  return app
}
