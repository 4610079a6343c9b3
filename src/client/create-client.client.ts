// The client package's way in: one gateway, one key, and whatever is asked of them. It connects with the first subscription
// and stays connected until it is closed.

import { after } from '../core/timers.client.ts'
import type {
  Answer,
  Body,
  ChannelType,
  ConnectionStatus,
  End,
  HistoryRow,
  HistoryType,
  InfoAnswer,
  InfoFields,
  InfoType,
  Page,
  Range,
  Replay,
  StreamEvent,
  Subscription,
} from './api.ts'
import { openReplay, openStream, type StreamOptions } from './client-stream.ts'
import { Connection } from './connection.ts'
import { pagesOf } from './history.ts'
import { type InfoSettings, sendInfo } from './info.client.ts'
import { type ClientInternals, INTERNALS, OpenHandles, safeCall } from './internals.ts'
import type { SubscriptionBody } from './subscription.ts'
import { type WebGlobals, webRuntime } from './web-runtime.client.ts'
import { ABORTED, CLOSED, fatalOf, WeirError } from './weir-error.ts'

export type * from './api.ts'
export { WeirError }

/** What a WebSocket of a platform or a package must be able to do. */
export interface WebSocketLike {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: object) => void): void
}

export interface ClientOptions {
  /** Of the gateway, such as `https://weir.example.com`. */
  readonly url: string
  /** An API key. It belongs on servers. */
  readonly key?: string
  /** A stream token, which is what browsers are given: short-lived, for some coins. Instead of `key`. */
  readonly token?: string
  readonly fetch?: typeof fetch
  readonly WebSocket?: new (url: string) => WebSocketLike
  /** Closes the client. */
  readonly signal?: AbortSignal
  /** Of one attempt at a question, from its sending on. */
  readonly timeoutMs?: number
  /** Further attempts at a question whose failure passes. */
  readonly retries?: number
  /** No `Retry-After` is waited for that asks for more. */
  readonly maxRetryWaitMs?: number
  readonly onState?: (state: ConnectionStatus) => void
  /** What the gateway remarks of no subscription: credits that run low, blocks that have stopped (`code` `stale`, `fresh`). */
  readonly onNotice?: (text: string, code: string | null) => void
}

export interface Abortable {
  readonly signal?: AbortSignal | undefined
}

export interface SubscribeOptions extends Abortable {
  /** Events that may wait for a slow `for await`; beyond it the oldest go, and a gap tells. */
  readonly buffer?: number
  /** Begins with this block, where the gateway still holds it; where not, a gap tells. Of `Subscription.height` plus one. */
  readonly fromBlock?: number
}

export interface WeirClient {
  /** Asks `POST /info`. Rejects with a `WeirError`. */
  info<T extends InfoType>(
    ...question: Record<never, never> extends InfoFields<T>
      ? [type: T, fields?: InfoFields<T>, options?: Abortable]
      : [type: T, fields: InfoFields<T>, options?: Abortable]
  ): Promise<Answer<InfoAnswer<T>>>
  /** All rows, page by page. */
  history<T extends HistoryType>(
    type: T,
    fields: InfoFields<T>,
    options?: Abortable,
  ): AsyncIterable<Page<HistoryRow<T>>>
  /** For `for await`. */
  subscribe<T extends ChannelType>(body: Body<T> & { readonly type: T }, options?: SubscribeOptions): Subscription<T>
  /** For a callback; the answer ends it. */
  on<T extends ChannelType>(
    body: Body<T> & { readonly type: T },
    listener: (event: StreamEvent<T>) => void,
    options?: Omit<SubscribeOptions, 'buffer'>,
  ): () => void
  /** The past in the shapes of what is live. */
  replay<T extends ChannelType>(body: Body<T> & { readonly type: T }, range: Range, options?: Abortable): Replay<T>
  /** Ends whatever is open and frees it. */
  close(): void
}

const TIMEOUT_MS = 10_000
const RETRIES = 3
const MAX_RETRY_WAIT_MS = 30_000

/** A client of one gateway; nothing is sent before it is asked for something. */
export function createClient(options: ClientOptions): WeirClient {
  const { url, key = options.token, fetch: ask = fetch, signal, onState, onNotice } = options
  if (!key) throw new TypeError('createClient: send a key, or a token')
  if (!/^https?:\/\//.test(url)) throw new TypeError('createClient: url must begin with http:// or https://')
  const endpoint = { url, key }
  // Called bare: platforms refuse their fetch with another `this`.
  const runtime = webRuntime({ ...(options as ClientOptions & WebGlobals), fetch: (...request) => ask(...request) })
  const opened = new OpenHandles()
  const closed = new AbortController()
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, maxRetryWaitMs = MAX_RETRY_WAIT_MS } = options
  const { random } = runtime
  const asking: InfoSettings = { endpoint, fetch: runtime.fetch, after, random, timeoutMs, retries, maxRetryWaitMs }
  let isStarted = false
  const connection = new Connection(runtime, {
    endpoint: () => endpoint,
    onState: (state) => {
      if (onState) safeCall(onState, state)
      if (state.state === 'fatal') opened.endAll(fatalOf(state.reason, state.status))
    },
    onNotice: (text, code) => onNotice?.(text, code),
  })
  const connected = (): Connection => {
    if (!isStarted && !closed.signal.aborted) connection.start()
    isStarted = true
    return connection
  }
  const question = async <T>(body: object, own?: AbortSignal) => {
    const both = own ? AbortSignal.any([own, closed.signal]) : closed.signal
    return sendInfo<T>(asking, body, both)
  }
  const stream = (body: object, how: StreamOptions, listener?: (event: StreamEvent) => void) =>
    openStream(opened, connected(), body as SubscriptionBody, how, listener)
  const end = (why: End): void => {
    signal?.removeEventListener('abort', abort)
    opened.endAll(why)
    closed.abort()
    connection.close()
  }
  const abort = (): void => end(ABORTED)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort)

  const client = {
    info: (type: string, fields: object = {}, { signal: own }: { signal?: AbortSignal } = {}) =>
      question({ ...fields, type }, own),
    history: (type: never, fields: never, { signal: own }: { signal?: AbortSignal } = {}) =>
      pagesOf(type, fields, (body) => question(body, own)),
    subscribe: (body: object, how: StreamOptions = {}) => stream(body, how),
    on: (body: object, listener: (event: StreamEvent) => void, how: StreamOptions = {}) =>
      stream(body, how, listener).close,
    replay: (body: object, range: object, { signal: own }: { signal?: AbortSignal } = {}) =>
      openReplay(opened, runtime, endpoint, body as SubscriptionBody, range, own),
    close: () => end(CLOSED),
    [INTERNALS]: { handles: opened, runtime, endpoint, connected } satisfies ClientInternals,
  }
  return client as WeirClient
}
