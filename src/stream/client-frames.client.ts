// Frames of clients: what a relay does with each. Requests of one socket run one after another.

import { LIMIT_FIELDS } from '../key/limits.ts'
import { failureFrame } from './failure-frame.ts'
import { errorFrame, PONG, pongFrame } from './frames.ts'
import { answerPost, type GatewayInternal } from './post.client.ts'
import type { SubscribeFrame, UnsubscribeFrame } from './protocol.ts'
import { isTooLarge, parseUpFrame, refusal, UP_FRAME_MAX_BYTES } from './protocol.ts'
import type { Connection } from './sockets/connection.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface ClientFramesPorts {
  readonly gateway: GatewayInternal
  readonly subscriptions: () => Subscriptions
  readonly waitUntil: (work: Promise<unknown>) => void
  /** A subscription may have begun. */
  readonly changed: () => void
}

export class ClientFrames {
  readonly #ports: ClientFramesPorts

  constructor(ports: ClientFramesPorts) {
    this.#ports = ports
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
      const hint = `Too many messages: this account's plan allows ${most}; slow down.`
      return client.send(failureFrame({ kind: 'rate_limited', retryAfterMs: 1000, hint }))
    }
    if (typeof message !== 'string') {
      return client.send(refusal('<binary>', { path: 'frame', message: 'send text frames of JSON' }))
    }
    const frame = parseUpFrame(message)
    if (!frame.ok) return client.send(frame.error)
    switch (frame.value.method) {
      case 'ping': {
        const { nonce } = frame.value
        return client.send(nonce === undefined ? PONG : pongFrame(client.pinged(nonce, crypto.randomUUID())))
      }
      case 'post':
        return this.#ports.waitUntil(answerPost(client, frame.value, this.#ports.gateway))
      default:
        this.#enqueue(client, frame.value)
    }
  }

  /** The platform does not wait for async handlers. */
  #enqueue(client: Connection, frame: SubscribeFrame | UnsubscribeFrame): void {
    const isQueued = client.enqueue(async () => {
      if (client.ended) return
      const subscriptions = this.#ports.subscriptions()
      if (frame.method === 'unsubscribe') subscriptions.unsubscribe(client, frame)
      else await subscriptions.subscribe(client, frame)
      this.#ports.changed()
    })
    const hint = 'Too many requests wait on this connection: slow down.'
    if (!isQueued) client.send(failureFrame({ kind: 'rate_limited', retryAfterMs: 1000, hint }))
    this.#ports.waitUntil(client.drained())
  }
}
