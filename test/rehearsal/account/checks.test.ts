// The checks of `npm run rehearse -- --account` with the wrong token, and on accounts that differ.

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAccount, probeAt } from './account.node.ts'
import { type AskProbe, accountChecks } from './checks.ts'
import { startProbe } from './probe.node.ts'

describe('against a probe', () => {
  let probe: Awaited<ReturnType<typeof startProbe>>
  beforeAll(async () => {
    const source = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'probe.worker.ts'), 'utf8'))
    probe = await startProbe(source, { PROBE_TOKEN: 'token-of-the-probe' })
  })
  afterAll(() => probe?.dispose())

  it('needs its token', async () => {
    const checks = await checkAccount(probeAt(probe.url, 'another'), () => {})
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
