import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptBytes } from '../../src/devnet/files/hourly-file.node.ts'

test.each([
  ['nothing is cut within the bound', [40, 60], [40, 60]],
  ['the newest half of the bound stays', [40, 61], [0, 50]],
  ['over the end of an hour too', [90, 20], [30, 20]],
  ['what is older goes whole', [10, 70, 45], [0, 5, 45]],
  ['one file alone', [101], [50]],
])('%s', (_, sizes, kept) => {
  expect(keptBytes(sizes, 100)).toEqual(kept)
})

test('a stream that is cut whenever it exceeds the bound never holds more, and always its newest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 300 }),
      fc.integer({ min: 60, max: 200 }),
      (lines, most) => {
        let files = [0]
        let written = 0
        for (const [i, line] of lines.entries()) {
          if (i % 7 === 0) files.push(0)
          files[files.length - 1]! += line
          written += line
          files = keptBytes(files, most)
          const held = files.reduce((sum, size) => sum + size, 0)
          expect(held).toBeLessThanOrEqual(most)
          // All of it, or at least half of the bound but for the file that is just begun.
          expect(held).toBeGreaterThanOrEqual(Math.min(written, Math.floor(most / 2)))
          expect(files.at(-1)).toBeGreaterThan(0)
        }
      },
    ),
  )
})
