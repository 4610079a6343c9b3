import { beforeEach, expect, it } from 'vitest'
import { err, ok } from '../../../src/core/result.ts'
import type { History } from '../../../src/info/ports.ts'
import { sharedFills } from '../../../src/info/sources/shared-fills.ts'
import type { FillScope } from '../../../src/protocol/feed/durable-api.ts'

const BTC: FillScope = { by: 'coin', coin: 'BTC' }
let nowMs: number
let asked: unknown[]
let isAway: boolean
let history: Pick<History, 'stored'>
beforeEach(() => {
  nowMs = 10_000
  asked = []
  isAway = false
  const at = { height: 9, time: 9 }
  const held: History['stored'] = async (...of) => {
    asked.push(of)
    return isAway ? err({ kind: 'unavailable', what: 'x' }) : ok({ head: at, since: at, runs: [] })
  }
  history = sharedFills({ stored: held }, () => nowMs)
})

it('a read of a coin is shared for half a second, down to its depth', async () => {
  const first = await history.stored(BTC, 'fills', 5)
  nowMs += 499
  expect(await history.stored(BTC, 'fills', 6)).toEqual(first)
  expect(asked).toEqual([[BTC, 'fills', 5]])
  await history.stored(BTC, 'fills', 4)
  nowMs += 500
  await history.stored(BTC, 'fills', 5)
  nowMs -= 1_000
  await history.stored(BTC, 'fills', 5)
  expect(asked).toHaveLength(4)
})

it('failures, other scopes and ledgers are not shared', async () => {
  isAway = true
  for (let times = 0; times < 2; times++) expect((await history.stored(BTC)).ok).toBe(false)
  const user: FillScope = { by: 'user', address: '0x1' }
  for (const scope of [user, BTC]) for (let times = 0; times < 2; times++) await history.stored(scope, 'ledger')
  expect(asked).toHaveLength(6)
})

it('at most eight coins are cached', async () => {
  for (let coin = 0; coin < 9; coin++) await history.stored({ by: 'coin', coin: String(coin) })
  await history.stored({ by: 'coin', coin: '0' })
  expect(asked).toHaveLength(10)
  await history.stored({ by: 'coin', coin: '8' })
  expect(asked).toHaveLength(10)
})

it('expired entries are removed on the next call', async () => {
  await history.stored(BTC)
  nowMs += 500
  await history.stored({ by: 'coin', coin: 'ETH' })
  // After the clock was set back it would seem new.
  nowMs -= 400
  await history.stored(BTC)
  expect(asked).toHaveLength(3)
})
