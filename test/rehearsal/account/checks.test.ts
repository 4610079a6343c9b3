// The checks of `npm run rehearse -- --account` against a stand-in: the probe in workerd, and an account that differs.

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare, Response } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAccount, probeAt, probeConfig } from './account.node.ts'
import { type AskProbe, accountChecks } from './checks.ts'

const TOKEN = 'token-of-the-probe'

describe('against a probe', () => {
  let miniflare: Miniflare
  let url: string
  beforeAll(async () => {
    const { compatibility_date: compatibilityDate = '' } = probeConfig(TOKEN)
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'probe.worker.ts'), 'utf8')),
        compatibilityDate,
        bindings: { PROBE_TOKEN: TOKEN },
        durableObjects: { PROBE: { className: 'Probe', useSQLite: true } },
        kvNamespaces: ['KEYS'],
        d1Databases: ['ACCOUNTS'],
        r2Buckets: ['ARCHIVE'],
        outboundService: () => new Response('fl=1\ncolo=TST\n'),
        cf: false,
        telemetry: { enabled: false },
      }),
    )
    url = (await miniflare.ready).origin
  })
  afterAll(() => miniflare?.dispose())

  it('reports every check, and finds that workerd alone refuses no write of KV', async () => {
    const lines: string[] = []
    const checks = await checkAccount(probeAt(url, TOKEN), (line) => lines.push(line))
    expect(lines).toHaveLength(checks.length)
    expect(checks.filter(({ state }) => state === 'failed')).toEqual([])
    const byName = Object.fromEntries(checks.map(({ name, ...check }) => [name, check]))
    expect(byName['place of apac-ne']).toMatchObject({ state: 'reported', text: expect.stringMatching(/^TST, /) })
    expect(byName['objects in an isolate']!.text).toContain('6 objects of one class and place run in 1 isolates')
    expect(byName['KV: writes of one key']).toMatchObject({ state: 'differs' })
    expect(byName['KV: a write after a cached miss']).toMatchObject({ state: 'as assumed' })
  })

  it('needs its token', async () => {
    const checks = await checkAccount(probeAt(url, 'another'), () => {})
    expect(new Set(checks.map(({ state }) => state))).toEqual(new Set(['failed']))
    expect(checks[0]!.text).toContain('401')
  })
})

describe('the outcome', () => {
  const run = async (answers: Readonly<Record<string, unknown>>, isFresh = () => true) => {
    let nowMs = 0
    const ask: AskProbe = async (check) => {
      if (check === 'kv-read') return isFresh() ? 'new' : null
      if (!(check in answers)) throw new Error(`no ${check}`)
      return answers[check]
    }
    const sleep = async (ms: number) => {
      nowMs += ms
    }
    const checks = await accountChecks(ask, { sleep, nowMs: () => nowMs, hints: [], calls: 3 }, () => {})
    return Object.fromEntries(checks.map(({ name, state }) => [name, state]))
  }

  it('is as assumed, or differs', async () => {
    expect(await run({ commits: [5, 9, 15], 'kv-writes': ['accepted', '429'], 'kv-write': null })).toMatchObject({
      'replication of a write': 'as assumed',
      'KV: writes of one key': 'as assumed',
      'KV: a write after a cached miss': 'as assumed',
      D1: 'failed',
    })
    expect(await run({ commits: [30, 30, 400], 'kv-write': null }, () => false)).toMatchObject({
      'replication of a write': 'differs',
      'KV: writes of one key': 'failed',
      'KV: a write after a cached miss': 'differs',
    })
  })
})
