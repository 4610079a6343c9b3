import { expect, it } from 'vitest'
import { accountOf, type PaymentEvidence, paymentViolations } from './payment-laws.ts'

const FROM = `0x${'ab'.repeat(20)}`
const account = accountOf(FROM)
const CALL = { from: FROM, nonce: '0x1', value: 5_000n }
const LOST = { from: FROM, nonce: '0x2', value: 7_000n }
const CREDITS = { from: FROM, nonce: '0x3', value: 1_000_000n }
const order = ({ value }: typeof CALL) => ({ account, minor: value, micro: value * 1_000n })
/** An answered call, a call whose answer was lost, and credits. */
const GOOD: PaymentEvidence = {
  chain: [CALL, LOST, CREDITS],
  orders: [CREDITS, LOST, CALL].map(order),
  meters: [{ account, granted: 1_012_000_000n, spent: 12_000_000n, left: 1_000_000_000n }],
  answered: [CALL],
  called: [CALL, LOST],
}
const METER = GOOD.meters[0]!

it('finds nothing where all agree, whether a lost answer was charged or not', () => {
  expect(paymentViolations(GOOD)).toEqual([])
  const free = { ...METER, spent: 5_000_000n, left: 1_007_000_000n }
  expect(paymentViolations({ ...GOOD, meters: [free] })).toEqual([])
})

it.each<[string, Partial<PaymentEvidence>, RegExp]>([
  ['a payment taken twice', { chain: [...GOOD.chain, CALL] }, /moved tokens twice/],
  ['an answer without payment', { chain: [LOST, CREDITS], orders: [LOST, CREDITS].map(order) }, /paid 0/],
  ['an answer for another amount', { answered: [{ ...CALL, value: 6_000n }] }, /answered for 6000, paid 5000/],
  ['two answers of one payment', { answered: [CALL, CALL] }, /one payment has two calls/],
  ['a payment that is not booked', { orders: [CALL, CREDITS].map(order) }, /on the chain/],
  ['a payment booked twice', { orders: [...GOOD.orders, order(CALL)] }, /on the chain/],
  [
    'an order for the wrong amount',
    { orders: [CALL, LOST, { ...CREDITS, value: 999_999n }].map(order) },
    /on the chain/,
  ],
  ['an order of another account', { orders: GOOD.orders.map((each) => ({ ...each, account: 'x402-00' })) }, /x402-00/],
  ['too few credits', { orders: GOOD.orders.map((each) => ({ ...each, micro: each.micro - 1n })) }, /micro-credits/],
  ['a grant that is missing', { meters: [{ ...METER, granted: METER.granted - 1n }] }, /bought/],
  ['credits that vanished', { meters: [{ ...METER, left: METER.left - 1n }] }, /left/],
  ['an answered call without charge', { meters: [{ ...METER, spent: 0n, left: METER.granted }] }, /answered 5000000/],
  ['a charge without call', { meters: [{ ...METER, spent: 13_000_000n, left: 999_000_000n }] }, /called 12000000/],
  ['no meter', { meters: [] }, /granted/],
])('finds %s', (_, change, violation) => {
  expect(paymentViolations({ ...GOOD, ...change }).join('\n')).toMatch(violation)
})
