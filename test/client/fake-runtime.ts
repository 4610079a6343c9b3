// A runtime for client tests. The test moves its time and scripts its sockets and HTTP responses.

import type { ClientRuntime, HttpResponse, SocketEnd, SocketHandlers } from '../../src/client/runtime.ts'

export class FakeSocket {
  readonly sent: { method: string; subscription?: Record<string, unknown> }[] = []
  dropped = false
  readonly url: string
  readonly #handlers: SocketHandlers

  constructor(url: string, handlers: SocketHandlers) {
    this.url = url
    this.#handlers = handlers
  }
  open() {
    this.#handlers.onOpen()
  }
  receive(frame: unknown) {
    this.#handlers.onText(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }
  end(end: Partial<SocketEnd>) {
    this.#handlers.onEnd({ status: null, code: null, reason: '', ...end })
  }
  /** Acknowledges every pending subscribe. */
  ack() {
    for (const { method, subscription } of this.sent.splice(0))
      if (method === 'subscribe') this.receive({ channel: 'subscriptionResponse', data: { method, subscription } })
  }
}

export class FakeRuntime implements ClientRuntime {
  readonly sockets: FakeSocket[] = []
  readonly posts: { url: string; body: string; answer(answer: HttpResponse): Promise<void>; fail(): Promise<void> }[] =
    []
  #time = 1_000
  #timers: { at: number; run: () => void }[] = []

  get last(): FakeSocket {
    return this.sockets.at(-1)!
  }
  now() {
    return this.#time
  }
  random() {
    return 0.5
  }
  after(ms: number, run: () => void) {
    const timer = { at: this.#time + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }
  advance(ms: number) {
    const until = this.#time + ms
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#time = next.at
      next.run()
    }
    this.#time = until
  }
  open(url: string, handlers: SocketHandlers) {
    const socket = new FakeSocket(url, handlers)
    this.sockets.push(socket)
    return {
      send: (text: string) => void socket.sent.push(JSON.parse(text)),
      drop: () => {
        socket.dropped = true
      },
    }
  }
  post(url: string, _key: string, body: string) {
    return new Promise<HttpResponse>((resolve, reject) => {
      // The awaits let the client's continuation run first.
      const settle = async (act: () => void) => {
        act()
        for (let i = 0; i < 8; i++) await Promise.resolve()
      }
      this.posts.push({
        url,
        body,
        answer: (answer) => settle(() => resolve(answer)),
        fail: () => settle(() => reject(new Error('refused'))),
      })
    })
  }
}
