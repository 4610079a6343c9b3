// The columns of orders of credits that both sides of the console show.

import { groupedText } from './amounts.ts'
import { type Order, orderStateText, priceText } from './orders.ts'
import type { Column } from './table.tsx'
import { timeText } from './when.ts'

/** `draw`: of the order's number. */
export function orderColumns({ draw }: Pick<Column<Order>, 'draw'>): readonly Column<Order>[] {
  return [
    { name: 'Order', text: ({ number }) => number, ...(draw && { draw }) },
    { name: 'Made, UTC', text: ({ created }) => timeText(created) },
    { name: 'Credits', text: ({ credits }) => groupedText(credits), isNumber: true },
    { name: 'Amount', text: ({ amount, currency }) => priceText(amount, currency), isNumber: true },
    { name: 'State', text: orderStateText },
  ]
}
