// Frames of the `lz4` program, version 1.9.4, and what is wrong with them.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decompress as unpackedFile } from '../../../src/cli/backfill/decompress.node.ts'

const TEXT = Array.from({ length: 12 }, (_, i) => `{"height":${i},"text":"${'abc'.repeat(i % 7)}"}\n`).join('')
const FRAMES = {
  'lz4 -9 --no-frame-crc':
    'BCJNGGBAgmsAAAD2CHsiaGVpZ2h0IjowLCJ0ZXh0IjoiIn0KFwAVMRcAOWFiYxoAGDIaAAwdABszHQAMIAAeNCAADCMAHjUjAA8mAAAeNiYADykAAx834AADHzjgAAYfOeAACS8xMOEADC8xMZkAAFBiYyJ9CgAAAAA=',
  'lz4 -BX -BD --content-size':
    'BCJNGHxAcwEAAAAAAACJdQAAAPYIeyJoZWlnaHQiOjAsInRleHQiOiIifQoXABUxFwA5YWJjGgAYMhoADB0AGzMdAAwgAB40IAAMIwAfNSMAAgwmAB82JgAFDCkAFTcpAAnGABU4FwAMMQAYORoADB0AFjEvAQIeAA0hAAk5AQMkAFBiYyJ9CroSEI0AAAAAqVIayg==',
  lz4: 'BCJNGGRAp3UAAAD2CHsiaGVpZ2h0IjowLCJ0ZXh0IjoiIn0KFwAVMRcAOWFiYxoAGDIaAAwdABszHQAMIAAeNCAADCMAHzUjAAIMJgAfNiYABQwpABU3KQAJxgAVOBcADDEAGDkaAAwdABYxLwECHgANIQAJOQEDJABQYmMifQoAAAAAqVIayg==',
}
const EMPTY = 'BCJNGGRApwAAAAAFXcwC'

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const plain = (text: string) => new TextEncoder().encode(text)

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}
async function unpacked(bytes: Uint8Array, size = 1 << 20): Promise<string> {
  const parts = await Array.fromAsync(unpackedFile('x.lz4', pieces(bytes, size)))
  return Buffer.concat(parts).toString()
}

describe('frames', () => {
  it.each(Object.entries(FRAMES))('of %s are decompressed from chunks of any size', async (_, frame) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(await unpacked(bytesOf(frame), size)).toBe(TEXT)
  })

  it('may be empty, consecutive or skippable', async () => {
    const skipped = Uint8Array.of(0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9)
    const all = [EMPTY, FRAMES.lz4, EMPTY, FRAMES.lz4].map(bytesOf)
    expect(await unpacked(Buffer.concat([skipped, ...all]))).toBe(TEXT + TEXT)
  })

  it('truncated anywhere are an error', async () => {
    for (const frame of Object.values(FRAMES)) {
      const bytes = bytesOf(frame)
      for (let end = 1; end < bytes.length; end++)
        await expect(unpacked(bytes.slice(0, end))).rejects.toThrow('is truncated')
    }
  })

  it('altered anywhere are an error if checksums cover everything', async () => {
    const bytes = bytesOf(FRAMES['lz4 -BX -BD --content-size'])
    for (let at = 0; at < bytes.length; at++) {
      const altered = bytes.with(at, bytes[at]! ^ 0x10)
      await expect(unpacked(altered), String(at)).rejects.toThrow(/is |has |holds /)
    }
  })

  it('in unsupported formats are named', async () => {
    await expect(unpacked(plain('{"local_time"'))).rejects.toThrow('is not LZ4')
    await expect(unpacked(Uint8Array.of(2, 0x21, 0x4c, 0x18, 1))).rejects.toThrow('legacy')
  })

  it('never cause reads or writes out of bounds, whatever their blocks contain', async () => {
    const head = bytesOf(EMPTY).slice(0, 7)
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 80 }), async (block) => {
        const frame = Buffer.concat([head, Uint8Array.of(block.length, 0, 0, 0), block, new Uint8Array(8)])
        await unpacked(frame).catch((error: Error) => expect(error.name).toBe('FileFault'))
      }),
    )
  })
})
