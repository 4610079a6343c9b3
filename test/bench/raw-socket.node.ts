// A WebSocket client over a bare TCP connection, small enough that one process can keep a thousand of them busy.

import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { clientFrame, FrameReader, type OnText } from './frames.ts'

/** All connections read into one buffer: a chunk is used up before the next one is read. */
const shared = Buffer.allocUnsafe(256 * 1024)
const HEAD_END = Buffer.from('\r\n\r\n')
const PONG = 10
const OPEN_TIMEOUT_MS = 45_000

export interface Address {
  readonly port: number
  readonly path: string
  /** Complete header lines, each ending in CRLF. */
  readonly headers: string
}

export class RawSocket {
  readonly #socket: Socket
  readonly #reader: FrameReader
  /** Bytes before the end of the handshake; null once open. */
  #head: Buffer | null = Buffer.alloc(0)
  #opened: (() => void) | null = null
  #failed: ((error: Error) => void) | null = null
  /** Set when the other side ended what we did not. */
  lost: string | null = null
  #closing = false

  private constructor({ port, path, headers }: Address, onText: OnText) {
    this.#reader = new FrameReader(onText, (opcode, payload) => this.#control(opcode, payload))
    const onread = { buffer: shared, callback: (length: number) => this.#read(length) }
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread } as NetConnectOpts)
    const upgrade = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${headers}\r\n`
    this.#socket.write(upgrade)
    this.#socket.on('error', (error) => this.#end(error.message))
    this.#socket.on('close', () => this.#end('the connection was closed'))
  }

  /** Resolves when the upgrade is done; rejects with the answer where it is refused. */
  static async open(address: Address, onText: OnText): Promise<RawSocket> {
    const socket = new RawSocket(address, onText)
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve, reject) => {
      socket.#opened = resolve
      socket.#failed = reject
      timer = setTimeout(() => reject(new Error(`${address.path}: no answer to the upgrade`)), OPEN_TIMEOUT_MS)
    }).finally(() => clearTimeout(timer))
    return socket
  }

  send(text: string): void {
    this.#socket.write(clientFrame(text))
  }

  /** Sends bytes made by clientFrame. */
  write(frame: Buffer): void {
    this.#socket.write(frame)
  }

  /** Closes with 1000 and lets go of the connection. */
  close(): void {
    this.#closing = true
    this.#socket.end(clientFrame(Buffer.from([0x03, 0xe8]), 8))
    setTimeout(() => this.#socket.destroy(), 500).unref()
  }

  #read(length: number): boolean {
    if (this.#closing) return true
    if (this.#head === null) this.#reader.push(shared, length)
    else this.#handshake(length)
    return true
  }

  #handshake(length: number): void {
    const head = Buffer.concat([this.#head!, shared.subarray(0, length)])
    this.#head = head
    const end = head.indexOf(HEAD_END)
    if (end < 0) return
    const status = head.subarray(0, end).toString('latin1').split('\r\n')[0]!
    if (!status.includes(' 101')) return this.#end(head.toString('utf8').slice(0, 600))
    this.#head = null
    this.#opened?.()
    const rest = Buffer.from(head.subarray(end + 4))
    if (rest.length > 0) this.#reader.push(rest, rest.length)
  }

  #control(opcode: 'close' | 'ping', payload: Buffer): void {
    if (opcode === 'ping') this.#socket.write(clientFrame(Buffer.from(payload), PONG))
    else if (!this.#closing)
      this.#end(`closed ${payload.length >= 2 ? payload.readUInt16BE(0) : ''} ${payload.subarray(2)}`)
  }

  #end(why: string): void {
    if (!this.#closing) this.lost ??= why
    this.#failed?.(new Error(why))
    this.#socket.destroy()
  }
}
