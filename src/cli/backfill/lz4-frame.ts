// LZ4 frames unpacked (github.com/lz4/lz4, doc/lz4_Frame_format.md, version 1.6), as `lz4` writes them: blocks that stand
// alone or lean on those before, checksums, frames behind frames. Law: what is cut short or altered is an error, and what
// stands before it was given out.

import { wordAt, Xxh32 } from './xxh32.ts'

const MAGIC = 0x184d2204
const LEGACY = 0x184c2102
const SKIPPED = 0x184d2a50
/** A block may refer to so many bytes before it. */
const WINDOW = 64 * 1024
const BLOCK_BYTES: Readonly<Record<number, number>> = {
  4: 64 * 1024,
  5: 256 * 1024,
  6: 1024 * 1024,
  7: 4 * 1024 * 1024,
}
const MATCH_LEAST = 4
/** Fewer bytes are copied sooner one by one. */
const LONG = 32

export class Lz4Fault extends Error {
  override name = 'Lz4Fault'
}

/** What was packed, piece by piece. */
export async function* unLz4(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const bytes = new Bytes(chunks)
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst && (await bytes.isEnd())) return
    const magic = await bytes.word()
    if (magic === MAGIC) yield* frame(bytes)
    else if (magic >>> 4 === SKIPPED >>> 4)
      for (let left = await bytes.word(); left > 0; ) left -= (await bytes.take(Math.min(left, WINDOW))).length
    else if (magic === LEGACY) throw new Lz4Fault('is of the old form of LZ4: unpack it with "lz4 -d"')
    else throw new Lz4Fault(isFirst ? 'is not LZ4' : 'has something else behind its last frame of LZ4')
  }
}

interface Descriptor {
  readonly blockBytes: number
  readonly isLinked: boolean
  readonly hasBlockSums: boolean
  readonly hasSum: boolean
  readonly size: number | null
}

async function descriptor(bytes: Bytes): Promise<Descriptor> {
  const [flags, sizes] = await bytes.take(2)
  const rest = await bytes.take((flags! & 8 ? 8 : 0) + (flags! & 1 ? 4 : 0))
  const [sum] = await bytes.take(1)
  const head = new Xxh32().update(Uint8Array.of(flags!, sizes!, ...rest))
  const blockBytes = BLOCK_BYTES[(sizes! >> 4) & 7]
  if (sum !== ((head.digest() >>> 8) & 255) || flags! >> 6 !== 1 || blockBytes === undefined)
    throw new Lz4Fault('is damaged: the head of its LZ4 frame is wrong')
  if (flags! & 1) throw new Lz4Fault('needs a dictionary: unpack it with "lz4 -d -D"')
  const size = flags! & 8 ? (wordAt(rest, 0) >>> 0) + (wordAt(rest, 4) >>> 0) * 2 ** 32 : null
  return { blockBytes, size, isLinked: !(flags! & 32), hasBlockSums: !!(flags! & 16), hasSum: !!(flags! & 4) }
}

async function* frame(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const { blockBytes, isLinked, hasBlockSums, hasSum, size } = await descriptor(bytes)
  const room = new Uint8Array(WINDOW + blockBytes)
  const sum = new Xxh32()
  let total = 0
  let from = 0
  for (;;) {
    const head = await bytes.word()
    if (head === 0) break
    const length = head & 0x7fffffff
    if (length > blockBytes) throw new Lz4Fault('is damaged: a block of LZ4 is longer than its frame allows')
    const block = await bytes.take(length)
    if (hasBlockSums && (await bytes.word()) !== new Xxh32().update(block).digest()) throw wrongSum()
    const end = head >>> 31 ? copied(block, room, from) : unpackBlock(block, room, from)
    const piece = room.slice(from, end)
    total += piece.length
    if (hasSum) sum.update(piece)
    yield piece
    if (isLinked && end > WINDOW) room.copyWithin(0, end - WINDOW, end)
    from = isLinked ? Math.min(end, WINDOW) : 0
  }
  if (hasSum && (await bytes.word()) !== sum.digest()) throw wrongSum()
  if (size !== null && size !== total) throw new Lz4Fault(`is damaged: it holds ${total} of ${size} bytes`)
}

const wrongSum = () => new Lz4Fault('is damaged: a checksum of LZ4 is wrong')
const wrongBlock = () => new Lz4Fault('is damaged: a block of LZ4 cannot be unpacked')

function copied(block: Uint8Array, room: Uint8Array, from: number): number {
  room.set(block, from)
  return from + block.length
}

/** Unpacks one block behind `from` and answers where it ends; what stands before may be referred to. */
function unpackBlock(block: Uint8Array, room: Uint8Array, from: number): number {
  let at = 0
  let to = from
  const more = (short: number): number => {
    let length = short
    for (let byte = 255; short === 15 && byte === 255; length += byte) {
      if (at >= block.length) throw wrongBlock()
      byte = block[at++]!
    }
    return length
  }
  while (at < block.length) {
    const token = block[at++]!
    const literals = more(token >> 4)
    if (at + literals > block.length || to + literals > room.length) throw wrongBlock()
    if (literals >= LONG) room.set(block.subarray(at, at + literals), to)
    else for (let i = 0; i < literals; i++) room[to + i] = block[at + i]!
    at += literals
    to += literals
    // The last sequence has no match.
    if (at === block.length) return to
    const offset = block[at]! | (block[at + 1]! << 8)
    at += 2
    const match = more(token & 15) + MATCH_LEAST
    if (at > block.length || offset === 0 || offset > to || to + match > room.length) throw wrongBlock()
    // A match may reach into what it writes.
    if (offset >= match && match >= LONG) room.copyWithin(to, to - offset, to - offset + match)
    else for (let i = 0; i < match; i++) room[to + i] = room[to - offset + i]!
    to += match
  }
  throw wrongBlock()
}

/** Bytes of a stream, as many at a time as are asked for. */
class Bytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  #held: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async isEnd(): Promise<boolean> {
    while (this.#held.length === 0) {
      const next = await this.#chunks.next()
      if (next.done) return true
      this.#held = next.value
    }
    return false
  }

  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (let left = count; left > 0; ) {
      if (await this.isEnd()) throw new Lz4Fault('is cut short')
      const part = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(part.length)
      left -= part.length
      parts.push(part)
    }
    return parts.length === 1 ? parts[0]! : joined(parts, count)
  }

  /** Unsigned. */
  async word(): Promise<number> {
    return wordAt(await this.take(4), 0) >>> 0
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
