// What the published documents say of an operation in words, beside its summary.

import { formatCredits } from '../credit/amount.ts'
import { type Operation, roleFor } from '../edge/operation.ts'

/** Empty where there is nothing to say. */
export function operationText(operation: Operation): string {
  const { description = '', door, everyKey = false, price = 0, priced = formatCredits(price) } = operation
  const role = door === 'admin' ? `Takes the role \`${roleFor(operation)}\`.` : ''
  const key = door === 'service' ? 'Takes a service key.' : everyKey ? 'Takes any key, whatever its products.' : role
  const cost = priced === '0' ? '' : `Credits: ${priced}.`
  return [description, key, cost].filter((part) => part !== '').join(' ')
}
