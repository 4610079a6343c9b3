// The funding of files: of each payment the sum of all before it, so that what a position paid over any time is the difference
// of two rows. Law: a difference is exact where nothing between its rows is unknown, whatever lies before them.

import Big from 'big.js'
import type { Coin } from '../../core/coin.ts'
import { DECIMAL } from '../../core/decimal.ts'
import type { BlockEvents } from './rows.ts'

/** What was paid of a coin in one block, by a long per unit of size. */
export interface Payment {
  readonly coin: Coin
  readonly height: number
  readonly perUnit: string
}

/** `sum`: of all payments of the coin up to this one. */
export interface SummedPayment extends Payment {
  readonly sum: string
}

/** A coin once a block; null where of a block nothing but its fills is known, or an amount is none. */
export function paymentsIn(blocks: readonly BlockEvents[]): Payment[] | null {
  const isKnown = ({ only, funding = [] }: BlockEvents) =>
    only === undefined && funding.every(({ perUnit }) => DECIMAL.test(perUnit))
  if (!blocks.every(isKnown)) return null
  return blocks.flatMap(({ height, funding = [] }) =>
    [...Map.groupBy(funding, ({ coin }) => coin)].map(([coin, paid]) => {
      const perUnit = paid.reduce((sum, one) => sum.plus(one.perUnit), new Big(0)).toFixed()
      return { coin, height, perUnit }
    }),
  )
}

/** Whether it is known of all blocks what each wallet paid and got. */
export function isPaidKnown(blocks: readonly BlockEvents[]): boolean {
  return blocks.every(
    ({ only, funding = [], payments = funding.length === 0 ? [] : null }) => only === undefined && payments !== null,
  )
}

/** Payments in order of height; `before`: the last sums below them, by coin. */
export function addSums(payments: readonly Payment[], before: ReadonlyMap<string, string>): SummedPayment[] {
  const sums = new Map(before)
  return payments.map((payment) => {
    const sum = new Big(sums.get(payment.coin) ?? 0).plus(payment.perUnit).toFixed()
    sums.set(payment.coin, sum)
    return { ...payment, sum }
  })
}

/** All that was paid from one payment to another, both included. */
export function paidBetween(first: Pick<SummedPayment, 'perUnit' | 'sum'>, last: Pick<SummedPayment, 'sum'>): string {
  return new Big(last.sum).minus(first.sum).plus(first.perUnit).toFixed()
}
