// Orders of credits as both sides of the console show them.

import { groupedText } from './amounts.ts'
import { timeText } from './when.ts'

export interface Order {
  readonly number: string
  readonly account: string
  readonly credits: string
  readonly amount: string
  readonly currency: string
  readonly provider: 'manual' | 'stripe'
  readonly state: 'open' | 'paid' | 'failed' | 'void'
  readonly url: string | null
  readonly created: number
  readonly paid: number | null
  readonly granted: number | null
  readonly refunded: string
  readonly note: string | null
}

/** `1 900.00 EUR`. */
export const priceText = (amount: string, currency: string) => `${groupedText(amount)} ${currency.toUpperCase()}`

/** The state with what is unusual about it. */
export function orderStateText({ state, paid, granted, refunded, currency }: Order): string {
  const back = /^[0.]+$/.test(refunded) ? '' : `, ${priceText(refunded, currency)} given back`
  if (state !== 'paid') return state + back
  return `paid ${timeText(paid ?? 0)}${granted === null ? ', credits withheld' : ''}${back}`
}
