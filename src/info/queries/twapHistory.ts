// twapHistory: what became of a user's TWAP orders, newest first. Wire-equal; here `time` is in seconds, and a failure has a
// `description`.

import * as z from 'zod'
import { TIME } from '../../protocol/info/examples.ts'
import { EXAMPLE_TWAP, TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const twapHistory = ofUserQuery({
  type: 'twapHistory',
  summary: "What became of a user's TWAP orders",
  example: [
    { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
    { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'error', description: 'No margin' } },
  ],
  response: z.array(TwapEvent),
})
