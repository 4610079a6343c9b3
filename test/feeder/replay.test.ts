// The recorded blocks of the real exchange give exactly the golden books and level changes.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { canonicalBook } from '../../src/book/canonical.ts'
import type { Levels } from '../../src/feed/block.ts'
import { openReplay } from '../../src/feeder/replay.node.ts'

const FOLDER = '../shared/wire/samples/node-capture'
const present = existsSync(`${FOLDER}/l2-golden.json`)

interface Golden {
  coin: string
  snapshot_height: number
  last_height: number
  snapshot: GoldenBook
  end: GoldenBook
  diffs: { block_height: number; block_time: string; levels: Levels }[]
}
interface GoldenBook {
  levels_per_side: [number, number]
  sha256: string
  top20: Levels
}

const summary = (levels: Levels): GoldenBook => ({
  levels_per_side: [levels[0].length, levels[1].length],
  sha256: createHash('sha256').update(canonicalBook(levels)).digest('hex'),
  top20: [levels[0].slice(0, 20), levels[1].slice(0, 20)],
})

describe.skipIf(!present)(`replay of ${FOLDER}${present ? '' : ' (skipped: the samples are not there)'}`, () => {
  test('equals the golden file whole', async () => {
    const golden = JSON.parse(readFileSync(`${FOLDER}/l2-golden.json`, 'utf8')) as Golden
    const replay = await openReplay(FOLDER)
    expect(replay.seed.height).toBe(golden.snapshot_height)
    expect(replay.seed.books.map(({ coin }) => coin)).toEqual([golden.coin])
    expect(summary(replay.seed.books[0]!.levels)).toEqual(golden.snapshot)
    const changes: unknown[] = []
    let fills = 0
    for await (const block of replay.blocks()) {
      expect(block.books!.length).toBeLessThanOrEqual(1)
      const time = new Date(block.time).toISOString().slice(0, 23)
      changes.push({ block_height: block.height, time, levels: block.books![0]?.levels ?? [[], []] })
      fills += block.fills.length
    }
    const wanted = golden.diffs.map(({ block_height, block_time, levels }) => ({
      block_height,
      time: block_time.slice(0, 23),
      levels,
    }))
    expect(changes).toEqual(wanted)
    expect(wanted.at(-1)!.block_height).toBe(golden.last_height)
    expect(summary(replay.books.levels(golden.coin))).toEqual(golden.end)
    expect(fills).toBeGreaterThan(0)
  })
})
