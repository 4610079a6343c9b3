import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retainedBytes } from '../../src/devnet/files/hourly-file.node.ts'

const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0)

test('a stream beyond the limit keeps the newest half, and a stream within the limit keeps everything', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 300 }),
      fc.integer({ min: 60, max: 200 }),
      (lines, most) => {
        let files = [0]
        for (const [i, line] of lines.entries()) {
          if (i % 7 === 0) files.push(0)
          files[files.length - 1]! += line
          const before = sumOf(files)
          files = retainedBytes(files, most)
          expect(sumOf(files)).toBe(before > most ? Math.floor(most / 2) : before)
          expect(files.at(-1)).toBeGreaterThan(0)
        }
      },
    ),
  )
})
