// An upstream over scripted sources on a test clock.

import type { Budget } from '../../src/upstream/leased-budget.ts'
import type { SourceReply } from '../../src/upstream/outcome.ts'
import type { RoutedSource } from '../../src/upstream/routed-upstream.ts'
import { RoutedUpstream } from '../../src/upstream/routed-upstream.ts'
import { SourceHealth } from '../../src/upstream/source-health.ts'
import { LAG_TYPE, SourceLag } from '../../src/upstream/source-lag.ts'
import { parseSources, sourcesFor } from '../../src/upstream/sources.ts'

export const answer = (text: string): SourceReply => ({ status: 200, retryAfter: null, text })
export const status = (code: number, retryAfter: string | null = null): SourceReply => ({
  status: code,
  retryAfter,
  text: 'x',
})

export interface FakeSource {
  readonly name: string
  readonly types?: readonly string[]
  readonly maxLagMs?: number
  readonly timeoutMs?: number
  readonly budget?: Budget
  readonly perMinute?: number
  readonly reply: (type: string, body: string) => SourceReply | Promise<SourceReply>
}

/** `sent` holds `name type` of every request except clock checks, which are in `looks`. */
export function fakeUpstream(
  fakes: readonly FakeSource[],
  exampleOf: (type: string) => string | undefined = (type) => JSON.stringify({ type }),
) {
  const state = { now: 0, sent: [] as string[], looks: [] as string[], slept: [] as number[], random: 0.5 }
  const background: Promise<unknown>[] = []
  const configs = fakes.map(({ name, types, maxLagMs, timeoutMs, perMinute }) => ({
    name,
    url: `http://${name}`,
    types,
    maxLagMs,
    timeoutMs,
    budget: perMinute,
  }))
  const parsed = parseSources(JSON.stringify(configs))
  if (!parsed.ok) throw new Error(parsed.error)
  const sources = parsed.value.map((config, i): RoutedSource => {
    const asked = sourcesFor([config], LAG_TYPE).length > 0
    const budget = fakes[i]!.budget ?? null
    return {
      config,
      send: async (body, timeoutMs) => {
        const { name } = config
        const { type } = JSON.parse(body) as { type: string }
        if (type === LAG_TYPE) state.looks.push(name)
        else state.sent.push(`${name} ${type}`)
        const sent = await fakes[i]!.reply(type, body)
        if ('failed' in sent && sent.failed === 'timeout') state.now += timeoutMs
        return sent
      },
      health: new SourceHealth(exampleOf),
      lag: new SourceLag({ isRouted: asked, isBudgeted: budget !== null }),
      budget,
    }
  })
  const upstream = new RoutedUpstream({
    sources,
    now: () => state.now,
    random: () => state.random,
    sleep: async (ms) => {
      state.slept.push(ms)
      state.now += ms
    },
    background: (work) => void background.push(work),
  })
  /** Sends a request, and waits for background work. */
  const ask = async (type: string, more: object = {}) => {
    const result = await upstream.request(type, JSON.stringify({ type, ...more }))
    await Promise.all(background.splice(0))
    return result
  }
  return { state, upstream, sources, ask, background }
}
