// The entry point of the client package: a client for one gateway and one key. It connects on the first subscription
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

/** The part of a WebSocket that the client uses. */
export interface WebSocketLike {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: object) => void): void
}

export interface ClientOptions {
  /** Gateway URL, such as `https://weir.example.com`. */
  readonly url: string
  /** API key. Use it only on servers. */
  readonly key?: string
  /** Short-lived stream token, which browsers use instead of `key`. */
  readonly token?: string
  readonly fetch?: typeof fetch
  /** For platforms without a global WebSocket, such as Node 20: the `WebSocket` of the package `ws`. */
  readonly WebSocket?: new (
    url: string,
  ) => WebSocketLike
  /** Signal that closes the client when it is aborted. */
  readonly signal?: AbortSignal
  /** Timeout of one attempt at an info request, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number
  /** Maximum number of retries after temporary failures. Default: 3. */
  readonly retries?: number
  /**
   * Maximum `Retry-After` to wait for, in milliseconds. If the gateway asks for a longer wait, the request fails at
   * once. Default: 30,000.
   */
  readonly maxRetryWaitMs?: number
  readonly onState?: (state: ConnectionStatus) => void
  /**
   * Receives gateway notices that belong to no subscription, such as low credits. `code` is `stale` or `fresh` for
   * stalled blocks, and `late` if this client reads its data too slowly.
   */
  readonly onNotice?: (text: string, code: string | null) => void
}

export interface Abortable {
  readonly signal?: AbortSignal | undefined
}

export interface SubscribeOptions extends Abortable {
  /**
   * Maximum number of events queued for a slow `for await`. If there are more, the oldest are dropped and a gap is
   * reported. Default: 10,000.
   */
  readonly buffer?: number
  /**
   * First block to receive, for example `Subscription.height` plus one. If the gateway no longer has it, a gap is
   * reported.
   */
  readonly fromBlock?: number
}

export interface WeirClient {
  /**
   * Sends a `POST /info` request.
   *
   * @param type - Info type, such as `l2Book`.
   * @param fields - Fields of the request other than `type`.
   * @param options - `signal` aborts the request.
   * @returns The data with its cost, height and age.
   * @throws {WeirError} On a gateway error, a timeout or a network failure.
   */
  info<T extends InfoType>(
    ...question: Record<never, never> extends InfoFields<T>
      ? [type: T, fields?: InfoFields<T>, options?: Abortable]
      : [type: T, fields: InfoFields<T>, options?: Abortable]
  ): Promise<Answer<InfoAnswer<T>>>
  /**
   * Reads a paged info type to its end. With `cursor` among the fields, it continues there.
   *
   * @returns Pages of new rows. No page is empty.
   * @throws {WeirError} As `info`, and `page_too_dense` if the gateway has no cursors and a page is full of rows with the
   * same time.
   */
  history<T extends HistoryType>(
    type: T,
    fields: InfoFields<T>,
    options?: Abortable,
  ): AsyncIterable<Page<HistoryRow<T>>>
  /**
   * Subscribes to a channel for `for await`.
   *
   * @throws {WeirError} `already_subscribed` if this client already has the subscription.
   */
  subscribe<T extends ChannelType>(body: Body<T> & { readonly type: T }, options?: SubscribeOptions): Subscription<T>
  /**
   * Subscribes to a channel for a callback.
   *
   * @returns A function that unsubscribes.
   * @throws {WeirError} `already_subscribed` if this client already has the subscription.
   */
  on<T extends ChannelType>(
    body: Body<T> & { readonly type: T },
    listener: (event: StreamEvent<T>) => void,
    options?: Omit<SubscribeOptions, 'buffer'>,
  ): () => void
  /**
   * Replays archived blocks in the format of live events.
   *
   * @returns A replay that can be paused, resumed and moved.
   */
  replay<T extends ChannelType>(body: Body<T> & { readonly type: T }, range: Range, options?: Abortable): Replay<T>
  /** Ends all requests, streams and the connection. */
  close(): void
}

const TIMEOUT_MS = 10_000
const RETRIES = 3
const MAX_RETRY_WAIT_MS = 30_000

/**
 * Creates a client for one gateway. It sends nothing before its first use.
 *
 * @param options - Gateway URL, key or stream token, and optional limits and callbacks.
 * @returns The client. Call `close` when done.
 * @throws {TypeError} If both `key` and `token` are missing, or `url` is not an HTTP URL.
 * @example
 * ```ts
 * import { createClient } from '@weir/client'
 *
 * const client = createClient({ url: 'https://weir.example.com', key: process.env.WEIR_KEY ?? '' })
 * const { data, credits } = await client.info('allMids')
 * console.log(data.BTC, credits.remaining)
 * for await (const event of client.subscribe({ type: 'trades', coin: 'BTC' })) {
 *   if (event.type === 'data') console.log(event.frame.data)
 * }
 * ```
 * @see {@link WeirClient}
 */
export function createClient(options: ClientOptions): WeirClient {
  const { url, key = options.token, fetch: fetchOption = fetch, signal, onState, onNotice } = options
  if (!key) throw new TypeError('createClient: key or token is required')
  if (!isGatewayUrl(url))
    throw new TypeError(
      `createClient: url must be a URL such as https://weir.example.com, without a query or fragment: ${JSON.stringify(url)}`,
    )
  const endpoint = { url, key }
  // Wrapped, because platforms reject a call of their `fetch` with a different `this`.
  const runtime = webRuntime({
    ...(options as ClientOptions & WebGlobals),
    fetch: (...request) => fetchOption(...request),
  })
  const handles = new OpenHandles()
  const closed = new AbortController()
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, maxRetryWaitMs = MAX_RETRY_WAIT_MS } = options
  const { random } = runtime
  const settings: InfoSettings = { endpoint, fetch: runtime.fetch, after, random, timeoutMs, retries, maxRetryWaitMs }
  let isStarted = false
  const connection = new Connection(runtime, {
    endpoint: () => endpoint,
    onState: (state) => {
      if (onState) safeCall(onState, state)
      if (state.state === 'fatal') handles.endAll(fatalOf(state.reason, state.status))
    },
    onNotice: (text, code) => onNotice?.(text, code),
  })
  const connected = (): Connection => {
    requireWebSocket(options)
    if (!isStarted && !closed.signal.aborted) connection.start()
    isStarted = true
    return connection
  }
  const question = async <T>(body: object, own?: AbortSignal) => {
    const both = own ? AbortSignal.any([own, closed.signal]) : closed.signal
    return sendInfo<T>(settings, body, both)
  }
  const stream = (body: object, streamOptions: StreamOptions, listener?: (event: StreamEvent) => void) =>
    openStream(handles, connected(), body as SubscriptionBody, streamOptions, listener)
  const end = (reason: End): void => {
    signal?.removeEventListener('abort', abort)
    handles.endAll(reason)
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
    subscribe: (body: object, streamOptions: StreamOptions = {}) => stream(body, streamOptions),
    on: (body: object, listener: (event: StreamEvent) => void, streamOptions: StreamOptions = {}) =>
      stream(body, streamOptions, listener).close,
    replay: (body: object, range: object, { signal: own }: { signal?: AbortSignal } = {}) => {
      requireWebSocket(options)
      return openReplay(handles, runtime, endpoint, body as SubscriptionBody, range, own)
    },
    close: () => end(CLOSED),
    [INTERNALS]: { handles, runtime, endpoint, connected } satisfies ClientInternals,
  }
  return client as WeirClient
}

function isGatewayUrl(url: string): boolean {
  return /^https?:\/\/[^?#\s]+$/.test(url) && URL.canParse(url)
}

/** Checked when a stream is opened, because info requests need no WebSocket. */
function requireWebSocket({ WebSocket = globalThis.WebSocket }: ClientOptions): void {
  if (WebSocket) return
  throw new TypeError('createClient: WebSocket is required here. Pass that of the package ws')
}
