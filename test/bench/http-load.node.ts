// Requests over kept connections, as fast as answers come. Bytes of the request are made once, and of an answer only
// the status and the length are read.

import { connect, type NetConnectOpts } from 'node:net'
import { type Spread, spreadOf } from './statistics.ts'

export interface HttpLoad {
  readonly port: number
  readonly path: string
  /** Header lines, each ending in CRLF, beside host and content-length. */
  readonly headers: string
  readonly body: string
  readonly concurrency: number
  readonly ms: number
}

export interface HttpOutcome {
  readonly perSecond: number
  readonly answers: number
  readonly latency: Spread
  /** Answers other than 200, and the first of them. */
  readonly failures: number
  readonly failure: string | null
}

const HEAD_END = Buffer.from('\r\n\r\n')
const SAMPLES = 1_000_000

/** Runs for `ms` and counts what was answered in that time. */
export async function httpLoad(load: HttpLoad): Promise<HttpOutcome> {
  const run = new Run(load)
  return run.outcome()
}

class Run {
  readonly #load: HttpLoad
  readonly #request: Buffer
  readonly #samples = new Float64Array(SAMPLES)
  #answers = 0
  #failures = 0
  #failure: string | null = null
  #endMs = 0

  constructor(load: HttpLoad) {
    this.#load = load
    const { port, path, headers, body } = load
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
    this.#request = Buffer.from(`${head}${headers}\r\n${body}`)
  }

  async outcome(): Promise<HttpOutcome> {
    const start = performance.now()
    this.#endMs = start + this.#load.ms
    await Promise.all(Array.from({ length: this.#load.concurrency }, () => this.#connection()))
    const seconds = (performance.now() - start) / 1000
    return {
      perSecond: this.#answers / seconds,
      answers: this.#answers,
      latency: spreadOf(this.#samples, this.#answers),
      failures: this.#failures,
      failure: this.#failure,
    }
  }

  #connection(): Promise<void> {
    return new Promise((resolve, reject) => {
      const buffer = Buffer.allocUnsafe(64 * 1024)
      let rest: Buffer | null = null
      let sentMs = 0
      const send = () => {
        sentMs = performance.now()
        socket.write(this.#request)
      }
      const callback = (length: number) => {
        const bytes = rest ? Buffer.concat([rest, buffer.subarray(0, length)]) : buffer.subarray(0, length)
        if (!this.#isWhole(bytes)) {
          rest = Buffer.from(bytes)
          return true
        }
        rest = null
        const now = performance.now()
        if (this.#answers < SAMPLES) this.#samples[this.#answers] = now - sentMs
        this.#answers++
        if (now < this.#endMs) send()
        else socket.end(() => resolve())
        return true
      }
      const options = { port: this.#load.port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } }
      const socket = connect(options as NetConnectOpts, send)
      socket.on('error', reject)
      socket.on('close', () => resolve())
    })
  }

  /** True where `bytes` is a whole answer; counts one that is not 200. */
  #isWhole(bytes: Buffer): boolean {
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return false
    const head = bytes.toString('latin1', 0, end).toLowerCase()
    const at = head.indexOf('content-length: ')
    if (at < 0) throw new Error(`an answer without a length:\n${head}`)
    if (bytes.length < end + 4 + Number.parseInt(head.slice(at + 16, at + 26), 10)) return false
    if (head.slice(9, 12) !== '200') {
      this.#failures++
      this.#failure ??= bytes.toString('utf8').slice(0, 600)
    }
    return true
  }
}
