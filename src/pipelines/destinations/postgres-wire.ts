// PostgreSQL's protocol, version 3, as far as one statement with text parameters needs it: frames out, frames in, and how a
// client proves that it knows its password. Pure: hashes are made elsewhere.
// biome-ignore-all lint/style/noNonNullAssertion: bytes are read within the length of their frame.

const PROTOCOL = 196_608
const SSL_REQUEST = 80_877_103
/** Of a frame that a server sends: a name, a count, an error. */
const FRAME_MOST = 64 * 1024

export interface Frame {
  readonly type: string
  readonly body: Uint8Array
}

/** Of each frame: its type and its length. */
const HEAD = 5
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function sslRequest(): Uint8Array {
  return joined([whole(8), whole(SSL_REQUEST)])
}

export function startup(user: string, database: string): Uint8Array {
  const names = { user, database, application_name: 'weir', client_encoding: 'UTF8' }
  const texts = Object.entries(names).flatMap(([name, value]) => [cString(name), cString(value)])
  const body = joined([whole(PROTOCOL), ...texts, new Uint8Array(1)])
  return joined([whole(body.length + 4), body])
}

/** `p`: what proves the password, in each way to do so. */
export function password(body: Uint8Array): Uint8Array {
  return frame('p', body)
}

export function saslFirst(mechanism: string, first: string): Uint8Array {
  const text = encoder.encode(first)
  return password(joined([cString(mechanism), whole(text.length), text]))
}

/** One statement with text parameters, as one flight of frames: parse, bind, execute, sync. */
export function statement(sql: string, parameters: readonly string[]): Uint8Array {
  const values = parameters.flatMap((text) => {
    const bytes = encoder.encode(text)
    return [whole(bytes.length), bytes]
  })
  const bind = joined([cString(''), cString(''), half(0), half(parameters.length), ...values, half(0)])
  return joined([
    frame('P', joined([cString(''), cString(sql), half(0)])),
    frame('B', bind),
    frame('E', joined([cString(''), whole(0)])),
    frame('S', new Uint8Array(0)),
  ])
}

export interface Framed {
  readonly frames: readonly Frame[]
  readonly rest: Uint8Array
  /** So long what is left must be for another look. */
  readonly needed: number
}

/** Whole frames at the head of what was read, and what is left. Throws where one is too large. */
export function framesOf(bytes: Uint8Array): Framed {
  const frames: Frame[] = []
  let at = 0
  let needed = HEAD
  while (bytes.length - at >= HEAD) {
    const length = wholeAt(bytes, at + 1)
    if (length < 4 || length > FRAME_MOST) throw new Error('the server speaks no PostgreSQL')
    needed = length + 1
    if (bytes.length - at < needed) break
    needed = HEAD
    frames.push({ type: String.fromCharCode(bytes[at]!), body: bytes.subarray(at + 5, at + 1 + length) })
    at += length + 1
  }
  return { frames, rest: bytes.subarray(at), needed }
}

/** What a server says went wrong: severity, code, words. */
export function errorOf(body: Uint8Array): { readonly code: string; readonly words: string } {
  const fields = new Map(
    decoder
      .decode(body)
      .split('\0')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  )
  return { code: fields.get('C') ?? '', words: fields.get('M') ?? 'the server said no more' }
}

/** Texts of the columns of a row, null for NULL. */
export function rowOf(body: Uint8Array): (string | null)[] {
  const cells: (string | null)[] = []
  for (let at = 2; at + 4 <= body.length; ) {
    const length = wholeAt(body, at)
    cells.push(length < 0 ? null : decoder.decode(body.subarray(at + 4, at + 4 + length)))
    at += 4 + Math.max(0, length)
  }
  return cells
}

export function textOf(body: Uint8Array, from = 0): string {
  return decoder.decode(body.subarray(from))
}

export function wholeAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function frame(type: string, body: Uint8Array): Uint8Array {
  return joined([encoder.encode(type), whole(body.length + 4), body])
}

const whole = (value: number) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
const half = (value: number) => Uint8Array.of(value >>> 8, value)
export const cString = (text: string) => joined([encoder.encode(text.replaceAll('\0', '')), new Uint8Array(1)])

export const TERMINATE = frame('X', new Uint8Array(0))
