// How long an isolate takes to evaluate its Worker, before it can answer anything. Time on a shared machine says little, so each
// Worker is compared with a bare script in the same run: CPU time of the main thread, the least of several processes each.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT, scratch } from '../kit/program.ts'

/**
 * Multiples of the bare script, which takes some 46 ms on two idle cores: 80 and 92 ms. `wrangler check startup` has a profile of
 * what a Worker does.
 */
const BUDGETS = { gateway: 1.75, live: 2 }
const CLASSES = 1_000
/** Until the least times settle. A Worker that is over its budget gets all rounds. */
const MIN_ROUNDS = 3
const MAX_ROUNDS = 12
const CEILING_MS = 300_000

const folder = scratch()
const bare = join(folder.path, 'bare.mjs')

/** Like a schema library at its start: classes, closures and properties that run once. */
const classText = (index: number) => `
class Class${index} {
  constructor(value) {
    this.value = value
    Object.defineProperty(this, 'inner', { value: { value, traits: new Set() }, enumerable: false })
    this.inner.traits.add('Class${index}')
  }
  get size() { return this.inner.traits.size + ${index} }
  with(more) { return new Class${index}({ ...this.value, ...more }) }
}
export const value${index} = new Class${index}({ a: ${index} }).with({ b: 'b' }).size
`

beforeAll(() => writeFileSync(bare, Array.from({ length: CLASSES }, (_, index) => classText(index)).join('')))
afterAll(() => folder.remove())

function startMs(script: string): number {
  // Compiled code would be reused from the cache.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'startup/evaluate.node.ts'), script]
  return Number(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

it.each(Object.entries(BUDGETS))(
  'the Worker %s starts within %d times a bare script',
  (part, budget) => {
    let least = Number.POSITIVE_INFINITY
    let bareLeast = Number.POSITIVE_INFINITY
    for (let round = 0; round < MAX_ROUNDS; round++) {
      least = Math.min(least, startMs(join(ROOT, `dist/${part}/${part}.js`)))
      bareLeast = Math.min(bareLeast, startMs(bare))
      if (round >= MIN_ROUNDS && least <= budget * bareLeast) break
    }
    expect(bareLeast).toBeGreaterThan(0)
    expect(least / bareLeast, `${least} ms, bare ${bareLeast} ms`).toBeLessThanOrEqual(budget)
  },
  CEILING_MS,
)
