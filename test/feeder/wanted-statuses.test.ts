// Order statuses of wanted wallets and coins are found without parsing the others, and found as parsing would.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvents } from '../../src/feeder/streams.ts'
import { wantedStatuses } from '../../src/feeder/wanted-statuses.ts'
import { drained } from './drained.ts'

const wallet = (n: number) => `0x${String(n).repeat(40)}`
const TIME = '2026-05-05T17:39:13.024084407'
const row = (user: string, cloid: unknown = null, coin = 'BTC') => ({
  time: TIME,
  user,
  hash: null,
  builder: null,
  status: 'open',
  order: { coin, children: [{ coin, oid: 1, children: [] }], cloid },
})
const line = (events: unknown[], space = 0) =>
  JSON.stringify({ local_time: TIME, block_time: TIME, block_number: 7, events }, null, space)

// FEED-32, FEED-35
test('law: whatever stands in a line, the answer is that of parsing it all', () => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record({ user: fc.constant(wallet(1)), time: fc.constant(TIME) }),
    fc.record({ time: fc.constantFrom(TIME, 7), user: fc.constantFrom(wallet(1), null) }, { requiredKeys: [] }),
    fc.record({
      time: fc.constant(TIME),
      user: fc.constant(wallet(2)),
      builder: fc.constantFrom(null, { order: { coin: 'BTC' } }, { order: 1 }),
      order: fc.constantFrom(null, 'BTC', { oid: 1, coin: 'BTC' }, { coin: 'ETH', more: { order: {} } }, { coin: 7 }),
    }),
  )
  const cloid = fc.constantFrom(null, '0x0d', `},{"time":"${TIME}","user":"${wallet(1)}"`, ']}')
  const usual = fc
    .tuple(fc.constantFrom(1, 2, 3).map(wallet), cloid, fc.constantFrom('BTC', 'ETH', '@1', 'a"\\'))
    .map(([user, one, coin]) => row(user, one, coin))
  const events = fc.array(fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: odd }))
  const wanted = fc.record({
    wallets: fc.constantFrom([], [1], [1, 3]).map((some) => new Set(some.map(wallet))),
    coins: fc.constantFrom([], ['BTC'], ['@1', 'a"\\', 'X']).map((some) => new Set(some)),
  })
  fc.assert(
    fc.property(events, wanted, fc.constantFrom(0, 1), (some, wants, space) => {
      const text = line(some, space)
      const read = readEvents(text)
      if (!read.ok) throw new Error(read.error)
      const all = read.value as ({ user?: string; order?: { coin?: string } | null } | null)[]
      const ofCoins = [...wants.coins]
        .map((coin) => [coin, all.filter((event) => event?.order?.coin === coin)] as const)
        .filter(([, rows]) => rows.length > 0)
      expect(drained(wantedStatuses(text, wants))).toEqual({
        ok: true,
        value: { ofWallets: all.filter((event) => wants.wallets.has(event?.user ?? '')), ofCoins: new Map(ofCoins) },
      })
    }),
  )
})

test('a line that cannot be read is named, as far as it is looked at', () => {
  const wants = { wallets: new Set([wallet(1)]), coins: new Set<string>() }
  for (const text of [
    '',
    'spoilt',
    line([row(wallet(1))]).slice(0, -40),
    line([row(wallet(1))]).replace('null', 'nul'),
  ])
    expect(drained(wantedStatuses(text, wants))).toMatchObject({ ok: false })
})

test('a long line rests between steps', () => {
  const text = line(Array.from({ length: 6_000 }, () => row(wallet(1))))
  const steps = wantedStatuses(text, { wallets: new Set([wallet(1)]), coins: new Set() })
  let rests = 0
  while (!steps.next().done) rests++
  expect(rests).toBe(Math.floor(text.length / (512 * 1024)))
})
