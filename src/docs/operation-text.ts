// What the published documents say of an operation in words, beside its summary.

import { formatCredits } from '../credit/amount.ts'
import type { Operation } from '../edge/operation.ts'

/** Empty where there is nothing to say. */
export function operationText({ description = '', door, price = 0, priced = formatCredits(price) }: Operation): string {
  const key = door === 'service' ? 'Takes a service key.' : ''
  const cost = priced === '0' ? '' : `Credits: ${priced}.`
  return [description, key, cost].filter((part) => part !== '').join(' ')
}
