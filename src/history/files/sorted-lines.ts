// Lines of blocks by key, as a file has them: keys in order, and lines of a key in order of height.

import { candleLines } from './candle-lines.ts'
import { type EventsOfBlock, linesOf } from './rows.ts'

export function* sortedLines(blocks: readonly EventsOfBlock[]): Generator<readonly [key: string, line: string]> {
  const byKey = candleLines(blocks)
  for (const block of blocks)
    for (const [key, line] of linesOf(block)) {
      const lines = byKey.get(key)
      if (lines) lines.push(line)
      else byKey.set(key, [line])
    }
  for (const key of [...byKey.keys()].sort()) for (const line of byKey.get(key)!) yield [key, line]
}
