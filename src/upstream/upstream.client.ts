// Thin wrapper around fetch: one POST to a source, limited in time and bytes, with the result as a value.

import { logEvent } from '../core/log.client.ts'
import { after, sleep } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { SourceBudgetApi } from './budget-api.ts'
import { LeasedBudget } from './leased-budget.ts'
import type { SourceReply } from './outcome.ts'
import { post } from './post.client.ts'
import type { RoutedSource } from './routed-upstream.ts'
import { RoutedUpstream } from './routed-upstream.ts'
import { headerValues, type SecretHeaders } from './secret-headers.ts'
import { SourceHealth } from './source-health.ts'
import { LAG_TYPE, SourceLag } from './source-lag.ts'
import { sourcesFor, type UpstreamSource } from './sources.ts'

/** The largest known public response is about 1 MB. */
const BODY_MAX_BYTES = 8 * 1024 * 1024

export interface UpstreamPlatform {
  /** Budget object of a source. */
  readonly budgetOf: (source: string) => SourceBudgetApi
  readonly waitUntil: WaitUntil
  /** Values of the headers of sources, by the name of the secret. */
  readonly secrets: object
  /** Returns a canonical request of a type that every source of that type should serve. */
  readonly exampleOf: (type: string) => string | undefined
}

const clock = { now: () => Date.now(), sleep, after }

/** Upstream of an isolate. There is one per Worker process, because breakers and leases have state. */
export function fetchUpstream(configs: readonly UpstreamSource[], platform: UpstreamPlatform): RoutedUpstream {
  const sources = configs.map((config) => routedSource(config, platform))
  return new RoutedUpstream({
    sources,
    random: () => Math.random(),
    ...clock,
    background: platform.waitUntil,
  })
}

function routedSource(config: UpstreamSource, platform: UpstreamPlatform): RoutedSource {
  const { budgetOf, waitUntil, exampleOf, secrets } = platform
  const { name, url, budget, timeoutMs } = config
  const send = sender(config, secrets)
  const isRouted = sourcesFor([config], LAG_TYPE).length > 0
  const deps = { api: () => budgetOf(name), newId: () => crypto.randomUUID(), ...clock, background: waitUntil }
  return {
    config,
    send: (body, limitMs) => send(url, body, limitMs),
    health: new SourceHealth(exampleOf),
    lag: new SourceLag({ isRouted, isBudgeted: budget !== undefined }),
    budget: budget === undefined ? null : new LeasedBudget(budget, timeoutMs, deps),
  }
}

type Sender = (url: string, body: string, timeoutMs: number, maxBytes?: number) => Promise<SourceReply>

/** Sends requests with the headers of a source or chain. If one of their secrets cannot be used, nothing is sent. */
export function sender(
  source: { readonly name: string; readonly headers?: SecretHeaders | undefined },
  secrets: object,
): Sender {
  const { values, unusable } = headerValues(source, secrets)
  if (unusable.length > 0) {
    logEvent('source_unusable', { source: source.name, invalid_secrets: unusable.join(', ') })
    return async () => ({ failed: 'unreachable' })
  }
  const headers = { ...values, 'content-type': 'application/json' }
  return (url, body, timeoutMs, maxBytes = BODY_MAX_BYTES) => post({ url, headers, body, timeoutMs, maxBytes })
}
