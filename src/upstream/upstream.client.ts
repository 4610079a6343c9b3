// The thin shell around fetch: one POST to a source, bounded in time and bytes, told as a value. Decides nothing.

import { readBoundedText } from '../core/bounded-text.ts'
import type { Sent } from './outcome.ts'
import { RoutedUpstream } from './routed-upstream.ts'
import type { UpstreamSource } from './sources.ts'
import type { Upstream } from './upstream-api.ts'

/** Connect, headers and body together. */
const TIMEOUT_MS = 2_000
/** The largest public answer known is about 1 MB. */
const BODY_MAX_BYTES = 8 * 1024 * 1024

/** The upstream of an isolate: one per process of the Worker, because breakers remember. */
export function fetchUpstream(sources: readonly UpstreamSource[], timeoutMs: number = TIMEOUT_MS): Upstream {
  return new RoutedUpstream({
    sources,
    send: (url, body) => post(url, body, timeoutMs),
    now: () => Date.now(),
    random: () => Math.random(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
}

async function post(url: string, body: string, timeoutMs: number): Promise<Sent> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal,
    })
    const read = await readBoundedText(response.body, BODY_MAX_BYTES, 'keep')
    if ('refused' in read && read.refused === 'too_large') return { failed: 'oversized' }
    // Bytes that are not UTF-8 would become replacement characters, which could still be JSON: garbage stays garbage.
    const text = 'text' in read ? read.text : ''
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
  } catch {
    return { failed: signal.aborted ? 'timeout' : 'unreachable' }
  }
}
