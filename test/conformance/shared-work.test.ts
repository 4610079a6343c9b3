// A request that waits for the work of another one is continued as itself, also by optimized code: what it creates after
// the wait, such as its response, must be its own. workerd fails the request otherwise.

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'

const ROUNDS = 5
/** Flags of workerd, which Miniflare reads when a runtime starts. */
const FLAGS = 'MINIFLARE_WORKERD_V8_FLAGS'

/** The first caller of a round starts the work, in a promise of no request, as optimized code makes it; the others wait. */
const WORKER = `
import { orFallback } from './deadline.js'
const after = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
const unowned = Array.from({ length: ${ROUNDS} }, () => Promise.withResolvers())
let work = null
async function optimize() {
  %PrepareFunctionForOptimization(orFallback);
  for (let i = 0; i < 100; i++) await orFallback(Promise.resolve(i), 1_000, null, after);
  %OptimizeFunctionOnNextCall(orFallback);
  await orFallback(Promise.resolve(0), 1_000, null, after);
}
export default {
  async fetch() {
    if (work !== null) return new Response(await orFallback(work, 5_000, 'late', after))
    const { promise, resolve } = unowned.pop()
    work = promise
    await optimize()
    await new Promise((done) => setTimeout(done, 100))
    work = null
    resolve('shared')
    return new Response('own')
  },
}`

let miniflare: Miniflare
beforeAll(async () => {
  const { compatibility_date: compatibilityDate } = unstable_readConfig({ config: 'wrangler.toml' })
  const before = process.env[FLAGS]
  process.env[FLAGS] = '--allow-natives-syntax'
  const { emitWarning } = process
  process.emitWarning = () => {}
  const deadline = stripTypeScriptTypes(readFileSync('src/core/deadline.ts', 'utf8'))
  process.emitWarning = emitWarning
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'shared-work',
      ...(compatibilityDate && { compatibilityDate }),
      modules: [
        { type: 'ESModule', path: 'main.js', contents: WORKER },
        { type: 'ESModule', path: 'deadline.js', contents: deadline },
      ],
    }),
  )
  await miniflare.ready
  if (before === undefined) delete process.env[FLAGS]
  else process.env[FLAGS] = before
})
afterAll(() => miniflare?.dispose())

it('answers callers that wait for the work of another request', async () => {
  const url = await miniflare.ready
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const answer = await fetch(url)
        return answer.ok ? await answer.text() : answer.status
      }),
    )
    expect(answers.sort()).toEqual(['own', 'shared', 'shared', 'shared'])
  }
})
