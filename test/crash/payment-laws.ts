// The laws of payments by x402: what the chain, the books and the meters must agree on, whatever was killed.

import type { ChainPayment } from '../kit/wallets.ts'

/** Micro-credits per atomic unit of the token: 1,000 credits cost a dollar of 1,000,000 units. */
const MICRO_PER_UNIT = 1_000n

export interface PaymentEvidence {
  /** Transfers to the seller. */
  readonly chain: readonly ChainPayment[]
  /** Paid orders. */
  readonly orders: readonly { readonly account: string; readonly minor: bigint; readonly micro: bigint }[]
  /** Accounts of the wallets, in micro-credits. */
  readonly meters: readonly {
    readonly account: string
    readonly granted: bigint
    readonly spent: bigint
    readonly left: bigint
  }[]
  /** Calls whose answer arrived. */
  readonly answered: readonly ChainPayment[]
  /** Calls that were paid for or may have been; with purchases of credits, these are all payments. */
  readonly called: readonly ChainPayment[]
}

const nameOf = ({ from, nonce }: ChainPayment) => `${from} ${nonce}`
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
/** Account of a wallet. */
export const accountOf = (address: string) => `x402-${address.slice(2).toLowerCase()}`

/** The violated laws, in words; none if all hold. */
export function paymentViolations({ chain, orders, meters, answered, called }: PaymentEvidence): string[] {
  const paid = new Map(chain.map((payment) => [nameOf(payment), payment]))
  const violations: string[] = []
  const expect = (isTrue: boolean, text: string) => {
    if (!isTrue) violations.push(text)
  }
  expect(paid.size === chain.length, `${chain.length - paid.size} authorizations moved tokens twice`)
  expect(new Set(answered.map(nameOf)).size === answered.length, 'one payment has two calls')
  for (const call of answered) {
    const payment = paid.get(nameOf(call))
    expect(payment?.value === call.value, `answered for ${call.value}, paid ${payment?.value ?? 0n}: ${nameOf(call)}`)
  }
  for (const account of new Set([...chain.map(({ from }) => accountOf(from)), ...orders.map((each) => each.account)])) {
    const own = <T extends { readonly account: string }>(all: readonly T[]) =>
      all.filter((each) => each.account === account)
    const ownChain = (all: readonly ChainPayment[]) => all.filter(({ from }) => accountOf(from) === account)
    const moved = ownChain(chain).map(({ value }) => value)
    const booked = own(orders).map(({ minor }) => minor)
    const text = (values: readonly bigint[]) => [...values].sort().join()
    expect(text(moved) === text(booked), `${account}: ${sum(moved)} on the chain, ${sum(booked)} in orders`)
    const bought = sum(own(orders).map(({ micro }) => micro))
    expect(bought === sum(booked) * MICRO_PER_UNIT, `${account}: paid ${sum(booked)} for ${bought} micro-credits`)
    const { granted = 0n, spent = 0n, left = 0n } = own(meters)[0] ?? {}
    expect(granted === bought, `${account}: ${bought} bought, ${granted} granted`)
    expect(granted === spent + left, `${account}: granted ${granted}, spent ${spent}, left ${left}`)
    const least = sum(ownChain(answered).map(({ value }) => value)) * MICRO_PER_UNIT
    const most = sum(ownChain(called).map(({ value }) => value)) * MICRO_PER_UNIT
    expect(spent >= least && spent <= most, `${account}: spent ${spent}, answered ${least}, called ${most}`)
  }
  return violations
}
