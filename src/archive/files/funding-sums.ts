// Cumulative funding per coin. The funding of a position over any period is the difference of two rows. Invariant: a
// difference is exact if all funding between its two rows is known, whatever happened earlier.

import Big from 'big.js'
import type { Coin } from '../../core/coin.ts'
import { DECIMAL } from '../../core/decimal.ts'
import { fundingInPlace } from '../funding-spans.ts'
import type { BlockEvents } from './rows.ts'

/** Funding of a coin in one block, per unit of a long position. */
export interface Payment {
  readonly coin: Coin
  readonly height: number
  readonly perUnit: string
}

/** `sum`: cumulative funding, including this payment. */
export interface SummedPayment extends Payment {
  readonly sum: string
}

/**
 * One payment per coin per block. Funding that came late is in the block of its time, or in the one before these blocks.
 * Null if a block has only fills or an amount is invalid.
 */
export function paymentsIn(blocks: readonly BlockEvents[]): Payment[] | null {
  const isKnown = ({ only, funding = [] }: BlockEvents) =>
    only === undefined && funding.every(({ perUnit }) => DECIMAL.test(perUnit))
  if (!blocks.every(isKnown)) return null
  const heights = [(blocks[0]?.height ?? 0) - 1, ...blocks.map(({ height }) => height)]
  return fundingInPlace(blocks).flatMap((funding, at) =>
    [...Map.groupBy(funding, ({ coin }) => coin)].map(([coin, paid]) => {
      const perUnit = paid.reduce((sum, one) => sum.plus(one.perUnit), new Big(0)).toFixed()
      return { coin, height: heights[at] ?? 0, perUnit }
    }),
  )
}

/** Whether payments per wallet are known for all blocks. */
export function isPaidKnown(blocks: readonly BlockEvents[]): boolean {
  return blocks.every(
    ({ only, funding = [], payments = funding.length === 0 ? [] : null }) => only === undefined && payments !== null,
  )
}

/** Adds cumulative sums to payments, which must be in height order. `before`: last earlier sum of each coin. */
export function addSums(payments: readonly Payment[], before: ReadonlyMap<string, string>): SummedPayment[] {
  const sums = new Map(before)
  return payments.map((payment) => {
    const sum = new Big(sums.get(payment.coin) ?? 0).plus(payment.perUnit).toFixed()
    sums.set(payment.coin, sum)
    return { ...payment, sum }
  })
}

/** Funding from the first payment to the last, both included. */
export function paidBetween(first: Pick<SummedPayment, 'perUnit' | 'sum'>, last: Pick<SummedPayment, 'sum'>): string {
  return new Big(last.sum).minus(first.sum).plus(first.perUnit).toFixed()
}

export function addDecimals(a: string, b: string): string {
  return new Big(a).plus(b).toFixed()
}
