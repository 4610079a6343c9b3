// Reads WebSocket frames from the chunks of a connection. A frame that is complete within one chunk is not copied.

/** Gets the payload of a text frame: bytes `from` to `to` of `chunk`, valid during the call alone. */
export type OnText = (chunk: Buffer, from: number, to: number) => void

const TEXT = 1
const CLOSE = 8
const PING = 9

export class FrameReader {
  #rest: Buffer | null = null
  readonly #onText: OnText
  readonly #onControl: (opcode: 'close' | 'ping', payload: Buffer) => void

  constructor(onText: OnText, onControl: (opcode: 'close' | 'ping', payload: Buffer) => void) {
    this.#onText = onText
    this.#onControl = onControl
  }

  /** Takes the next `length` bytes of the connection; `chunk` may be used again afterwards. */
  push(chunk: Buffer, length: number): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk.subarray(0, length)]) : chunk
    const end = this.#rest ? bytes.length : length
    let at = 0
    for (;;) {
      const next = this.#frame(bytes, at, end)
      if (next < 0) break
      at = next
    }
    this.#rest = at < end ? Buffer.from(bytes.subarray(at, end)) : null
  }

  /** Hands out the frame at `at` and answers where it ends; -1 where it is not whole yet. */
  #frame(bytes: Buffer, at: number, end: number): number {
    if (end - at < 2) return -1
    let from = at + 2
    let length = bytes[at + 1]! & 0x7f
    if (length === 126) {
      if (end - at < 4) return -1
      length = bytes.readUInt16BE(at + 2)
      from = at + 4
    } else if (length === 127) {
      if (end - at < 10) return -1
      length = Number(bytes.readBigUInt64BE(at + 2))
      from = at + 10
    }
    const to = from + length
    if (to > end) return -1
    const head = bytes[at]!
    if ((head & 0x80) === 0) throw new Error('a fragmented message, which workerd does not send')
    const opcode = head & 0x0f
    if (opcode === TEXT) this.#onText(bytes, from, to)
    else if (opcode === CLOSE) this.#onControl('close', bytes.subarray(from, to))
    else if (opcode === PING) this.#onControl('ping', bytes.subarray(from, to))
    return to
  }
}

/** A masked client frame; the mask is zero, which costs the sender nothing and the receiver what any mask does. */
export function clientFrame(text: string | Buffer, opcode = TEXT): Buffer {
  const payload = typeof text === 'string' ? Buffer.from(text) : text
  const length = payload.length
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.alloc(2 + extra + 4 + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(length, 2)
  else if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  payload.copy(frame, 6 + extra)
  return frame
}
