// Prices that the meter itself must know, and that of most things. Every other one stands in the file of its channel or query.

import { MICRO_PER_CREDIT, type MicroCredits } from '../core/amount.ts'

/** Of most calls, and of a minute of most channels. */
export const ONE_CREDIT: MicroCredits = MICRO_PER_CREDIT

/** Of any channel, as test/relay/every-channel.test.ts proves: who cannot pay it is told so before the upgrade. */
export const CHEAPEST_MINUTE: MicroCredits = 130_000

/** Of a test of a pipeline, whose rows it pays for. */
export const TEST_PRICE: MicroCredits = ONE_CREDIT
