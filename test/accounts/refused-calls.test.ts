// Invariants of src/accounts/refused-calls.ts.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RefusalBuffer, type RefusedCall } from '../../src/accounts/refused-calls.ts'
import { type Failure, failureMessage } from '../../src/core/failure.ts'
import { keyHashOf } from '../../src/core/ids.ts'

const NOW = 1_790_000_000_000
const HOUR = NOW - (NOW % 3_600_000)
const TOO_MANY: Failure = { kind: 'rate_limited', retryAfterMs: 1000 }

const call = (account: string, failure: Failure = TOO_MANY, type = 'l2Book'): RefusedCall => ({
  caller: { account, keyHash: keyHashOf('a1') },
  requestId: 'req_1',
  product: 'info',
  type,
  failure,
})

describe('refused calls', () => {
  it('become rows and counts, and are returned only once', () => {
    const calls = new RefusalBuffer()
    expect(calls.take()).toBeNull()
    calls.record(call('acme'), NOW)
    expect(calls.take()).toEqual({
      rows: [
        {
          at: NOW,
          requestId: 'req_1',
          account: 'acme',
          keyHash: 'a1',
          product: 'info',
          type: 'l2Book',
          code: 'rate_limited',
          message: failureMessage(TOO_MANY),
        },
      ],
      counts: [{ hour: HOUR, account: 'acme', code: 'rate_limited', count: 1 }],
    })
    expect(calls.take()).toBeNull()
  })

  it('are all counted, and a flood adds one row per second', () => {
    const calls = new RefusalBuffer()
    for (let i = 0; i < 10_000; i++) calls.record(call('flood'), NOW + Math.floor(i / 1000))
    calls.record(call('quiet'), NOW)
    const batch = calls.take()!
    expect(batch.rows.filter(({ account }) => account === 'flood')).toHaveLength(50)
    expect(batch.rows.filter(({ account }) => account === 'quiet')).toHaveLength(1)
    expect(batch.counts.map(({ account, count }) => [account, count])).toEqual([
      ['flood', 10_000],
      ['quiet', 1],
    ])
    for (let i = 0; i < 10_000; i++) calls.record(call('flood'), NOW + 10_000)
    expect(calls.take()?.rows).toHaveLength(10)
  })

  it('are bounded across all accounts, and are put back after a failed save', () => {
    const calls = new RefusalBuffer()
    for (let i = 0; i < 20_000; i++) calls.record(call(`account${i}`), NOW)
    const batch = calls.take()!
    expect([batch.rows.length, batch.counts.length]).toEqual([500, 5000])
    calls.record(call('account0'), NOW + 2_000)
    calls.giveBack(batch)
    const again = calls.take()!
    expect([again.rows.length, again.counts.length]).toEqual([500, 5000])
    expect(again.counts.find(({ account }) => account === 'account0')?.count).toBe(2)
    expect(again.rows.at(-1)?.at).toBe(NOW + 2_000)
  })

  it('contain no incomplete character, and only the displayable part of a key', () => {
    const calls = new RefusalBuffer()
    const type = `\u0001${'a'.repeat(57)}\u{1F980}`
    calls.record(call('acme', { kind: 'unknown_type', type: 'cqt_9fKxWq2TSecretSecretSecret', types: [] }, type), NOW)
    const row = calls.take()!.rows[0]!
    expect(row.type).toBe(`\\u0001${'a'.repeat(57)}`)
    expect(row.message).toContain('"cqt_9fKxWq2T…"')
  })

  it('contain no control or bidirectional characters, and no long strings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        const calls = new RefusalBuffer()
        calls.record(call('acme', { kind: 'unknown_type', type: text, types: [] }, text), NOW)
        const { type, message } = calls.take()!.rows[0]!
        expect(`${type}${message}`).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
        expect(type.length <= 64 && message.length <= 300).toBe(true)
      }),
    )
  })
})
