// The client package's way in: one gateway, one key, and whatever is asked of them. It connects with the first subscription
// and stays connected until it is closed.

import { after } from '../core/timers.client.ts'
import type { End, StreamEvent } from './api.ts'
import type { ClientOptions, WeirClient } from './client-api.client.ts'
import { openReplay } from './client-replay.ts'
import { openStream, type StreamOptions } from './client-stream.ts'
import { Connection } from './connection.ts'
import { pagesOf } from './history.ts'
import { type Asking, askInfo } from './info.client.ts'
import { INSIDE, type Inside } from './inside.ts'
import { Opened } from './opened.ts'
import { ABORTED, CLOSED, fatalOf } from './refusal.ts'
import type { SubscriptionBody } from './subscription.ts'
import { tell } from './tell.ts'
import { type WebGlobals, webRuntime } from './web-runtime.client.ts'
import { WeirError } from './weir-error.ts'

export type * from './api.ts'
export type * from './client-api.client.ts'
export { WeirError }

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
  const runtime = webRuntime({ ...(options as unknown as WebGlobals), fetch: (...request) => ask(...request) })
  const opened = new Opened()
  const closed = new AbortController()
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, maxRetryWaitMs = MAX_RETRY_WAIT_MS } = options
  const { random } = runtime
  const asking: Asking = { endpoint, fetch: runtime.fetch, after, random, timeoutMs, retries, maxRetryWaitMs }
  let isStarted = false
  const connection = new Connection(runtime, {
    endpoint: () => endpoint,
    onState: (state) => {
      if (onState) tell(onState, state)
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
    return askInfo<T>(asking, body, both)
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
    [INSIDE]: { opened, runtime, endpoint, connected } satisfies Inside,
  }
  return client as unknown as WeirClient
}
