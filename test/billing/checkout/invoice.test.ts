import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { invoiceOf } from '../../../src/billing/checkout/invoice.ts'
import { grossOf, INVOICE, taxedPriceError } from '../../../src/billing/checkout/invoice-terms.ts'
import { CheckoutPrices } from '../../../src/billing/checkout/prices.ts'
import { type Purchase, recordedRefund, settle } from '../../../src/billing/checkout/purchase.ts'
import { taxWithin, withTax } from '../../../src/billing/checkout/tax.ts'

const SELLER = { name: 'Seller GmbH', address: ['Weg 1'] }
const termsOf = (over: object = {}) => INVOICE.parse(JSON.stringify({ seller: SELLER, ...over }))!
const taxOf = (rate: string, included = true) => termsOf({ tax: { name: 'VAT', rate, included } })

const ORDER: Purchase = {
  seq: 17,
  number: 'W-17-k3Fz',
  account: 'acme',
  micro: 1_234_567_500_000,
  minor: 1_900,
  currency: 'eur',
  provider: 'manual',
  state: 'open',
  reference: null,
  url: null,
  created: Date.UTC(2026, 1, 14, 23, 59, 59, 999),
  paid: null,
  granted: null,
  refunded: 0,
  refund_time: null,
  mandate: null,
  note: null,
  receipt: null,
  terms: 1,
  buyer: null,
}
const invoice = (order: Partial<Purchase> = {}, terms = taxOf('19')) =>
  invoiceOf({ order: { ...ORDER, ...order }, terms, buyer: null }, 'IBAN')

/** A rate with up to three decimals. */
const anyRate = fc
  .tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 3 }))
  .map(([thousandths, decimals]) => (Math.floor(thousandths / 10 ** (3 - decimals)) / 10 ** decimals).toFixed(decimals))
const digits = (amount: string) => BigInt(amount.replace('.', ''))

describe('tax', () => {
  it.each([
    [1_900, '19', 303],
    [119, '19', 19],
    // 0.5 is rounded up, and less is rounded down.
    [201, '100', 101],
    [101, '1', 1],
    [50, '1', 0],
    [1, '0', 0],
    [100_000_000_000, '7.625', 7_084_785_134],
  ])('within %d at %s %% is %d', (gross, rate, tax) => {
    expect(taxWithin(gross, rate)).toBe(tax)
  })

  it('that is added is what the gross amount contains', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 45 }), anyRate, (net, rate) => {
        const gross = withTax(net, rate)
        expect(taxWithin(gross, rate)).toBe(gross - net)
        // Exact to half a minor unit.
        const error = BigInt(gross - net) * 100_000n - BigInt(net) * BigInt(Math.round(Number(rate) * 1_000))
        expect(error > -50_000n && error <= 50_000n).toBe(true)
      }),
    )
  })
})

describe('an invoice', () => {
  it('adds up to what the buyer pays, whether prices include the tax or not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 99_999_999 }),
        fc.option(anyRate),
        fc.boolean(),
        fc.constantFrom('eur', 'jpy', 'kwd', 'usdc'),
        fc.constantFrom('open', 'paid', 'failed', 'void'),
        fc.nat(200_000_000),
        (price, rate, included, currency, state, refunded) => {
          const terms = rate === null ? termsOf() : taxOf(rate, included)
          const minor = grossOf(price, terms)
          const made = invoice({ minor, currency, state, refunded }, terms)
          const { net, tax, gross, paid, amount_due: due, correction } = made
          expect(digits(net) + digits(tax?.amount ?? '0')).toBe(digits(gross))
          expect(digits(gross)).toBe(BigInt(minor))
          const credited = state === 'paid' ? BigInt(Math.min(refunded, minor)) : 0n
          expect([digits(made.refunded), correction === null]).toEqual([credited, credited === 0n])
          if (!included || rate === null) expect(digits(net)).toBe(BigInt(price))
          else expect(minor).toBe(price)
          expect(digits(paid) + digits(due)).toBe(state === 'void' ? 0n : BigInt(minor))
          expect(made.lines.map((line) => [BigInt(line.quantity) * digits(line.unit_price), line.net])).toEqual([
            [digits(net), net],
          ])
        },
      ),
    )
  })

  it('has UTC days and a due date', () => {
    expect(invoice()).toMatchObject({ issued: '2026-02-14', due: '2026-02-28' })
    expect(invoice({}, termsOf({ dueDays: 0 }))).toMatchObject({ due: '2026-02-14', tax: null, net: '19.00' })
    expect(invoice({}, termsOf({ dueDays: 15 }))).toMatchObject({ due: '2026-03-01' })
  })

  it('names what was sold and how it was paid', () => {
    expect(invoice().lines[0]).toEqual({
      description: '1,234,567.5 API credits',
      quantity: 1,
      unit_price: '15.97',
      net: '15.97',
    })
    expect(invoice().payment).toEqual({ method: 'manual', reference: 'W-17-k3Fz', network: null, paid: null })
    const payment = { reference: 'eip155:8453:0xaa:0xbb', receipt: '0xcc', paid: 5 }
    expect(invoice({ provider: 'x402', ...payment }).payment).toEqual({
      method: 'x402',
      reference: '0xcc',
      network: 'eip155:8453',
      paid: 5,
    })
    expect(invoice({ provider: 'stripe', reference: 'cs_1' }).payment).toMatchObject({
      reference: 'cs_1',
      network: null,
    })
  })

  it('says how to pay only while the operator waits for the money', () => {
    expect(invoice().instructions).toBe('IBAN')
    for (const order of [{ state: 'paid' }, { state: 'void' }, { provider: 'stripe' }, { provider: 'x402' }] as const)
      expect(invoice(order).instructions).toBe('')
  })

  it('shows a refund as a correction, and a full one takes back everything', () => {
    const refund = (minor: number) => {
      const paid: Purchase = { ...ORDER, state: 'paid', paid: 1 }
      const what = { kind: 'refunded', minor, currency: 'eur' } as const
      const { change } = settle(paid, { number: '', account: null, reference: null, what }, Date.UTC(2026, 2, 1))
      return invoice({ ...paid, ...change })
    }
    expect(refund(1_900)).toMatchObject({
      refunded: '19.00',
      paid: '19.00',
      amount_due: '0.00',
      correction: { issued: '2026-03-01', net: '-15.97', tax: '-3.03', gross: '-19.00' },
    })
    expect(refund(1).correction).toEqual({ issued: '2026-03-01', net: '-0.01', tax: '0.00', gross: '-0.01' })
    expect(invoice().correction).toBeNull()
  })
})

describe('the setting', () => {
  it('has a rate in percent with up to three decimals', () => {
    for (const rate of ['0', '7', '19.5', '7.625', '100', '100.000']) expect(taxOf(rate).tax?.rate).toBe(rate)
    for (const rate of ['', '-1', '100.1', '101', '7.6251', '1e1', '.5', '5.', '019', ' 5', 5])
      expect(() => taxOf(rate as string), String(rate)).toThrow(/tax\.rate must be/)
  })

  it('is one printable line per text, without unknown fields', () => {
    expect(INVOICE.parse('')).toBeNull()
    for (const wrong of [
      { logo: 'x' },
      { seller: { ...SELLER, address: [] } },
      { seller: { ...SELLER, name: 'a\nb' } },
    ])
      expect(() => termsOf(wrong)).toThrow()
  })

  it('does not lift the maximum of an order', () => {
    const prices = CheckoutPrices.parse({ lots: { credits: 1, minor: 10_000, most: 9_000 } })
    expect(taxedPriceError(prices, taxOf('19'))).toBeNull()
    expect(taxedPriceError(prices, taxOf('11', false))).toBeNull()
    expect(taxedPriceError(prices, taxOf('19', false))).toMatch(/^CHECKOUT_PRICES: .* 99,999,999 minor units/)
  })
})

describe('a recorded refund', () => {
  const paid: Purchase = { ...ORDER, state: 'paid', paid: 1, granted: 1 }
  const texts = fc.oneof(
    fc.integer({ min: 0, max: 2_500 }).map((minor) => (minor / 100).toFixed(2)),
    fc.constantFrom('', '-1', '19', '1.999', '1e3', '019.00', '٣', '999999999999.999999'),
  )

  it('is a sum that never decreases and never exceeds the order; a refused one changes nothing', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 6 }), (amounts) => {
        let order = paid
        for (const amount of amounts) {
          const recorded = recordedRefund(order, amount, 5)
          const next = recorded.ok ? { ...order, ...recorded.value } : order
          expect(next.refunded).toBeGreaterThanOrEqual(order.refunded)
          expect(next.refunded).toBeLessThanOrEqual(order.minor)
          if (recorded.ok) expect(Number(amount) * 100).toBeCloseTo(next.refunded)
          expect(recordedRefund(next, (next.refunded / 100).toFixed(2), 6)).toEqual(
            next.refunded === 0 ? { ok: false, error: expect.anything() } : { ok: true, value: {} },
          )
          order = next
        }
        expect([order.state, order.granted]).toEqual(['paid', 1])
      }),
    )
  })

  it.each([
    [{ ...paid, state: 'open' } as const, '19.00', /only a paid order can be refunded/],
    [{ ...paid, provider: 'stripe' } as const, '19.00', /Refund it there/],
    [paid, '19.01', /from 0\.01 to 19\.00 eur/],
    [{ ...paid, refunded: 500 }, '4.99', /from 5\.00 to 19\.00 eur/],
  ])('says why it is refused (%#)', (order, amount, reason) => {
    const recorded = recordedRefund(order, amount, 5)
    expect(JSON.stringify(recorded)).toMatch(reason)
    expect(recorded.ok).toBe(false)
  })
})
