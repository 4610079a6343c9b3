// The client of the client package, as types: what it is made of and what it can do.

import type {
  Answer,
  Body,
  ChannelType,
  ConnectionStatus,
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
