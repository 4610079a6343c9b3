// twapHistory: TWAP orders of a user with their status, newest first. Same response as the exchange's API. `time` is in
// seconds; a failed order has a `description`.

import * as z from 'zod'
import { TIME } from '../../protocol/info/examples.ts'
import { EXAMPLE_TWAP, TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const twapHistory = ofUserQuery({
  type: 'twapHistory',
  summary: "A user's TWAP orders, with their status",
  example: [
    { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
    { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'error', description: 'No margin' } },
  ],
  response: () => z.array(TwapEvent),
})
