// Handles the frames of clients. Requests of one socket run one after another.

import { LIMIT_FIELDS } from '../accounts/limits.ts'
import { inGroups } from '../core/digit-groups.ts'
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

const TOO_MANY_PENDING = 'Too many pending requests for this account. Wait for responses before sending more.'

/** Maximum number of notices about ignored fields per socket. */
const MAX_NOTICES = 16

export interface ClientFramesPorts {
  readonly gateway: Pick<GatewayInternal, 'info'>
  readonly subscriptions: Subscriptions
  readonly waitUntil: WaitUntil
  /** Height of the last block whose events were sent to the client; -1 while some are pending. */
  readonly sentHeight: (client: Connection) => number
  /** Called when a subscription may have started. */
  readonly onChange: () => void
}

export class ClientFrames {
  readonly #ports: ClientFramesPorts
  readonly #sentNotices = new WeakMap<Connection, Set<string>>()

  constructor(ports: ClientFramesPorts) {
    this.#ports = { ...ports, gateway: withFairQueue(ports.gateway) }
  }

  handle(client: Connection, message: string | ArrayBuffer): void {
    // A closed client may keep sending.
    if (client.isEnded) return
    if (isTooLarge(message)) {
      const text = `frame: larger than ${inGroups(UP_FRAME_MAX_BYTES)} bytes. Send smaller frames`
      return client.end(1009, 'frame too large', errorFrame(text, 'invalid_json'))
    }
    if (client.admit() === 'no') {
      const allowed = `${inGroups(client.messagesPerMinute)} per minute (${LIMIT_FIELDS.streamMessagesPerMinute})`
      const failure = tooFast(`Too many messages. This account's plan allows ${allowed}.`)
      // A longer message would not be echoed, and parsing it would be unbilled work.
      const sent = typeof message === 'string' && message.length <= ECHO_CHARS ? readFrame(message) : null
      return client.reject(failure, failureFrame(failure, sent?.ok ? sent.value.frame : null))
    }
    if (typeof message !== 'string') {
      return client.send(
        invalidFrame('<binary>', {
          path: 'frame',
          message: 'binary frames are not supported. Send JSON in text frames',
        }),
      )
    }
    const read = readFrame(message)
    if (!read.ok) return client.send(read.error)
    const { frame, ignored } = read.value
    const notify = () => (ignored === null ? undefined : this.#notifyIgnored(client, ignored))
    if (frame.method !== 'ping') return this.#handleRequest(client, frame, message.length, notify)
    const { nonce } = frame
    if (nonce === undefined) client.send(PONG)
    else client.send(pongFrame(client.onPing(nonce, crypto.randomUUID()), this.#ports.sentHeight(client)))
    notify()
  }

  /** `notify` runs after the response. */
  #handleRequest(
    client: Connection,
    frame: PostFrame | ReplayFrame | SubscribeFrame | UnsubscribeFrame,
    length: number,
    notify: () => void,
  ): void {
    const { subscriptions, gateway, waitUntil } = this.#ports
    const leave = subscriptions.backlog.reserve(client.identity.account, length)
    if (!leave) return client.reject(tooFast(TOO_MANY_PENDING), failureFrame(tooFast(TOO_MANY_PENDING), frame))
    const served = () => {
      leave()
      notify()
    }
    if (frame.method === 'post')
      return waitUntil(
        handlePost(client, frame, gateway).then((ignored) => {
          served()
          if (ignored !== null) this.#notifyIgnored(client, `Ignored unknown fields in an info request: ${ignored}.`)
        }),
      )
    client.enqueue(() => this.#run(client, frame).finally(served))
    // The platform does not wait for async handlers.
    waitUntil(client.drained())
  }

  /** Sends each notice once per socket, because clients repeat the same unknown field in every frame. */
  #notifyIgnored(client: Connection, text: string): void {
    const sent = this.#sentNotices.get(client) ?? new Set()
    if (sent.has(text) || sent.size >= MAX_NOTICES) return
    this.#sentNotices.set(client, sent.add(text))
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
