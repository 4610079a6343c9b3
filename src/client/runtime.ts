// What the client needs of the world, injected: sockets, HTTP, a clock, timers and chance.
// node-runtime.node.ts fills it from `ws`, web-runtime.client.ts from the globals of browsers and others.

import type { After } from '../core/deadline.ts'

/** `status`: the HTTP status where the upgrade was refused; null where the platform does not tell (browsers) or there was none. */
export interface SocketEnd {
  readonly status: number | null
  readonly code: number | null
  readonly reason: string
}

export interface SocketHandlers {
  onOpen(): void
  onText(frame: string): void
  /** Called once, also for a socket that never opened. */
  onEnd(end: SocketEnd): void
}

export interface ClientSocket {
  send(text: string): void
  /** Ends the socket at once, without waiting for the other side. */
  drop(): void
}

export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | null
}

export interface ClientRuntime {
  /** Of a clock that nobody sets, ms. */
  now(): number
  /** Uniform in [0, 1). */
  random(): number
  /** Runs once after `ms`; the answer cancels. */
  readonly after: After
  /** Never calls a handler before it returned. */
  open(url: string, handlers: SocketHandlers): ClientSocket
  /** POST of a JSON body with the key as bearer. Rejects where there was no answer at all. */
  post(url: string, key: string, body: string): Promise<HttpResponse>
}

/** Where to connect and as whom: `url` is the HTTP base, such as `http://127.0.0.1:8787`. */
export interface Endpoint {
  readonly url: string
  readonly key: string
}

/** `/ws` of a base URL with the key as the specification has it. */
export function streamUrl(endpoint: Endpoint): string {
  return `${trimSlash(endpoint.url).replace(/^http/, 'ws')}/ws?key=${encodeURIComponent(endpoint.key)}`
}

/** `/info` of a base URL. */
export function infoUrl(endpoint: Endpoint): string {
  return `${trimSlash(endpoint.url)}/info`
}

function trimSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}

/** Why a socket ended, in words. */
export function describeEnd(end: SocketEnd): string {
  const number = end.status ? `HTTP ${end.status}` : end.code ? `close ${end.code}` : ''
  return [number, end.reason].filter(Boolean).join(': ') || 'the connection ended'
}

/** No timer of a platform counts further, and nobody waits longer. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60_000

/** The wait that a header `Retry-After` in seconds asks for, bounded; null where there is none that can be read. */
export function retryAfterOf(header: string | null | undefined): number | null {
  const seconds = Number(header ?? 0)
  return seconds > 0 ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : null
}
