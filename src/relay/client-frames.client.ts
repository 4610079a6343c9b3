// Frames of clients: what a relay does with each. Requests of one socket run one after another.

import { LIMIT_FIELDS } from '../accounts/limits.ts'
import type { Failure } from '../core/failure.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { failureFrame } from '../protocol/relay/failure-frame.ts'
import { ECHO_CHARS, errorFrame, notificationFrame, PONG, pongFrame } from '../protocol/relay/frames.ts'
import type { PostFrame, ReplayFrame, SubscribeFrame, UnsubscribeFrame } from '../protocol/relay/protocol.ts'
import { isTooLarge, UP_FRAME_MAX_BYTES } from '../protocol/relay/protocol.ts'
import { readFrame, refusal } from './client-frame.ts'
import { answerPost, type GatewayInternal, inTurn } from './post.client.ts'
import type { Connection } from './sockets/connection.ts'
import type { Subscriptions } from './subscriptions/subscriptions.ts'

const TOO_MANY_WAIT = 'Too many requests of this account wait to be served: send more as answers come.'

/** Remarks on ignored fields that a socket gets in its life. */
const NOTICES_MAX = 16

export interface ClientFramesPorts {
  readonly gateway: Pick<GatewayInternal, 'info'>
  readonly subscriptions: Subscriptions
  readonly waitUntil: WaitUntil
  /** Height of the last block whose events it was sent; -1 where some of them wait. */
  readonly toldUpTo: (client: Connection) => number
  /** A subscription may have begun. */
  readonly changed: () => void
}

export class ClientFrames {
  readonly #ports: ClientFramesPorts
  readonly #told = new WeakMap<Connection, Set<string>>()

  constructor(ports: ClientFramesPorts) {
    this.#ports = { ...ports, gateway: inTurn(ports.gateway) }
  }

  take(client: Connection, message: string | ArrayBuffer): void {
    // One that was closed may go on sending for as long as it likes.
    if (client.ended) return
    if (isTooLarge(message)) {
      const text = `frame: larger than ${UP_FRAME_MAX_BYTES} bytes: send less at once`
      return client.end(1009, 'frame too large', errorFrame(text, 'invalid_json'))
    }
    if (client.admit() === 'no') {
      const most = `at most ${client.messagesPerMinute} a minute (${LIMIT_FIELDS.streamMessagesPerMinute})`
      const failure = tooFast(`Too many messages: this account's plan allows ${most}; slow down.`)
      // A longer one would not be echoed, and to read it would be free work.
      const sent = typeof message === 'string' && message.length <= ECHO_CHARS ? readFrame(message) : null
      return client.refuse(failure, failureFrame(failure, sent?.ok ? sent.value.frame : null))
    }
    if (typeof message !== 'string') {
      return client.send(refusal('<binary>', { path: 'frame', message: 'send text frames of JSON' }))
    }
    const read = readFrame(message)
    if (!read.ok) return client.send(read.error)
    const { frame, ignored } = read.value
    const tell = () => (ignored === null ? undefined : this.#tellIgnored(client, ignored))
    if (frame.method !== 'ping') return this.#serve(client, frame, message.length, tell)
    const { nonce } = frame
    if (nonce === undefined) client.send(PONG)
    else client.send(pongFrame(client.pinged(nonce, crypto.randomUUID()), this.#ports.toldUpTo(client)))
    tell()
  }

  /** `tell`: what to do once it was answered. */
  #serve(
    client: Connection,
    frame: PostFrame | ReplayFrame | SubscribeFrame | UnsubscribeFrame,
    length: number,
    tell: () => void,
  ): void {
    const { subscriptions, gateway, waitUntil } = this.#ports
    const leave = subscriptions.backlog.take(client.identity.account, length)
    if (!leave) return client.refuse(tooFast(TOO_MANY_WAIT), failureFrame(tooFast(TOO_MANY_WAIT), frame))
    const served = () => {
      leave()
      tell()
    }
    if (frame.method === 'post')
      return waitUntil(
        answerPost(client, frame, gateway).then((ignored) => {
          served()
          if (ignored !== null) this.#tellIgnored(client, `Unknown fields of an info request were ignored: ${ignored}.`)
        }),
      )
    client.enqueue(() => this.#request(client, frame).finally(served))
    // The platform does not wait for async handlers.
    waitUntil(client.drained())
  }

  /** Each remark comes once on a socket: programs send the same unknown field in every frame. */
  #tellIgnored(client: Connection, text: string): void {
    const told = this.#told.get(client) ?? new Set()
    if (told.has(text) || told.size >= NOTICES_MAX) return
    this.#told.set(client, told.add(text))
    client.send(notificationFrame(text, 'ignored_field'))
  }

  async #request(client: Connection, frame: ReplayFrame | SubscribeFrame | UnsubscribeFrame): Promise<void> {
    if (client.ended) return
    const { subscriptions } = this.#ports
    if (frame.method === 'unsubscribe') subscriptions.unsubscribe(client, frame)
    else if (frame.method === 'replay') subscriptions.steer(client, frame)
    else await subscriptions.subscribe(client, frame)
    this.#ports.changed()
  }
}

function tooFast(hint: string): Failure {
  return { kind: 'rate_limited', retryAfterMs: 1000, hint }
}
