// A connection like that of public SDKs: pings without a nonce, a fixed reconnect delay, no checks of frames. It
// replaces ours below the same books.

import type { Listener } from '../../src/client/connection.ts'
import { type ClientRuntime, type Endpoint, streamUrl } from '../../src/client/runtime.ts'
import type { DataFrame } from '../../src/client/server-frame.ts'
import { bodyKey, type SubscriptionBody } from '../../src/client/subscription.ts'
import type { AnyStateChannel } from '../../src/relay/channel.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'

const PING_MS = 20_000
const RETRY_MS = 1_000
/** The key or its credits: no retry mends them. */
const FINAL = [401, 402, 403, 4401, 4402]

interface Entry {
  readonly body: SubscriptionBody
  readonly frames: string
  readonly listener: Listener
}

interface Ack {
  readonly channel: 'subscriptionResponse'
  readonly data: { readonly subscription: SubscriptionBody }
}

export class RawConnection {
  readonly #runtime: ClientRuntime
  readonly #endpoint: Endpoint
  readonly #entries = new Map<string, Entry>()
  /** Asks for the heights of blocks beside events. */
  readonly #meta: boolean
  #drop: (() => void) | null = null
  #stopTimer = () => {}
  #ended = false

  constructor(runtime: ClientRuntime, endpoint: Endpoint, meta: boolean) {
    this.#runtime = runtime
    this.#meta = meta
    this.#endpoint = endpoint
  }

  subscribe(body: SubscriptionBody, listener: Listener): () => void {
    this.#entries.set(bodyKey(body), { body, frames: framesOf(body), listener })
    return () => this.#entries.delete(bodyKey(body))
  }

  start(): void {
    const socket = this.#runtime.open(streamUrl(this.#endpoint), {
      onOpen: () => {
        for (const { body } of this.#entries.values())
          socket.send(JSON.stringify({ method: 'subscribe', subscription: body, ...(this.#meta && { meta: true }) }))
        ping()
      },
      onText: (text) => this.#text(text),
      onEnd: ({ code, status, reason }) => this.#lost(code ?? status, reason),
    })
    const ping = () => {
      socket.send('{"method":"ping"}')
      this.#stopTimer = this.#runtime.after(PING_MS, ping)
    }
    this.#drop = () => socket.drop()
  }

  /** Ends the socket without a word; with `again` it comes back as after any loss. */
  drop(again: boolean): void {
    this.#ended = !again
    this.#drop?.()
  }

  #text(text: string): void {
    const frame = JSON.parse(text) as DataFrame | { channel: 'error' } | Ack
    // Refused for now, or about to be closed: what comes next begins with a new socket.
    if (frame.channel === 'error') return this.drop(true)
    if (frame.channel === 'subscriptionResponse')
      return this.#entries.get(bodyKey(frame.data.subscription))?.listener.live?.()
    for (const { frames, listener } of this.#entries.values()) if (frames === frame.channel) listener.frame(frame)
  }

  #lost(code: number | null, reason: string): void {
    this.#drop = null
    this.#stopTimer()
    for (const { listener } of this.#entries.values()) listener.lost?.(reason)
    if (this.#ended || (code !== null && FINAL.includes(code))) return
    this.#stopTimer = this.#runtime.after(RETRY_MS * (1 + this.#runtime.random()), () => this.start())
  }
}

function framesOf(sent: SubscriptionBody): string {
  const wanted = readBody(sent)
  if (!wanted.ok) throw new Error(`${JSON.stringify(sent)}: ${wanted.error.message}`)
  const { type, frameName = type, frameNameOf: named } = wanted.value.channel as AnyStateChannel
  return named?.(wanted.value.body) ?? frameName
}
