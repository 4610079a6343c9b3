// The platform services that the client needs: sockets, HTTP, a clock, timers and random numbers. They are implemented
// in node-runtime.node.ts with `ws`, and in web-runtime.client.ts with browser globals.

import type { After } from '../core/deadline.ts'

/**
 * `status`: HTTP status of a rejected upgrade; null if there was no rejection or if the platform hides the status
 * (browsers).
 */
export interface SocketEnd {
  readonly status: number | null
  readonly code: number | null
  readonly reason: string
}

export interface SocketHandlers {
  onOpen(): void
  onText(frame: string): void
  /** Called once, even if the socket never opened. */
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
  /** Monotonic clock in ms. */
  now(): number
  /** Returns a random number, uniform in [0, 1). */
  random(): number
  /** Runs a callback once after `ms`; the returned function cancels it. */
  readonly after: After
  /** Opens a socket. It never calls a handler before it returns. */
  open(url: string, handlers: SocketHandlers): ClientSocket
  /** Sends a JSON body by POST, with the key as bearer token. Rejects if there is no response. */
  post(url: string, key: string, body: string): Promise<HttpResponse>
}

/** Address and key of a gateway. `url` is the HTTP base, such as `http://127.0.0.1:8787`. */
export interface Endpoint {
  readonly url: string
  readonly key: string
}

/** URL of `/ws` with the key, as the specification defines it. */
export function streamUrl(endpoint: Endpoint): string {
  return `${trimSlash(endpoint.url).replace(/^http/, 'ws')}/ws?key=${encodeURIComponent(endpoint.key)}`
}

/** URL of `/info`. */
export function infoUrl(endpoint: Endpoint): string {
  return `${trimSlash(endpoint.url)}/info`
}

function trimSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}

/** Describes why a socket ended. */
export function describeEnd(end: SocketEnd): string {
  const number = end.status ? `HTTP ${end.status}` : end.code ? `close ${end.code}` : ''
  return [number, end.reason].filter(Boolean).join(': ') || 'the connection ended'
}

/** Maximum wait: one day. The timers of some platforms cannot wait much longer. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60_000

/** The wait that a `Retry-After` header requests, in ms, up to a maximum. Null if the header is missing or invalid. */
export function retryAfterOf(header: string | null | undefined): number | null {
  const seconds = Number(header ?? 0)
  return seconds > 0 ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : null
}
