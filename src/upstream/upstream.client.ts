// Thin wrapper around fetch: one POST to a source, limited in time and bytes, with the result as a value.

import { readBoundedText } from '../core/bounded-text.ts'
import { logEvent } from '../core/log.client.ts'
import { after, sleep } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { SourceBudgetApi } from './budget-api.ts'
import { LeasedBudget } from './leased-budget.ts'
import type { SourceReply } from './outcome.ts'
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

interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** One POST, limited in time and response bytes; never throws. */
async function post({ url, headers, body, timeoutMs, maxBytes }: PostRequest): Promise<SourceReply> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal,
    })
    const read = await readBoundedText(chunksOf(response, maxBytes), maxBytes, 'keep').catch(() => null)
    if (read === null) return { failed: signal.aborted ? 'timeout' : 'cut' }
    if ('refused' in read && read.refused === 'too_large') return { failed: 'oversized' }
    // Invalid UTF-8 would become replacement characters that might still be valid JSON. It must stay invalid.
    const text = 'text' in read ? read.text : ''
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
  } catch {
    return { failed: signal.aborted ? 'timeout' : 'unreachable' }
  }
}

/**
 * Reads the body at once if its declared length is enforced by HTTP. Chunked reading takes a tenth of a millisecond
 * longer.
 */
function chunksOf(response: Response, maxBytes: number): AsyncIterable<Uint8Array> | null {
  const length = response.headers.get('content-length')
  // The length of a compressed body says nothing about its real size.
  const isKnown = length !== null && Number(length) <= maxBytes && !response.headers.has('content-encoding')
  return isKnown ? inOnePiece(response) : response.body
}

async function* inOnePiece(response: Response): AsyncIterable<Uint8Array> {
  yield new Uint8Array(await response.arrayBuffer())
}
