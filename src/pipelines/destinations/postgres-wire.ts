// PostgreSQL wire protocol version 3, limited to what one statement with text parameters needs: encoding, decoding and
// password messages. Pure: hashes are computed elsewhere.
// biome-ignore-all lint/style/noNonNullAssertion: bytes are read within the length of their frame.

const PROTOCOL = 196_608
const SSL_REQUEST = 80_877_103
const MAX_FRAME_BYTES = 64 * 1024

export interface Frame {
  readonly type: string
  readonly body: Uint8Array
}

/** Type byte and length. */
const HEADER_BYTES = 5
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function sslRequest(): Uint8Array {
  return concat([int32(8), int32(SSL_REQUEST)])
}

export function startup(user: string, database: string): Uint8Array {
  const names = { user, database, application_name: 'weir', client_encoding: 'UTF8' }
  const texts = Object.entries(names).flatMap(([name, value]) => [cString(name), cString(value)])
  const body = concat([int32(PROTOCOL), ...texts, new Uint8Array(1)])
  return concat([int32(body.length + 4), body])
}

/** Password message (`p`), for every authentication method. */
export function passwordMessage(body: Uint8Array): Uint8Array {
  return frame('p', body)
}

export function saslInitialMessage(mechanism: string, first: string): Uint8Array {
  const text = encoder.encode(first)
  return passwordMessage(concat([cString(mechanism), int32(text.length), text]))
}

/** One statement with text parameters: parse, bind, execute and sync in one write. */
export function statement(sql: string, parameters: readonly string[]): Uint8Array {
  const values = parameters.flatMap((text) => {
    const bytes = encoder.encode(text)
    return [int32(bytes.length), bytes]
  })
  const bind = concat([cString(''), cString(''), int16(0), int16(parameters.length), ...values, int16(0)])
  return concat([
    frame('P', concat([cString(''), cString(sql), int16(0)])),
    frame('B', bind),
    frame('E', concat([cString(''), int32(0)])),
    frame('S', new Uint8Array(0)),
  ])
}

export interface ParsedFrames {
  readonly frames: readonly Frame[]
  readonly rest: Uint8Array
  /** Bytes that `rest` needs before the next parse can succeed. */
  readonly needed: number
}

/** Complete frames at the start of the bytes, and the rest. Throws if a frame is too large. */
export function parseFrames(bytes: Uint8Array): ParsedFrames {
  const frames: Frame[] = []
  let at = 0
  let needed = HEADER_BYTES
  while (bytes.length - at >= HEADER_BYTES) {
    const length = int32At(bytes, at + 1)
    if (length < 4 || length > MAX_FRAME_BYTES) throw new Error('The server does not speak the PostgreSQL protocol')
    needed = length + 1
    if (bytes.length - at < needed) break
    needed = HEADER_BYTES
    frames.push({ type: String.fromCharCode(bytes[at]!), body: bytes.subarray(at + 5, at + 1 + length) })
    at += length + 1
  }
  return { frames, rest: bytes.subarray(at), needed }
}

/** Code and message of an error response. */
export function errorOf(body: Uint8Array): { readonly code: string; readonly words: string } {
  const fields = new Map(
    decoder
      .decode(body)
      .split('\0')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  )
  return { code: fields.get('C') ?? '', words: fields.get('M') ?? 'no details given' }
}

/** Column values as text; null for NULL. */
export function rowOf(body: Uint8Array): (string | null)[] {
  const cells: (string | null)[] = []
  for (let at = 2; at + 4 <= body.length; ) {
    const length = int32At(body, at)
    cells.push(length < 0 ? null : decoder.decode(body.subarray(at + 4, at + 4 + length)))
    at += 4 + Math.max(0, length)
  }
  return cells
}

export function textOf(body: Uint8Array, from = 0): string {
  return decoder.decode(body.subarray(from))
}

export function int32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function frame(type: string, body: Uint8Array): Uint8Array {
  return concat([encoder.encode(type), int32(body.length + 4), body])
}

const int32 = (value: number) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
const int16 = (value: number) => Uint8Array.of(value >>> 8, value)
export const cString = (text: string) => concat([encoder.encode(text.replaceAll('\0', '')), new Uint8Array(1)])

export const TERMINATE = frame('X', new Uint8Array(0))
