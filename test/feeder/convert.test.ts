// Events of the node's lines are converted to events of a block. Unknown ones are skipped and counted by name.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ok } from '../../src/core/result.ts'
import { type BlockEvents, convertEvents } from '../../src/feeder/convert.ts'
import { readFunding, readPayments, shortenLine } from '../../src/feeder/funding.ts'
import { filterStatuses } from '../../src/feeder/status-filter.ts'
import { nodeTimeMs, readEvents, readLineHead } from '../../src/feeder/streams.ts'
import { Block } from '../../src/protocol/feed/block.ts'
import { MISC_EVENTS, WIRES } from '../fixtures/wire.ts'
import { fillWith } from '../kit/fills.ts'
import { drained } from './drained.ts'

const events = (some: Partial<BlockEvents>): BlockEvents => {
  return { fills: [], misc: [], twaps: null, statuses: null, ...some }
}
const never = (reason: string) => {
  throw new Error(reason)
}

describe('funding', () => {
  // FEED-12
  test('is the amount that a long pays per unit; rounding errors cancel out', () => {
    const deltas = [
      { coin: 'BTC', funding_amount: '-1.000001', szi: '2.0' },
      { coin: 'BTC', funding_amount: '0.499999', szi: '-1.0' },
      { coin: 'ZEC', funding_amount: '9.33', szi: '3.0' },
      { coin: 'ETH', funding_amount: '0.0', szi: '0.0' },
    ]
    expect(readFunding({ deltas })).toEqual(
      ok([
        { coin: 'BTC', perUnit: '0.5' },
        { coin: 'ZEC', perUnit: '-3.11' },
      ]),
    )
  })

  test.each([
    [null, 'deltas must be a list'],
    [{ deltas: [{ coin: 'BTC', funding_amount: '1e5', szi: '1.0' }] }, 'deltas.0.funding_amount'],
    [{ deltas: [{ coin: 'BTC', funding_amount: '1.0', szi: 1 }] }, 'deltas.0.szi'],
    [{ deltas: [{ coin: '', funding_amount: '1.0', szi: '1.0' }] }, 'deltas.0.coin'],
    [{ deltas: [null] }, 'deltas.0.funding_amount'],
  ])('%j is rejected by field', (payload, why) => {
    const read = readFunding(payload)
    expect(read.ok ? '' : read.error).toContain(why)
  })

  test('invariant: a shortened line gives the same events as the full line, whatever it contains', () => {
    const decimal = fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(999999)).map(([a, b]) => `${a}.${b}`)
    const delta = fc.record({
      user: fc.constantFrom(`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`),
      funding_rate: fc.oneof({ weight: 50, arbitrary: decimal }, { weight: 1, arbitrary: fc.constant('x') }),
      coin: fc.constantFrom('BTC', 'ETH', 'xyz:GOLD'),
      funding_amount: fc.oneof({ weight: 50, arbitrary: decimal }, { weight: 1, arbitrary: fc.constant('x') }),
      szi: fc.oneof(decimal, fc.constant('0.0')),
    })
    const event = fc.oneof(
      fc.record({
        time: fc.constantFrom('2026-06-11T01:00:02.896', 'x'),
        inner: fc.record({ Funding: fc.record({ deltas: fc.array(delta) }) }),
      }),
      fc.constantFrom({ inner: { CDeposit: { user: '0x1' } } }, null, 7),
    )
    fc.assert(
      fc.property(fc.array(event), (all) => {
        const text = JSON.stringify({ block_time: 't', block_number: 1, events: all })
        const short = JSON.parse(shortenLine(text))
        expect({ ...short, events: null }).toEqual({ block_time: 't', block_number: 1, events: null })
        for (const [index, one] of all.entries()) {
          const inner = (short.events[index] as { inner?: { Funding?: unknown } } | null)?.inner
          if (one !== null && typeof one === 'object' && 'Funding' in one.inner) {
            expect(readFunding(inner?.Funding)).toEqual(readFunding(one.inner.Funding))
            const timeMs = nodeTimeMs('time' in one ? one.time : '')
            const [paid, whole] = [inner?.Funding, one.inner.Funding].map((all) => readPayments(all, timeMs))
            expect(paid!.ok ? paid : false).toEqual(whole!.ok ? whole : false)
          } else expect(short.events[index]).toEqual(one)
        }
      }),
    )
    expect(shortenLine('{"half')).toBe('{"half')
  })

  test('a partial line of a killed node before a long line is skipped', () => {
    const whole = '{"local_time":"x","events":[]}'
    expect(shortenLine(`{"local_time":"w","block${whole}`)).toBe(whole)
  })
})

const BLOCK_MS = 1781139602896

describe('misc events', () => {
  const time = '2026-06-11T01:00:02.896899363'
  const user = `0x${'1'.repeat(40)}`
  const hash = `0x${'2'.repeat(64)}`
  const delta = { type: 'deposit', usdc: '5.0', extra: { kept: true } }

  test('are sorted into ledger, funding, and the rest as written', () => {
    const other = { time, hash, inner: { CDeposit: { user, amount: '1.0' } } }
    const misc = [
      { time, hash, inner: { LedgerUpdate: { users: [user], delta } } },
      {
        time,
        hash,
        inner: { Funding: { deltas: [{ user, coin: 'BTC', funding_amount: '-1.0', szi: '4.0', funding_rate: '0' }] } },
      },
      other,
    ]
    expect(convertEvents(events({ misc }), BLOCK_MS, never)).toEqual({
      fills: [],
      ledger: [{ users: [user], time: BLOCK_MS, hash, delta }],
      funding: [{ coin: 'BTC', perUnit: '0.25' }],
      payments: [`${user} 1781139602896 BTC -1.0 4.0 0`],
      events: [other],
    })
  })

  // FEED-12
  test('funding of an earlier block keeps its time', () => {
    const deltas = [{ user, coin: 'BTC', funding_amount: '-1.0', szi: '4.0', funding_rate: '0' }]
    const misc = [{ time, hash, inner: { Funding: { deltas } } }]
    const late = convertEvents(events({ misc }), BLOCK_MS + 70, never)
    expect(late.funding).toEqual([{ coin: 'BTC', perUnit: '0.25', time: BLOCK_MS }])
  })

  // FEED-38
  test('with an invalid user have no payments at all', () => {
    const good = { user, coin: 'BTC', funding_amount: '-1.0', szi: '4.0', funding_rate: '0' }
    const refused: string[] = []
    const funding = (delta: object) => ({ time, hash, inner: { Funding: { deltas: [delta] } } })
    const misc = [funding(good), funding({ ...good, user: 'me' })]
    const parts = convertEvents(events({ misc }), BLOCK_MS, (why) => refused.push(why))
    expect([parts.funding.length, parts.payments]).toEqual([2, null])
    expect(refused).toEqual([
      'payments of funding: "me 1781139602896 BTC -1.0 4.0 0" must have a user, a time, coins and decimals',
    ])
    const unread = convertEvents(events({ misc: [funding({ ...good, szi: '1e-7' })] }), BLOCK_MS, () => {})
    expect([unread.funding, unread.payments]).toEqual([[], null])
    expect(convertEvents(events({ misc: null }), BLOCK_MS, never).payments).toBeNull()
    expect(convertEvents(events({ misc: [] }), BLOCK_MS, never)).not.toHaveProperty('payments')
  })

  test('with an unusable shape are reported and skipped', () => {
    const refused: string[] = []
    const misc = [{ time, hash, inner: { LedgerUpdate: { users: ['me'], delta } } }]
    const parts = convertEvents(events({ misc, fills: [[user, { coin: 'BTC' }]] }), BLOCK_MS, (why) =>
      refused.push(why),
    )
    expect(parts).toEqual({ fills: [], ledger: [], funding: [] })
    expect(refused).toHaveLength(2)
    expect(refused.join()).toMatch(/fill: 1\.px.*ledger update: users\.0/)
  })
})

// Field test T7
test('no kind of fill is refused', () => {
  const user = `0x${'1'.repeat(40)}`
  const fills = [
    fillWith({ coin: '#40', px: '0.0', dir: 'Settlement' }),
    fillWith({ coin: '#41', px: '0.0', dir: 'Negate Outcome' }),
    fillWith({ dir: 'Auto-Deleveraging' }),
    fillWith({ coin: '@1', tid: 0, dir: 'Spot Dust Conversion' }),
    fillWith({ dir: 'A Later Kind' }),
  ].map((fill) => [user, fill])
  const parts = convertEvents(events({ fills }), BLOCK_MS, never)
  expect(parts.fills).toEqual(fills)
  Block.parse({ height: 1, time: 1, books: [], ...parts })
})

test('order statuses are sent as selected', () => {
  const some = events({ statuses: [{ status: 'badAloPxRejected' }] })
  expect(convertEvents(some, BLOCK_MS, never)).toEqual({ fills: [], ledger: [], funding: [], orders: some.statuses })
  expect(convertEvents(events({ statuses: [] }), BLOCK_MS, never)).not.toHaveProperty('orders')
})

describe('lines', () => {
  test('height and time are read without parsing; other lines have neither', () => {
    expect(
      readLineHead('{"local_time":"x","block_time":"2026-05-05T17:39:13.024","block_number":12,"events":['),
    ).toMatchObject({
      height: 12,
      time: '2026-05-05T17:39:13.024',
    })
    expect(readLineHead('{"coin":"BTC"}')).toBeNull()
    expect(readEvents('{"block_number":1').ok).toBe(false)
    expect(readEvents('{"block_number":1,"block_time":"x"}').ok).toBe(false)
  })

  test('times are UTC, with or without a fraction', () => {
    expect(nodeTimeMs('1970-01-01T00:00:00')).toBe(0)
    expect(nodeTimeMs('1970-01-01T00:00:01.002003004')).toBe(1002)
    expect(nodeTimeMs('yesterday')).toBeNaN()
  })
})

describe.each(WIRES)('misc events, %s', (_, wire, isAbsent) => {
  test.skipIf(isAbsent)('are all sorted', () => {
    for (const text of readFileSync(join(wire, MISC_EVENTS), 'utf8').trim().split('\n')) {
      const read = readEvents(text)
      if (!read.ok) throw new Error(read.error)
      const parts = convertEvents(events({ misc: read.value }), BLOCK_MS, never)
      const placed = parts.ledger.length + (parts.events?.length ?? 0) + (parts.funding.length > 0 ? 1 : 0)
      expect(placed).toBe(read.value.length)
      Block.parse({ height: 1, time: 1, books: [], ...parts })
    }
  })
})

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
test('invariant: the result equals that of parsing the whole line, whatever it contains', () => {
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
      const byCoin = [...wants.coins]
        .map((coin) => [coin, all.filter((event) => event?.order?.coin === coin)] as const)
        .filter(([, rows]) => rows.length > 0)
      expect(drained(filterStatuses(text, wants))).toEqual({
        ok: true,
        value: { byWallet: all.filter((event) => wants.wallets.has(event?.user ?? '')), byCoin: new Map(byCoin) },
      })
    }),
  )
})

test('an unreadable line is an error if its unreadable part is read', () => {
  const wants = { wallets: new Set([wallet(1)]), coins: new Set<string>() }
  for (const text of [
    '',
    'spoilt',
    line([row(wallet(1))]).slice(0, -40),
    line([row(wallet(1))]).replace('null', 'nul'),
  ])
    expect(drained(filterStatuses(text, wants))).toMatchObject({ ok: false })
})

test('a long line is processed in steps', () => {
  const text = line(Array.from({ length: 6_000 }, () => row(wallet(1))))
  const steps = filterStatuses(text, { wallets: new Set([wallet(1)]), coins: new Set() })
  let rests = 0
  while (!steps.next().done) rests++
  expect(rests).toBe(Math.floor(text.length / (512 * 1024)))
})
