import { describe, expect, it } from 'vitest'
import { moneyText } from '../../../src/billing/checkout/money.ts'
import { CheckoutPrices, quoteFor } from '../../../src/billing/checkout/prices.ts'

const prices = CheckoutPrices.parse({
  currency: 'eur',
  packages: [{ name: 'small', credits: '100000.5', minor: 1_900 }],
  lots: { credits: 1_000, minor: 3, most: 50 },
})

describe('prices', () => {
  it('match a package or whole lots exactly', () => {
    expect(quoteFor(prices, { package: 'small' })).toEqual({
      ok: true,
      value: { micro: 100_000_500_000, minor: 1_900, currency: 'eur' },
    })
    expect(quoteFor(prices, { credits: 7_000_000_000 })).toMatchObject({ value: { micro: 7_000_000_000, minor: 21 } })
  })

  it.each([
    [{ package: 'large' }, 'package: must be one of "small"'],
    [{ credits: 0 }, 'credits: must be a multiple of 1000, at most 50000'],
    [{ credits: 1 }, 'credits: must be a multiple of 1000, at most 50000'],
    [{ credits: 51_000_000_000 }, 'credits: must be a multiple of 1000, at most 50000'],
    [{ credits: Number.MAX_SAFE_INTEGER }, 'credits: must be a multiple of 1000, at most 50000'],
    [{}, 'credits: must be a multiple of 1000, at most 50000'],
  ])('there is none of %j', (wanted, sentence) => {
    const quote = quoteFor(prices, wanted)
    const [issue] = quote.ok || quote.error.kind !== 'bad_field' ? [] : quote.error.issues
    expect(`${issue?.path}: ${issue?.message}`).toBe(sentence)
  })

  it('name the valid choice if the other kind is sold', () => {
    const none = CheckoutPrices.parse({})
    expect(quoteFor(none, { package: 'small' })).toMatchObject({ ok: false })
    expect(quoteFor(none, { credits: 1 })).toMatchObject({ ok: false })
  })

  it.each([
    [{ packages: [{ name: 'a', credits: 0, minor: 1 }] }],
    [{ packages: [{ name: 'a', credits: -1, minor: 1 }] }],
    [{ packages: [{ name: 'a', credits: 1, minor: 0 }] }],
    [{ packages: [{ name: 'a', credits: 1, minor: 1.5 }] }],
    [{ packages: [{ name: 'A b', credits: 1, minor: 1 }] }],
    [{ packages: [1, 2].map(() => ({ name: 'a', credits: 1, minor: 1 })) }],
    [{ currency: 'EUR' }],
    [{ lots: { credits: 1, minor: 1_000_000, most: 100 } }],
    [{ lots: { credits: 1_000_000, minor: 1, most: 1_001 } }],
    [{ lots: { credits: '0.0000001', minor: 1, most: 1 } }],
    [{ price: 1 }],
  ])('are not %j', (value) => {
    expect(CheckoutPrices.safeParse(value).success).toBe(false)
  })
})

it("money has its currency's decimals", () => {
  expect([moneyText(1_900, 'eur'), moneyText(5, 'usd'), moneyText(0, 'usd')]).toEqual(['19.00', '0.05', '0.00'])
  expect([moneyText(1_900, 'jpy'), moneyText(1_900, 'kwd')]).toEqual(['1900', '1.900'])
  expect([moneyText(5_000, 'usdc'), moneyText(1_000_000, 'devd')]).toEqual(['0.005000', '1.000000'])
})
