// Decompresses a file by its extension: `.gz`, `.lz4`, or none. LZ4 frames (github.com/lz4/lz4, doc/lz4_Frame_format.md, version
// 1.6) are read block by block to bound memory; the package decompresses individual blocks. Invariant: truncated or altered data is
// an error, after everything before it was returned.

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { uncompressSync } from 'lz4-napi'
import xxhash from 'xxhash-wasm'
import { FileError } from './text-lines.ts'

const { create32, h32Raw } = await xxhash()

const MAGIC = 0x184d2204
const LEGACY = 0x184c2102
const SKIPPED = 0x184d2a50
/** Linked blocks may refer to this many preceding bytes. */
const WINDOW = 64 * 1024
const BLOCK_BYTES: Readonly<Record<number, number>> = {
  4: 64 * 1024,
  5: 256 * 1024,
  6: 1024 * 1024,
  7: 4 * 1024 * 1024,
}

/** The decompressed bytes of a file with this path. */
export function decompress(path: string, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (path.endsWith('.lz4')) return decompressLz4(bytes)
  if (!path.endsWith('.gz')) return bytes
  const gunzip = createGunzip()
  const packed = Readable.from(bytes)
  packed.on('error', (error) => gunzip.destroy(error))
  return packed.pipe(gunzip)
}

async function* decompressLz4(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteReader(chunks)
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst && (await bytes.isEnd())) return
    const magic = await bytes.uint32()
    if (magic === MAGIC) yield* readFrame(bytes)
    else if (magic >>> 4 === SKIPPED >>> 4)
      for (let left = await bytes.uint32(); left > 0; ) left -= (await bytes.take(Math.min(left, WINDOW))).length
    else if (magic === LEGACY) throw new FileError('has the legacy LZ4 format; decompress it with "lz4 -d"')
    else throw new FileError(isFirst ? 'is not LZ4' : 'has other data after its last LZ4 frame')
  }
}

interface Descriptor {
  readonly blockBytes: number
  readonly isLinked: boolean
  readonly hasBlockSums: boolean
  readonly hasSum: boolean
  readonly size: number | null
}

async function readDescriptor(bytes: ByteReader): Promise<Descriptor> {
  const [flags = 0, sizes = 0] = await bytes.take(2)
  const rest = await bytes.take((flags & 8 ? 8 : 0) + (flags & 1 ? 4 : 0))
  const [sum] = await bytes.take(1)
  const head = h32Raw(Uint8Array.of(flags, sizes, ...rest))
  const blockBytes = BLOCK_BYTES[(sizes >> 4) & 7]
  if (sum !== ((head >>> 8) & 255) || flags >> 6 !== 1 || blockBytes === undefined)
    throw new FileError('is damaged: its LZ4 frame header is invalid')
  if (flags & 1) throw new FileError('needs a dictionary; decompress it with "lz4 -d -D"')
  const size = flags & 8 ? Number(viewOf(rest).getBigUint64(0, true)) : null
  return { blockBytes, size, isLinked: !(flags & 32), hasBlockSums: !!(flags & 16), hasSum: !!(flags & 4) }
}

async function* readFrame(bytes: ByteReader): AsyncGenerator<Uint8Array> {
  const { blockBytes, isLinked, hasBlockSums, hasSum, size } = await readDescriptor(bytes)
  const sum = create32()
  let total = 0
  let before: Uint8Array = new Uint8Array(0)
  for (;;) {
    const head = await bytes.uint32()
    if (head === 0) break
    const length = head & 0x7fffffff
    if (length > blockBytes) throw new FileError('is damaged: an LZ4 block exceeds the size in its frame header')
    const block = await bytes.take(length)
    if (hasBlockSums && (await bytes.uint32()) !== h32Raw(block)) throw checksumError()
    const piece = head >>> 31 ? block : decompressBlock(block, blockBytes, before)
    total += piece.length
    if (hasSum) sum.update(piece)
    yield piece
    if (isLinked) before = Buffer.concat([before, piece.subarray(-WINDOW)]).subarray(-WINDOW)
  }
  if (hasSum && (await bytes.uint32()) !== sum.digest()) throw checksumError()
  if (size !== null && size !== total) throw new FileError(`is damaged: it holds ${total} of ${size} bytes`)
}

const checksumError = () => new FileError('is damaged: an LZ4 checksum does not match')

/**
 * The package expects the maximum size in front of a block. It also expects the bytes that the matches of the block may
 * refer to.
 */
function decompressBlock(block: Uint8Array, max: number, before: Uint8Array): Uint8Array {
  const sized = new Uint8Array(4 + block.length)
  viewOf(sized).setUint32(0, max, true)
  sized.set(block, 4)
  try {
    return uncompressSync(sized, before)
  } catch {
    throw new FileError('is damaged: an LZ4 block cannot be decompressed')
  }
}

/** Reads a requested number of bytes from a stream. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #buffer: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async isEnd(): Promise<boolean> {
    while (this.#buffer.length === 0) {
      const next = await this.#chunks.next()
      if (next.done) return true
      this.#buffer = next.value
    }
    return false
  }

  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (let left = count; left > 0; ) {
      if (await this.isEnd()) throw new FileError('is truncated')
      const part = this.#buffer.subarray(0, left)
      this.#buffer = this.#buffer.subarray(part.length)
      left -= part.length
      parts.push(part)
    }
    const [only, ...more] = parts
    return only && more.length === 0 ? only : Buffer.concat(parts)
  }

  async uint32(): Promise<number> {
    return viewOf(await this.take(4)).getUint32(0, true)
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)
