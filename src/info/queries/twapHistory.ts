// twapHistory: what became of a user's TWAP orders, newest first. Wire-equal; here `time` is in seconds, and a failure has a
// `description`.

import * as z from 'zod'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { EXAMPLE_TWAP, TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const twapHistory = passThroughQuery({
  type: 'twapHistory',
  summary: "What became of a user's TWAP orders",
  example: {
    request: { user: USER },
    response: [
      { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
      { time: TIME / 1_000, state: EXAMPLE_TWAP, status: { status: 'error', description: 'No margin' } },
    ],
  },
  request: z.object({ type: z.literal('twapHistory'), user: UserAddress }),
  response: z.array(TwapEvent),
  freshness: { class: 'user' },
})
