// Orders of credits as both sides of the console show them.

import type { Answers } from '../answers.ts'
import { groupedText } from './amounts.ts'
import { timeText } from './when.ts'

export type Order = Answers['checkout']['order']

/** `1 900.00 EUR`. */
export const priceText = (amount: string, currency: string) => `${groupedText(amount)} ${currency.toUpperCase()}`

/** The state with what is unusual about it. */
export function orderStateText({ state, paid, granted, refunded, currency }: Order): string {
  const back = /^[0.]+$/.test(refunded) ? '' : `, ${priceText(refunded, currency)} given back`
  if (state !== 'paid') return state + back
  return `paid ${timeText(paid ?? 0)}${granted === null ? ', credits withheld' : ''}${back}`
}
