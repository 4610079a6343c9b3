// ModelGateway behind a real WebSocket. It flushes as the log does, only faster.

import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { ModelGateway } from './model-gateway.ts'

const FLUSH_MS = 25

export class FakeGateway {
  model = new ModelGateway()
  tokens: (string | undefined)[] = []
  acknowledges = true
  /** Greetings as received. */
  greetings: unknown[] = []
  /** Sent instead of a welcome. */
  refusesHello: GatewayFrame | null = null
  /** Sent before a welcome. */
  wants: GatewayFrame[] = []
  errors: unknown[] = []
  #server: WebSocketServer | null = null
  #socket: WebSocket | null = null
  #timer: NodeJS.Timeout | undefined
  #port = 0

  async listen(): Promise<string> {
    const server = new WebSocketServer({ port: this.#port, host: '127.0.0.1', path: '/feed' })
    this.#server = server
    server.on('connection', (socket, request) => {
      this.tokens.push(request.headers.authorization)
      this.#socket = socket
      this.model.connected()
      socket.on('message', (data) => {
        try {
          const text = String(data)
          const isHello = text.startsWith('{"type":"hello"')
          if (isHello) this.greetings.push(JSON.parse(text))
          if (isHello) this.send(this.wants)
          this.send(isHello && this.refusesHello ? [this.refusesHello] : this.model.received(text))
        } catch (error) {
          this.errors.push(error)
        }
      })
    })
    await new Promise((resolve) => server.once('listening', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#timer = setInterval(() => {
      if (this.acknowledges && this.#socket) this.send(this.model.flush())
    }, FLUSH_MS)
    return `http://127.0.0.1:${this.#port}`
  }

  send(frames: readonly GatewayFrame[]): void {
    for (const frame of frames) this.#socket?.send(JSON.stringify(frame))
  }

  /** Ends at once, as by SIGKILL: data that was not durable is lost. */
  kill(): void {
    clearInterval(this.#timer)
    this.#socket?.terminate()
    this.#socket = null
    this.#server?.close()
    this.model.crash(false)
  }
}
