import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReadBudget, searchSegment } from '../../src/block-log/retained-fills.ts'
import { encodeBlock } from '../../src/block-log/segment.ts'
import type { Block, Fill, UserFill } from '../../src/protocol/feed/block.ts'
import type { FillScope } from '../../src/protocol/feed/durable-api.ts'

const address = fc.constantFrom(...['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`))
/** One whose JSON has an escape. */
const coin = fc.constantFrom('BTC', 'xyz:A"\\')
const fill = fc
  .record({ coin, px: fc.constant('1.0'), builder: address, cloid: address }, { requiredKeys: ['coin', 'px'] })
  .map((fields) => fields as unknown as Fill)
const block = fc.record({
  fills: fc.array(fc.tuple(address, fill) as fc.Arbitrary<UserFill>, { maxLength: 3 }),
  ledger: fc.array(
    fc.record({
      users: fc.array(address, { maxLength: 2 }),
      time: fc.constant(1),
      hash: fc.constant('0x'),
      delta: fc.record({ type: fc.constant('send'), builder: address }),
    }),
    { maxLength: 1 },
  ),
  funding: fc.array(fc.record({ coin: fc.constant('BTC'), perUnit: fc.constant('0.1') }), { maxLength: 1 }),
})
const blocks = fc
  .array(block, { minLength: 1, maxLength: 8 })
  .map((list): Block[] => list.map((one, i) => ({ ...one, height: 100 + i, time: 7_000 + i * 70, books: [] })))
const scope: fc.Arbitrary<FillScope> = fc.oneof(
  fc.record({ by: fc.constantFrom('user', 'builder'), address }),
  fc.record({ by: fc.constant('coin' as const), coin }),
)
const isWanted = ([user, { builder, coin }]: UserFill, wanted: FillScope) =>
  wanted.by === 'coin' ? coin === wanted.coin : (wanted.by === 'user' ? user : builder) === wanted.address

describe('a stored segment', () => {
  it('returns the same as reading every line, for a wallet, a builder and a coin', () => {
    fc.assert(
      fc.property(blocks, scope, (list, wanted) => {
        const text = list.map((one) => encodeBlock(one, null).events).join('\n')
        const last = list.at(-1)!.height
        const mine = list.map(({ height, time, fills, funding }) => ({
          height,
          time,
          fills: fills.filter((one) => isWanted(one, wanted)),
          funding: wanted.by === 'user' ? funding : [],
        }))
        expect(searchSegment({ last, text }, wanted).stretch).toEqual({
          first: { height: 100, time: 7_000 },
          last,
          blocks: JSON.parse(JSON.stringify(mine.filter((one) => one.fills.length + one.funding.length > 0))),
        })
      }),
      { numRuns: 500 },
    )
  })

  it("returns only a wallet's ledger events on request", () => {
    fc.assert(
      fc.property(blocks, address, (list, wallet) => {
        const text = list.map((one) => encodeBlock(one, null).events).join('\n')
        const { blocks: told } = searchSegment({ last: 999, text }, { by: 'user', address: wallet }, 'ledger').stretch
        const mine = list.map(({ height, time, ledger }) => ({
          height,
          time,
          fills: [],
          funding: [],
          ledger: ledger.filter(({ users }) => users.includes(wallet)),
        }))
        expect(told).toEqual(mine.filter(({ ledger }) => ledger.length > 0))
      }),
      { numRuns: 300 },
    )
  })
})

it("returns a wallet's staking events as the node wrote them", () => {
  const mine = `0x${'1'.repeat(40)}`
  const other = `0x${'2'.repeat(40)}`
  const event = (inner: object) => ({ time: '2026-06-11T01:01:29.513722441', hash: '0x0', inner })
  const events = [
    event({ Delegation: { user: mine, validator: other, amount: '4.0', is_undelegate: false } }),
    event({ CDeposit: { user: other, amount: '0.5' } }),
    event({ CWithdrawal: { user: mine, amount: '0.25', is_finalized: true } }),
    event({ CDeposit: { user: mine, amount: 5 } }),
    event({ ValidatorRewards: { validator_to_reward: [[mine, '1.0']] } }),
    { ...event({ CDeposit: { user: mine, amount: '1.0' } }), time: 'soon' },
    null,
  ]
  const block = { height: 7, time: 70, fills: [], ledger: [], funding: [], events, books: null }
  const { stretch } = searchSegment(
    { last: 7, text: encodeBlock(block, null).events },
    { by: 'user', address: mine },
    'staking',
  )
  const at = { users: [mine], time: Date.UTC(2026, 5, 11, 1, 1, 29, 513), hash: '0x0' }
  expect(stretch.blocks.map(({ ledger }) => ledger)).toEqual([
    [
      { ...at, delta: { type: 'delegate', validator: other, amount: '4.0', isUndelegate: false } },
      { ...at, delta: { type: 'withdrawal', amount: '0.25', phase: 'finalized' } },
    ],
  ])
})

it('costs a quarter of its text, plus the parsed lines', () => {
  const list = Array.from({ length: 100 }, (_, i): Block => {
    const fills: UserFill[] = i === 7 ? [[`0x${'a'.repeat(40)}`, { coin: 'BTC', px: '1.0' } as unknown as Fill]] : []
    return { height: i, time: i, fills, ledger: [], funding: [], books: [] }
  })
  const lines = list.map((one) => encodeBlock(one, null).events)
  const text = lines.join('\n')
  const costFor = (digit: string) =>
    searchSegment({ last: 99, text }, { by: 'user', address: `0x${digit.repeat(40)}` }).cost
  expect(costFor('b')).toBe(Math.ceil(text.length / 4))
  expect(costFor('a')).toBe(Math.ceil(text.length / 4) + lines[7]!.length)
})

describe('the read budget', () => {
  const MIB = 1024 * 1024

  it('ends within a second and begins again with the next', () => {
    const budget = new ReadBudget()
    for (let i = 0; i < 16; i++) {
      expect(budget.waitMs(5_000 + i)).toBe(0)
      budget.spend(MIB, 5_000 + i)
    }
    expect(budget.waitMs(5_400)).toBe(600)
    expect(budget.waitMs(6_000)).toBe(0)
    budget.spend(MIB, 6_000)
    expect(budget.waitMs(6_001)).toBe(0)
  })
})
