// The blocks of a capture produce exactly the golden order books and level changes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openReplay } from '../../src/feeder/replay.node.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { CAPTURE, WIRES } from '../fixtures/wire.ts'
import { hashOf } from '../kit/book-hash.ts'
import { recount } from './recount.ts'

const summary = (levels: Levels) => ({
  levels_per_side: [levels[0].length, levels[1].length],
  sha256: hashOf(levels),
  top20: [levels[0].slice(0, 20), levels[1].slice(0, 20)],
})

describe.each(WIRES)('a replay of the %s blocks', (_, wire, isAbsent) => {
  test.skipIf(isAbsent)('equals the golden books', async () => {
    const golden = recount(wire)
    const replay = await openReplay(join(wire, CAPTURE))
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

const [, [, RECORDED, isAbsent]] = WIRES
test.skipIf(isAbsent)('the recount of the recorded blocks is the golden file beside them', () => {
  expect(recount(RECORDED)).toEqual(JSON.parse(readFileSync(join(RECORDED, CAPTURE, 'l2-golden.json'), 'utf8')))
})
