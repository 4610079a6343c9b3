// The thin shell around fetch: one POST to a source, bounded in time and bytes, told as a value. Decides nothing.

import { readBoundedText } from '../core/bounded-text.ts'
import { after, sleep } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { SourceBudgetApi } from './budget-api.ts'
import { LeasedBudget } from './leased-budget.ts'
import type { SourceReply } from './outcome.ts'
import type { RoutedSource } from './routed-upstream.ts'
import { RoutedUpstream } from './routed-upstream.ts'
import { SourceHealth } from './source-health.ts'
import { LAG_TYPE, SourceLag } from './source-lag.ts'
import { sourcesFor, type UpstreamSource } from './sources.ts'

/** The largest public answer known is about 1 MB. */
const BODY_MAX_BYTES = 8 * 1024 * 1024

export interface UpstreamPlatform {
  /** The budget object of a source. */
  readonly budgetOf: (source: string) => SourceBudgetApi
  readonly waitUntil: WaitUntil
  /** A canonical request of a type that every source of it ought to answer. */
  readonly exampleOf: (type: string) => string | undefined
}

const clock = { now: () => Date.now(), sleep, after }

/** The upstream of an isolate: one per process of the Worker, because breakers and leases remember. */
export function fetchUpstream(configs: readonly UpstreamSource[], platform: UpstreamPlatform): RoutedUpstream {
  const sources = configs.map((config) => routedSource(config, platform))
  return new RoutedUpstream({
    sources,
    send: post,
    random: () => Math.random(),
    ...clock,
    background: platform.waitUntil,
  })
}

function routedSource(config: UpstreamSource, { budgetOf, waitUntil, exampleOf }: UpstreamPlatform): RoutedSource {
  const { name, budget, timeoutMs } = config
  const asked = sourcesFor([config], LAG_TYPE).length > 0
  const deps = { api: () => budgetOf(name), newId: () => crypto.randomUUID(), ...clock, background: waitUntil }
  return {
    config,
    health: new SourceHealth(exampleOf),
    lag: new SourceLag({ asked, dear: budget !== undefined }),
    budget: budget === undefined ? null : new LeasedBudget(budget, timeoutMs, deps),
  }
}

/** One POST, ended after so long, or so many bytes of answer; never throws. */
export async function post(
  url: string,
  body: string,
  timeoutMs: number,
  maxBytes = BODY_MAX_BYTES,
): Promise<SourceReply> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal,
    })
    const read = await readBoundedText(chunksOf(response, maxBytes), maxBytes, 'keep').catch(() => null)
    if (read === null) return { failed: signal.aborted ? 'timeout' : 'cut' }
    if ('refused' in read && read.refused === 'too_large') return { failed: 'oversized' }
    // Bytes that are not UTF-8 would become replacement characters, which could still be JSON: garbage stays garbage.
    const text = 'text' in read ? read.text : ''
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
  } catch {
    return { failed: signal.aborted ? 'timeout' : 'unreachable' }
  }
}

/** In one piece where a length is declared, which the HTTP layer keeps: piece by piece takes a tenth of a millisecond more. */
function chunksOf(response: Response, maxBytes: number): AsyncIterable<Uint8Array> | null {
  const length = response.headers.get('content-length')
  // Of what is packed the length says nothing.
  const isKnown = length !== null && Number(length) <= maxBytes && !response.headers.has('content-encoding')
  return isKnown ? inOnePiece(response) : response.body
}

async function* inOnePiece(response: Response): AsyncIterable<Uint8Array> {
  yield new Uint8Array(await response.arrayBuffer())
}
