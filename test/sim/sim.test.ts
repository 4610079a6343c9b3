// The whole product in virtual time: the invariants hold over some seeds, and deliberate breakages are detected.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BREAKAGES } from './breakages.ts'

const MAIN = join(import.meta.dirname, 'main.node.ts')
/** Many short runs, in which faults lie close, and a few long ones; all go beside one another. `npm run sim` has more. */
const RUNS = [
  { from: 1, seeds: 25, blocks: 20 },
  { from: 26, seeds: 25, blocks: 20 },
  { from: 1, seeds: 4, blocks: 300 },
]
/** Each breakage is noticed within so many. */
const BROKEN_SEEDS = 100
const MOST_MS = 900_000

function sim(...args: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    )
  })
}

test.concurrent.each(RUNS)(
  'all laws hold under faults: $seeds seeds from $from on, of $blocks blocks',
  { timeout: MOST_MS },
  async ({ from, seeds, blocks }) => {
    const { code, said } = await sim('--seeds', String(seeds), '--from', String(from), '--blocks', String(blocks))
    expect(said).toContain('all holds')
    expect(code).toBe(0)
  },
)

/** A seed that notices it today: another one would only take longer. */
const NOTICING: Record<string, number> = {
  'replay-bound': 21,
  'unchecked-absence': 8,
  'lost-end': 5,
  'forgotten-report': 2,
}
const BROKEN = Object.keys(BREAKAGES).map((what) => ({ what, from: NOTICING[what] ?? 1 }))
test.concurrent.each(BROKEN)(
  'what is broken on purpose is noticed: $what',
  { timeout: MOST_MS },
  async ({ what, from }) => {
    const { code, said } = await sim('--seeds', String(BROKEN_SEEDS), '--from', String(from), '--break', what)
    expect(said).toMatch(/^VIOLATION in seed \d+: /m)
    expect(said).toMatch(/^see it again: npm run sim -- --seeds 1 --from \d+ --blocks 300 --break /m)
    expect(code).toBe(1)
  },
)

test('a line that makes no sense is refused before anything runs', async () => {
  const { code, said } = await sim('--seeds', 'many')
  expect(said).toMatch(/must be a whole number from 1 to/)
  expect(code).toBe(2)
})
