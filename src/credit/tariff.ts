// Prices that the meter itself must know. Every other price stands in the file of its channel or query.

import type { MicroCredits } from './amount.ts'

/** Of any channel, as test/stream/every-channel.test.ts proves: who cannot pay it is told so before the upgrade. */
export const CHEAPEST_MINUTE: MicroCredits = 130_000
