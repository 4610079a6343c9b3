// Sends an `l2BookDiffSnapshot` request over HTTP, and interprets the response for a book.

import { parseJson } from '../core/json.ts'
import type { Snapshot } from './bootstrap.ts'
import { type ClientRuntime, type Endpoint, type HttpResponse, infoUrl } from './runtime.ts'
import { isLevels } from './server-frame.ts'

/**
 * `later`: try again after `retryAfterMs`. `unknown`: there is no such coin. `refused`: the key was rejected or has no
 * credits.
 */
export type SnapshotOutcome =
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'later'; readonly reason: string; readonly retryAfterMs: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string }

/** Sends one request. It never rejects. */
export async function requestSnapshot(
  runtime: ClientRuntime,
  endpoint: Endpoint | null,
  coin: string,
): Promise<SnapshotOutcome> {
  if (!endpoint) return later('the gateway address is not known yet')
  try {
    const body = JSON.stringify({ type: 'l2BookDiffSnapshot', coin })
    return readSnapshot(await runtime.post(infoUrl(endpoint), endpoint.key, body))
  } catch {
    return later('no response to l2BookDiffSnapshot')
  }
}

/** Interprets the HTTP response. */
function readSnapshot(response: HttpResponse): SnapshotOutcome {
  const { status, text, retryAfterMs } = response
  if (status === 401 || status === 402 || status === 403)
    return { kind: 'refused', status, reason: messageOf(text, status) }
  if (status === 404 || status === 422 || status === 400) return { kind: 'unknown' }
  if (status !== 200) return later(messageOf(text, status), retryAfterMs ?? 0)
  const value = parseJson(text)
  if (value === null) return { kind: 'unknown' }
  return isSnapshot(value)
    ? { kind: 'snapshot', snapshot: value }
    : later('the response to l2BookDiffSnapshot is malformed')
}

function isSnapshot(value: unknown): value is Snapshot {
  const { coin, epoch, height, time, seq, levels } = Object(value) as Partial<Record<keyof Snapshot, unknown>>
  const isPlaced = [height, time, seq].every(Number.isSafeInteger)
  return isPlaced && [coin, epoch].every((text) => typeof text === 'string') && isLevels(levels)
}

/** The message in an error body. If there is none, a message with the status. */
export function messageOf(text: string, status: number): string {
  const message = (parseJson(text) as { msg?: unknown } | null | undefined)?.msg
  return typeof message === 'string' ? message : `HTTP ${status}`
}

function later(reason: string, retryAfterMs = 0): SnapshotOutcome {
  return { kind: 'later', reason, retryAfterMs }
}
