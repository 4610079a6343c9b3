// Frames of clients: what a relay does with each. Requests of one socket run one after another.

import { LIMIT_FIELDS } from '../accounts/limits.ts'
import type { Failure } from '../core/failure.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { failureFrame } from '../protocol/relay/failure-frame.ts'
import { ECHO_CHARS, errorFrame, notificationFrame, PONG, pongFrame } from '../protocol/relay/frames.ts'
import type { PostFrame, ReplayFrame, SubscribeFrame, UnsubscribeFrame } from '../protocol/relay/protocol.ts'
import { isTooLarge, UP_FRAME_MAX_BYTES } from '../protocol/relay/protocol.ts'
import { invalidFrame, readFrame } from './client-frame.ts'
import { type GatewayInternal, handlePost, withFairQueue } from './post.client.ts'
import type { Connection } from './sockets/connection.ts'
import type { Subscriptions } from './subscriptions/subscriptions.ts'

const TOO_MANY_PENDING = 'Too many requests of this account wait to be served: send more as answers come.'

/** Remarks on ignored fields that a socket gets in its life. */
const MAX_NOTICES = 16

export interface ClientFramesPorts {
  readonly gateway: Pick<GatewayInternal, 'info'>
  readonly subscriptions: Subscriptions
  readonly waitUntil: WaitUntil
  /** Height of the last block whose events it was sent; -1 where some of them wait. */
  readonly sentHeight: (client: Connection) => number
  /** A subscription may have begun. */
  readonly onChange: () => void
}

export class ClientFrames {
  readonly #ports: ClientFramesPorts
  readonly #sentNotices = new WeakMap<Connection, Set<string>>()

  constructor(ports: ClientFramesPorts) {
    this.#ports = { ...ports, gateway: withFairQueue(ports.gateway) }
  }

  handle(client: Connection, message: string | ArrayBuffer): void {
    // One that was closed may go on sending for as long as it likes.
    if (client.isEnded) return
    if (isTooLarge(message)) {
      const text = `frame: larger than ${UP_FRAME_MAX_BYTES} bytes: send less at once`
      return client.end(1009, 'frame too large', errorFrame(text, 'invalid_json'))
    }
    if (client.admit() === 'no') {
      const most = `at most ${client.messagesPerMinute} a minute (${LIMIT_FIELDS.streamMessagesPerMinute})`
      const failure = tooFast(`Too many messages: this account's plan allows ${most}; slow down.`)
      // A longer one would not be echoed, and to read it would be free work.
      const sent = typeof message === 'string' && message.length <= ECHO_CHARS ? readFrame(message) : null
      return client.reject(failure, failureFrame(failure, sent?.ok ? sent.value.frame : null))
    }
    if (typeof message !== 'string') {
      return client.send(invalidFrame('<binary>', { path: 'frame', message: 'send text frames of JSON' }))
    }
    const read = readFrame(message)
    if (!read.ok) return client.send(read.error)
    const { frame, ignored } = read.value
    const tell = () => (ignored === null ? undefined : this.#notifyIgnored(client, ignored))
    if (frame.method !== 'ping') return this.#handleRequest(client, frame, message.length, tell)
    const { nonce } = frame
    if (nonce === undefined) client.send(PONG)
    else client.send(pongFrame(client.onPing(nonce, crypto.randomUUID()), this.#ports.sentHeight(client)))
    tell()
  }

  /** `tell`: what to do once it was answered. */
  #handleRequest(
    client: Connection,
    frame: PostFrame | ReplayFrame | SubscribeFrame | UnsubscribeFrame,
    length: number,
    tell: () => void,
  ): void {
    const { subscriptions, gateway, waitUntil } = this.#ports
    const leave = subscriptions.backlog.reserve(client.identity.account, length)
    if (!leave) return client.reject(tooFast(TOO_MANY_PENDING), failureFrame(tooFast(TOO_MANY_PENDING), frame))
    const served = () => {
      leave()
      tell()
    }
    if (frame.method === 'post')
      return waitUntil(
        handlePost(client, frame, gateway).then((ignored) => {
          served()
          if (ignored !== null)
            this.#notifyIgnored(client, `Unknown fields of an info request were ignored: ${ignored}.`)
        }),
      )
    client.enqueue(() => this.#run(client, frame).finally(served))
    // The platform does not wait for async handlers.
    waitUntil(client.drained())
  }

  /** Each remark comes once on a socket: programs send the same unknown field in every frame. */
  #notifyIgnored(client: Connection, text: string): void {
    const told = this.#sentNotices.get(client) ?? new Set()
    if (told.has(text) || told.size >= MAX_NOTICES) return
    this.#sentNotices.set(client, told.add(text))
    client.send(notificationFrame(text, 'ignored_field'))
  }

  async #run(client: Connection, frame: ReplayFrame | SubscribeFrame | UnsubscribeFrame): Promise<void> {
    if (client.isEnded) return
    const { subscriptions } = this.#ports
    if (frame.method === 'unsubscribe') subscriptions.unsubscribe(client, frame)
    else if (frame.method === 'replay') subscriptions.controlReplay(client, frame)
    else await subscriptions.subscribe(client, frame)
    this.#ports.onChange()
  }
}

function tooFast(hint: string): Failure {
  return { kind: 'rate_limited', retryAfterMs: 1000, hint }
}
