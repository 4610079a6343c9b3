// How long an isolate takes to evaluate its Worker, before it can answer anything: a step of `npm run check`. Time on a shared
// machine says little, so each Worker is compared with a bare script in the same run: CPU time of the main thread, the
// least of several processes each. `npm run wrangler -- check startup` has a profile of what a Worker does.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from '../src/cli/launch/build.node.ts'

/**
 * Multiples of the bare script, which takes some 46 ms on two idle cores. The goals are 80 and 120 ms. On an idle machine
 * the gateway takes 1.68 times the bare script; on a slower and busy one, 2.1 times.
 */
const BUDGETS = { gateway: 2.4, live: 2.4 }
const CLASSES = 1_000
/** Until the least times settle. A Worker that is over its budget gets all rounds. */
const MIN_ROUNDS = 3
const MAX_ROUNDS = 12

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

function startMs(script: string): number {
  // Compiled code would be reused from the cache.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'startup-time.ts'), script]
  return Number(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

/** Multiple of the bare script that the Worker takes. */
function multipleOf(script: string, bare: string, budget: number): number {
  let least = Number.POSITIVE_INFINITY
  let bareLeast = Number.POSITIVE_INFINITY
  for (let round = 0; round < MAX_ROUNDS; round++) {
    least = Math.min(least, startMs(script))
    bareLeast = Math.min(bareLeast, startMs(bare))
    if (round >= MIN_ROUNDS && least <= budget * bareLeast) break
  }
  return least / bareLeast
}

const root = join(import.meta.dirname, '..')
await build(root)
const folder = mkdtempSync(join(tmpdir(), 'weir-startup-'))
try {
  const bare = join(folder, 'bare.mjs')
  writeFileSync(bare, Array.from({ length: CLASSES }, (_, index) => classText(index)).join(''))
  for (const [part, budget] of Object.entries(BUDGETS)) {
    const multiple = multipleOf(join(root, `dist/${part}/${part}.js`), bare, budget)
    console.log(`${part}: ${multiple.toFixed(2)} times a bare script, of at most ${budget}`)
    if (!(multiple <= budget)) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
