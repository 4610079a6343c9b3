// Lines of blocks by key, as a file has them: keys in order, and lines of a key in order of height.

import { candleLines } from './candle-lines.ts'
import { type EventsOfBlock, linesOf, PAID, paidLines } from './rows.ts'

export function* sortedLines(blocks: readonly EventsOfBlock[]): Generator<readonly [key: string, line: string]> {
  const byKey = candleLines(blocks)
  for (const block of blocks)
    for (const [key, line] of linesOf(block)) {
      const lines = byKey.get(key)
      if (lines) lines.push(line)
      else byKey.set(key, [line])
    }
  const keys = [...byKey.keys()].sort()
  const behind = keys.findIndex((key) => key > PAID)
  const before = behind < 0 ? keys : keys.slice(0, behind)
  for (const key of before) for (const line of byKey.get(key)!) yield [key, line]
  yield* paidLines(blocks)
  for (const key of keys.slice(before.length)) for (const line of byKey.get(key)!) yield [key, line]
}
