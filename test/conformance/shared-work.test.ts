// A request that waits for the work of another one is continued as itself, also by optimized code: what it creates after
// the wait, such as its response, must be its own. workerd fails the request otherwise.

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { unstable_readConfig } from 'wrangler'

const ROUNDS = 5
const WAITING = 3

/**
 * The first caller of a round starts the work, in a promise that belongs to no request, as optimized code makes it. The
 * others wait for it.
 */
const WORKER = `
import { orFallback } from './deadline.js'
const after = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
const unowned = Array.from({ length: ${ROUNDS} }, () => Promise.withResolvers())
let work = null
let waiting = 0
async function optimize() {
  %PrepareFunctionForOptimization(orFallback);
  for (let i = 0; i < 100; i++) await orFallback(Promise.resolve(i), 1_000, null, after);
  %OptimizeFunctionOnNextCall(orFallback);
  await orFallback(Promise.resolve(0), 1_000, null, after);
  return new Response('optimized')
}
async function share() {
  const { promise, resolve } = unowned.pop()
  work = promise
  while (waiting < ${WAITING}) await scheduler.wait(5)
  work = null
  waiting = 0
  resolve('shared')
  return new Response('own')
}
export default {
  async fetch(request) {
    if (request.url.endsWith('/optimize')) return optimize()
    if (work === null) return share()
    waiting++
    return new Response(await orFallback(work, 60_000, 'late', after))
  },
}`

let miniflare: Miniflare
beforeAll(async () => {
  const { compatibility_date: compatibilityDate } = unstable_readConfig({ config: 'wrangler.toml' })
  // Miniflare reads the flags of workerd when it starts one.
  vi.stubEnv('MINIFLARE_WORKERD_V8_FLAGS', '--allow-natives-syntax')
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'shared-work',
      ...(compatibilityDate && { compatibilityDate }),
      modules: [
        { type: 'ESModule', path: 'main.js', contents: WORKER },
        {
          type: 'ESModule',
          path: 'deadline.js',
          contents: stripTypeScriptTypes(readFileSync('src/core/deadline.ts', 'utf8')),
        },
      ],
    }),
  )
  await miniflare.ready.finally(() => vi.unstubAllEnvs())
})
afterAll(() => miniflare?.dispose())

it('answers callers that wait for the work of another request', async () => {
  const url = await miniflare.ready
  const answerOf = async (path: string) => {
    const answer = await fetch(new URL(path, url))
    return answer.ok ? await answer.text() : answer.status
  }
  for (let round = 0; round < ROUNDS; round++) {
    expect(await answerOf('/optimize')).toBe('optimized')
    const answers = await Promise.all(Array.from({ length: 1 + WAITING }, () => answerOf('/')))
    expect(answers.sort()).toEqual(['own', ...Array(WAITING).fill('shared')])
  }
})
