// Sends the requests of the load process over persistent connections. The bytes of a request are created once. Only
// the status and the length of a response are read.

import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { type Spread, spreadOf } from '../kit/statistics.ts'

interface Order {
  readonly port: number
  readonly path: string
  /** Header lines, each ending in CRLF, beside host and content-length. */
  readonly headers: string
  readonly body: string
}

/** Over so many connections, on each as fast as answers come. */
export interface HttpLoad extends Order {
  readonly concurrency: number
  readonly ms: number
}

/** An open loop: a slow answer does not slow the offer down, up to the number of connections. */
export interface PacedLoad extends Order {
  readonly perSecond: number
  readonly ms: number
}

/** At one moment, each over a connection of its own that is already open. */
export interface AtOnce extends Order {
  readonly calls: number
}

export interface PacedOutcome {
  readonly answers: number
  readonly perSecond: number
  /** Answers other than 200, and the first of them. */
  readonly failures: number
  readonly failure: string | null
}

export interface HttpOutcome extends PacedOutcome {
  readonly latency: Spread
}

/** Since its call was sent. */
export interface Arrival {
  readonly firstMs: number
  readonly wholeMs: number
  readonly bytes: number
}

interface Reply extends Arrival {
  readonly failure: string | null
}

const HEAD_END = Buffer.from('\r\n\r\n')
const SAMPLES = 1_000_000
const CONNECTIONS = 64
const TICK_MS = 2

/** Runs for `ms` and counts what was answered in that time. */
export async function httpLoad(load: HttpLoad): Promise<HttpOutcome> {
  const request = requestOf(load)
  const samples = new Float64Array(SAMPLES)
  const tally = new Tally()
  const endMs = performance.now() + load.ms
  const run = async () => {
    const connection = await Connection.open(load.port)
    await connection.ask(request, (reply) => {
      if (tally.answers < SAMPLES) samples[tally.answers] = reply.wholeMs
      tally.add(reply)
      return performance.now() < endMs
    })
    connection.close()
  }
  await Promise.all(Array.from({ length: load.concurrency }, run))
  return { ...tally.outcome(), latency: spreadOf(samples, tally.answers) }
}

/** Offers `perSecond` for `ms` and waits for the last answer. */
export async function pacedLoad(load: PacedLoad): Promise<PacedOutcome> {
  const request = requestOf(load)
  const idle: Connection[] = []
  const tally = new Tally()
  const start = performance.now()
  let sent = 0
  let open = 0
  const send = async () => {
    sent++
    open++
    const connection = idle.pop() ?? (await Connection.open(load.port))
    tally.add(await connection.once(request))
    idle.push(connection)
    open--
  }
  const all: Promise<void>[] = []
  for (let elapsed = 0; elapsed < load.ms; elapsed = performance.now() - start) {
    // At least one at once: a rate of one a second begins with a request, not with a second.
    const due = 1 + Math.floor((elapsed * load.perSecond) / 1000)
    while (sent < due && open < CONNECTIONS) all.push(send())
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  await Promise.all(all)
  for (const connection of idle) connection.close()
  return tally.outcome()
}

/** One arrival per call; rejects where one is not 200. */
export async function callAtOnce({ calls, ...order }: AtOnce): Promise<Arrival[]> {
  const request = requestOf(order)
  const connections = await Promise.all(Array.from({ length: calls }, () => Connection.open(order.port)))
  try {
    const replies = await Promise.all(connections.map((connection) => connection.once(request)))
    const failure = replies.find((reply) => reply.failure !== null)?.failure
    if (failure) throw new Error(failure)
    return replies
  } finally {
    for (const connection of connections) connection.close()
  }
}

function requestOf({ port, path, headers, body }: Order): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${head}${headers}\r\n${body}`)
}

class Tally {
  answers = 0
  #failures = 0
  #failure: string | null = null
  readonly #startMs = performance.now()

  add({ failure }: Reply): void {
    this.answers++
    if (failure === null) return
    this.#failures++
    this.#failure ??= failure
  }

  outcome(): PacedOutcome {
    const perSecond = (this.answers * 1000) / (performance.now() - this.#startMs)
    return { answers: this.answers, perSecond, failures: this.#failures, failure: this.#failure }
  }
}

class Connection {
  readonly #socket: Socket
  readonly #buffer = Buffer.allocUnsafe(64 * 1024)
  #sentMs = 0
  #firstMs = Number.NaN
  /** Of the answer: what is here of its head, its whole length once that is known, and what is here of it. */
  #head: Buffer | null = null
  #due = Number.NaN
  #bytes = 0
  #failure: string | null = null
  #answered: (reply: Reply) => void = () => {}
  #failed: (error: Error) => void = () => {}

  private constructor(port: number) {
    const onread = { buffer: this.#buffer, callback: (length: number) => this.#take(length) }
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread } as NetConnectOpts)
    this.#socket.on('error', (error) => this.#failed(error))
    this.#socket.on('close', () => this.#failed(new Error('a connection ended before its answer')))
  }

  static open(port: number): Promise<Connection> {
    const connection = new Connection(port)
    return new Promise((resolve, reject) => {
      connection.#failed = reject
      connection.#socket.once('connect', () => resolve(connection))
    })
  }

  /** Sends it, and again with each answer as long as `isMore`. */
  ask(request: Buffer, isMore: (reply: Reply) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#failed = reject
      this.#answered = (reply) => (isMore(reply) ? this.#send(request) : resolve())
      this.#send(request)
    })
  }

  async once(request: Buffer): Promise<Reply> {
    let found: Reply | undefined
    await this.ask(request, (reply) => {
      found = reply
      return false
    })
    return found!
  }

  close(): void {
    this.#socket.destroy()
  }

  #send(request: Buffer): void {
    this.#head = null
    this.#firstMs = this.#due = Number.NaN
    this.#bytes = 0
    this.#failure = null
    this.#sentMs = performance.now()
    this.#socket.write(request)
  }

  #take(length: number): boolean {
    if (this.#bytes === 0) this.#firstMs = performance.now() - this.#sentMs
    this.#bytes += length
    if (Number.isNaN(this.#due)) this.#takeHead(this.#buffer.subarray(0, length))
    if (this.#bytes < this.#due || Number.isNaN(this.#due)) return true
    const wholeMs = performance.now() - this.#sentMs
    this.#answered({ firstMs: this.#firstMs, wholeMs, bytes: this.#bytes, failure: this.#failure })
    return true
  }

  #takeHead(chunk: Buffer): void {
    const bytes = this.#head ? Buffer.concat([this.#head, chunk]) : chunk
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) {
      this.#head = Buffer.from(bytes)
      return
    }
    const head = bytes.toString('latin1', 0, end).toLowerCase()
    const at = head.indexOf('content-length: ')
    if (at < 0) return this.#failed(new Error(`an answer without a length:\n${head}`))
    this.#due = end + 4 + Number.parseInt(head.slice(at + 16, at + 26), 10)
    if (head.slice(9, 12) !== '200') this.#failure = bytes.toString('utf8').slice(0, 600)
  }
}
