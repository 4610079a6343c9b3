// What a minute of a stream of books costs, as the specification says: per coin of a list, flat for a wildcard.

import type { MicroCredits } from '../../credit/amount.ts'
import type { BookBody } from '../body-fields.ts'
import { ONE_CREDIT } from '../channel.ts'

const PER_COIN: MicroCredits = 130_000
const WILDCARD: MicroCredits = 10 * ONE_CREDIT

export function bookMinutePrice({ coins }: BookBody): MicroCredits {
  return coins === null ? WILDCARD : PER_COIN * coins.length
}
