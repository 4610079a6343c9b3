// Platform globals for tests of the client package: sockets that a test opens and ends, and scripted responses.

export class FakeWebSocket extends EventTarget {
  static all: FakeWebSocket[] = []
  static get last(): FakeWebSocket {
    return FakeWebSocket.all.at(-1)!
  }
  readyState = 0
  readonly url: string
  readonly sent: { method: string; subscription?: Record<string, unknown>; [field: string]: unknown }[] = []

  constructor(url: string) {
    super()
    this.url = url
    FakeWebSocket.all.push(this)
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  close(code = 1000, reason = ''): void {
    this.end(code, reason)
  }
  open(): void {
    this.readyState = 1
    this.dispatchEvent(new Event('open'))
  }
  receive(frame: unknown): void {
    const data = typeof frame === 'string' ? frame : JSON.stringify(frame)
    this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }
  end(code = 1006, reason = ''): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.dispatchEvent(Object.assign(new Event('close'), { code, reason }))
  }
  /** Acknowledges all requests since the last call. */
  ack(): void {
    for (const { method, subscription } of this.sent.splice(0))
      if (method.endsWith('subscribe'))
        this.receive({ channel: 'subscriptionResponse', data: { method, subscription } })
  }
}

export interface FakeAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** A scripted `fetch`; undefined: pending until aborted. */
export function fakeFetch(answer: (body: Record<string, unknown>, at: number) => FakeAnswer | Error | undefined) {
  const requests: Record<string, unknown>[] = []
  const respond = (_url: unknown, { body, signal }: { body: string; signal: AbortSignal }): Promise<Response> => {
    requests.push(JSON.parse(body))
    const reply = answer(requests.at(-1)!, requests.length - 1)
    if (reply instanceof Error) return Promise.reject(reply)
    if (reply)
      return Promise.resolve(
        new Response(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? null), {
          status: reply.status ?? 200,
          headers: reply.headers ?? {},
        }),
      )
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  }
  return { requests, fetch: respond as unknown as typeof fetch }
}
