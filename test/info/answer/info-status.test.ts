// Sources and routes in `GET /status`, and completeness of the ready configuration in
// docs/operators/guides/configure-sources.md.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { infoStatus } from '../../../src/info/answer/info-status.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { upstreamTypesOf } from '../../../src/info/query.ts'
import { parseSources, sourcesFor } from '../../../src/upstream/sources.ts'
import { answer, fakeUpstream, status } from '../../upstream/fake-sources.ts'
import { createWorld } from './service-world.ts'

const SOURCES_GUIDE = readFileSync(
  new URL('../../../docs/operators/guides/configure-sources.md', import.meta.url),
  'utf8',
)

describe('GET /status', () => {
  it('shows the health of each source and the route of each type', async () => {
    let node = answer('[]')
    const { state, upstream, ask } = fakeUpstream([
      { name: 'node', types: ['meta', 'clearinghouseState', 'spotClearinghouseState'], reply: () => node },
      { name: 'public', reply: (type) => (type === 'exchangeStatus' ? answer(`{"time":${state.now}}`) : answer('1')) },
    ])
    await ask('meta')
    const well = await infoStatus(upstream, state.now, false)
    expect(well.sources).toMatchObject([
      { name: 'node', state: 'ok', retryInMs: 0, lastSuccessMs: 0, lastFailure: null, medianMs: 0, lagMs: null },
      { name: 'public', state: 'ok', lagMs: 0, late: false, budget: null },
    ])
    expect(well.routes).toMatchObject({
      meta: { now: ['node'], next: ['public'] },
      userFees: { now: ['public'], next: [] },
      portfolioState: { now: ['node', 'public'], next: [] },
      batchClearinghouseState: { now: ['node'], next: ['public'] },
      l2Book: { now: ['own books'], next: [] },
      builderFills: { now: ['own history'], next: [] },
      recentTrades: { now: ['own history', 'public'], next: [] },
    })
    node = status(429, '7')
    await ask('meta')
    const { sources, routes } = await infoStatus(upstream, state.now, false)
    expect(sources[0]).toMatchObject({
      state: 'resting',
      retryInMs: 7_000,
      lastFailure: { atMs: state.now, type: 'meta', reason: 'busy' },
    })
    expect(routes.meta).toEqual({ now: ['public'], next: [] })
    expect(Object.keys(routes)).toEqual(CATALOGUE.map(({ type }) => type))
  })

  it('shows names, never URLs, which may contain keys', async () => {
    const { state, upstream } = fakeUpstream([{ name: 'public', reply: () => answer('1') }])
    expect(JSON.stringify(await infoStatus(upstream, state.now, false))).not.toContain('http')
  })

  it('shows the remaining budget, or null if its object is unreachable', async () => {
    const budget = (left: { weight: number; atMs: number } | null) => ({
      take: async () => ({ paid: true as const, settle: () => {} }),
      remaining: async () => left,
    })
    const { state, upstream } = fakeUpstream([
      { name: 'a', budget: budget({ weight: 42, atMs: 0 }), perMinute: 1_200, reply: () => answer('1') },
      { name: 'b', budget: budget(null), perMinute: 600, reply: () => answer('1') },
    ])
    const { sources } = await infoStatus(upstream, state.now, false)
    expect(sources.map((source) => source.budget)).toEqual([
      { perMinute: 1_200, left: 42 },
      { perMinute: 600, left: null },
    ])
  })
})

describe('composition of responses', () => {
  it.each(CATALOGUE.map((query) => [query.type, query] as const))('%s names what it asks', async (_, query) => {
    const world = createWorld()
    await world.send({ type: query.type, ...query.example.request })
    const asked = world.asked.map((body) => (JSON.parse(body) as { type: string }).type)
    expect([...new Set(asked)].sort()).toEqual([...upstreamTypesOf(query)].sort())
  })
})

describe('the documented configuration: a node with the public API as fallback', () => {
  const text = /^UPSTREAMS = '''\n(\[\{"name":"node".*?)'''/ms.exec(SOURCES_GUIDE)?.[1]
  const sources = parseSources(text ?? '')

  it('is valid and has a budget for the public API', () => {
    expect(sources).toMatchObject({ ok: true, value: [{ name: 'node' }, { name: 'public', budget: 1_200 }] })
  })

  it('routes every type of the catalog, including those of wildcards', () => {
    if (!sources.ok) throw new Error(sources.error)
    const types = ['perpDexs', ...CATALOGUE.flatMap(upstreamTypesOf)]
    expect(types.filter((type) => sourcesFor(sources.value, type).length === 0)).toEqual([])
  })

  it('names only existing types', () => {
    if (!sources.ok) throw new Error(sources.error)
    const known = new Set(CATALOGUE.map(({ type }) => type))
    expect(sources.value.flatMap(({ types }) => types ?? []).filter((type) => !known.has(type))).toEqual([])
  })
})
