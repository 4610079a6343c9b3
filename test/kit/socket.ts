// WebSocket client for black-box tests, using the `ws` package.

import { WebSocket } from 'ws'

export type Frame = Record<string, unknown>

/** Frames of a socket in order. `next` waits for the first accepted frame. */
export class Socket<F extends Frame = Frame> {
  readonly frames: F[] = []
  closed: { code: number; reason: string } | null = null
  /** Called for every frame immediately, in addition to `next`. */
  onFrame: ((frame: F) => unknown) | null = null
  readonly #socket: WebSocket
  #at = 0
  #wake: (() => void) | null = null

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as F
      this.frames.push(frame)
      this.onFrame?.(frame)
      this.#wake?.()
    })
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.#wake?.()
    })
    socket.on('error', () => undefined)
  }

  /** Resolves when open; rejects with the HTTP status if the upgrade fails. */
  static open<F extends Frame = Frame>(
    url: string,
    headers: Record<string, string> = {},
    protocols: string[] = [],
  ): Promise<Socket<F>> {
    const socket = new WebSocket(url, protocols, { headers })
    const wrapped = new Socket<F>(socket)
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(wrapped))
      socket.once('unexpected-response', (_, response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () =>
          reject(Object.assign(new Error(`${response.statusCode}`), { status: response.statusCode, body })),
        )
      })
      socket.once('error', reject)
    })
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** The next unread frame that `accepts`; earlier frames count as read. */
  async next(accepts: (frame: F) => boolean, timeoutMs = 10_000): Promise<F> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      while (this.#at < this.frames.length) {
        const frame = this.frames[this.#at++]!
        if (accepts(frame)) return frame
      }
      if (this.closed) throw new Error(`closed: ${this.closed.code} ${this.closed.reason}`)
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`no such frame; last: ${JSON.stringify(this.frames.at(-1))?.slice(0, 300)}`)
      await this.#change(left)
    }
  }

  /** Resolves with the close code. */
  async ended(timeoutMs = 10_000): Promise<number> {
    const deadline = Date.now() + timeoutMs
    while (!this.closed) {
      if (Date.now() >= deadline) throw new Error('still open')
      await this.#change(deadline - Date.now())
    }
    return this.closed.code
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Subscribes, and waits for the acknowledgment. */
  async subscribe(subscription: object, more: object = {}): Promise<F> {
    this.send({ method: 'subscribe', subscription, ...more })
    return this.channel('subscriptionResponse')
  }

  channel(name: string, timeoutMs?: number): Promise<F> {
    return this.next((frame) => frame.channel === name, timeoutMs)
  }

  close(): void {
    this.#socket.close(1000)
  }

  /** Drops the connection without a close frame. */
  drop(): void {
    this.#socket.terminate()
  }
}
