// Funding payments as text: from the node's line to the archive, and out of the log's tail.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fundingEvents, searchPayments } from '../../../src/block-log/retained-payments.ts'
import { encodeBlock } from '../../../src/block-log/segment.ts'
import { UNSIGNED_DECIMAL } from '../../../src/core/decimal.ts'
import { convertEvents } from '../../../src/feeder/convert.ts'
import type { Block } from '../../../src/protocol/feed/block.ts'
import { encodeFrame, PartJoiner } from '../../../src/protocol/feed/parts.ts'
import {
  Payments,
  paymentsOf,
  readPayments,
  withoutPayments,
  withPayments,
} from '../../../src/protocol/feed/payments.ts'
import { BlockFrame } from '../../../src/protocol/feed/protocol.ts'

const USERS = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`)
const TIME = '2026-06-11T01:00:00.039772125'
const TIME_MS = Date.parse('2026-06-11T01:00:00.039Z')
const ODD = '],[]:'
const delta = fc.record({
  user: fc.constantFrom(...USERS),
  coin: fc.constantFrom('BTC', 'xyz:GOLD', ODD, `${USERS[0]}`),
  funding_amount: fc.constantFrom('9.330246', '-4.5', '0.0'),
  szi: fc.constantFrom('280.0', '-2744.84'),
  funding_rate: fc.constantFrom('-0.0000810249', '0.0000308526'),
})
type Delta = typeof delta extends fc.Arbitrary<infer One> ? One : never
const blockWith = (height: number, deltas: readonly Delta[]): Block => {
  const misc = [{ time: TIME, hash: '0x0', inner: { Funding: { deltas } } }]
  const parts = convertEvents({ fills: [], misc, twaps: null, statuses: null }, TIME_MS, (why) => {
    throw new Error(why)
  })
  return { height, time: height, books: [], ...parts }
}
/** As the public API shows a user's payments. */
const shown = (deltas: readonly Delta[], wanted: string) =>
  deltas
    .filter(({ user }) => user === wanted)
    .map(({ coin, funding_amount: usdc, szi, funding_rate: fundingRate }) => {
      return { time: TIME_MS, delta: { type: 'funding', coin, usdc, szi, fundingRate, nSamples: null } }
    })

describe('a payments string', () => {
  it.each([
    [`${USERS[0]} 1 BTC 1 2 3`, true],
    [`${USERS[0]} 1`, false],
    [`${USERS[0]} 1 BTC 1 2`, false],
    [`${USERS[0]} 1 BTC 1 2 3 ETH 1 2`, false],
    [`${USERS[0]} 1 BTC 1e5 2 3`, false],
    [`${USERS[0]} BTC 1 2 3`, false],
    [`${USERS[0]!.toUpperCase()} 1 BTC 1 2 3`, false],
    [`${USERS[0]} 1 BTC 1 2 3 `, false],
    [`${USERS[0]} 1 B"C 1 2 3`, false],
    [`${USERS[0]} 1 B\\C 1 2 3`, false],
  ])('%s', (text, isOne) => expect(Payments.safeParse(text).success).toBe(isOne))

  // FEED-38
  it('invariant: passes through feeder, parts, log and archive exactly as the node wrote it', () => {
    expect(UNSIGNED_DECIMAL.test('280.0')).toBe(true)
    fc.assert(
      fc.property(
        fc.array(delta, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1_400, max: 9_000 }),
        (deltas, bytes) => {
          const block = blockWith(7, deltas)
          const joiner = new PartJoiner()
          const texts = encodeFrame({ type: 'block', ...block }, bytes)
          const joined = texts.map((text) => joiner.push(BlockFrame.parse(JSON.parse(text)))).at(-1)
          expect(joined).toEqual({ type: 'block', ...block })
          const { type: _, ...taken } = joined as BlockFrame
          const { events, payments } = encodeBlock(taken, null)
          expect(events).not.toContain('payments')
          const line = withPayments(events, payments)
          expect(withoutPayments(line)).toBe(events)
          const archived = JSON.parse(line) as { payments: string[] }
          for (const user of USERS) {
            const own = shown(deltas, user)
            const told = (all: ReturnType<typeof paymentsOf>) =>
              all.flatMap(fundingEvents).map(({ time, delta }) => ({ time, delta }))
            expect(told(archived.payments.map(readPayments).filter((one) => one.user === user))).toEqual(own)
            expect(told(paymentsOf(user, payments))).toEqual(own)
          }
        },
      ),
    )
  })

  it('can be stripped without changing the rest of the line', () => {
    const line = encodeBlock({ ...blockWith(1, []), events: [{ payments: ['x'] }] }, null)
    expect(line.payments).toBe('[]')
    expect(withoutPayments(line.events)).toBe(line.events)
    expect(withPayments(line.events, '')).toBe(line.events)
    expect(withoutPayments(withPayments(line.events, line.payments))).toBe(line.events)
  })
})

describe('the tail of the log', () => {
  const rest = { funding_amount: '-4.5', szi: '280.0', funding_rate: '0.0000308526' } as const
  const one: Delta = { user: USERS[0]!, coin: 'BTC', ...rest }
  const plain = (height: number): Block => ({ height, time: height, fills: [], ledger: [], funding: [], books: [] })
  const unknown = (height: number): Block => ({ ...plain(height), funding: [{ coin: 'BTC', perUnit: '1' }] })
  const search = (blocks: readonly Block[]) => {
    const texts = blocks.map((block) => encodeBlock(block, null))
    const segment = { last: blocks.at(-1)!.height, text: texts.map(({ events }) => events).join('\n') }
    const { stretches } = searchPayments(
      segment,
      texts.map(({ payments }) => payments),
      USERS[0]!,
    )
    return stretches.map(({ first, last, blocks }) => [first, last, blocks.map(({ height }) => height)])
  }

  it('returns the payments of one user', () => {
    const other = { ...one, user: USERS[1]! }
    const at = { height: 1, time: 1 }
    expect(search([plain(1), blockWith(2, [one, other]), blockWith(3, [other]), plain(4)])).toEqual([[at, 4, [2]]])
    expect(search([plain(1)])).toEqual([[at, 1, []]])
  })

  it('reports a gap where the payers are unknown', () => {
    const at = (height: number) => ({ height, time: height })
    expect(search([plain(1), unknown(2), blockWith(3, [one])])).toEqual([
      [at(3), 3, [3]],
      [at(1), 1, []],
    ])
    expect(search([unknown(1), plain(2)])).toEqual([[at(2), 2, []]])
    expect(search([{ ...plain(1), payments: null }, unknown(2), { ...blockWith(3, [one]), payments: null }])).toEqual([
      [{ height: 4, time: 3 }, 3, []],
    ])
    expect(search([plain(1), unknown(2)])).toEqual([
      [{ height: 3, time: 2 }, 2, []],
      [at(1), 1, []],
    ])
  })
})
