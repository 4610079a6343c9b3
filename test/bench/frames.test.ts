// The bench's own reader of frames: it may not lose or invent any, however the bytes are cut.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FrameReader } from './frames.ts'

function serverFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([0x81, length]), payload])
  const head = length < 65_536 ? Buffer.from([0x81, 126, 0, 0]) : Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0])
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

it('reads every frame once, wherever the chunks end', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 10 }),
    fc.constantFrom('x'.repeat(125), 'y'.repeat(126), 'z'.repeat(70_000)),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 50_000 })), (texts, cuts) => {
      const bytes = Buffer.concat(texts.map(serverFrame))
      const got: string[] = []
      const reader = new FrameReader(
        (chunk, from, to) => got.push(chunk.toString('utf8', from, to)),
        () => undefined,
      )
      // One buffer for every chunk, as the sockets have it.
      const shared = Buffer.alloc(bytes.length + 1)
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const length = Math.min(cuts[i] ?? 7_777, bytes.length - at)
        bytes.copy(shared, 0, at, at + length)
        reader.push(shared, length)
        at += length
      }
      expect(got).toEqual(texts)
    }),
  )
})
