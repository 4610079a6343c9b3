// Prices used by the meter itself, and the common price. All other prices are in the file of their channel or query.

import { MICRO_PER_CREDIT, type MicroCredits } from '../core/amount.ts'

/** Price of most calls, and of a minute of most channels. */
export const ONE_CREDIT: MicroCredits = MICRO_PER_CREDIT

/**
 * Cheapest minute of any channel, verified by test/relay/every-channel.test.ts. Callers who cannot pay it are rejected
 * before the upgrade.
 */
export const CHEAPEST_MINUTE: MicroCredits = 130_000

/** Price of a pipeline test, including its rows. */
export const TEST_PRICE: MicroCredits = ONE_CREDIT
