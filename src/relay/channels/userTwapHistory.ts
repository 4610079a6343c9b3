// userTwapHistory: what became of a user's TWAP orders, what is past first.

import { EXAMPLE_TWAP, TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { twapEventId, twapEvents } from '../events/twap-view.ts'
import { userRowsChannel } from '../events/user-rows.ts'

export const userTwapHistory = userRowsChannel({
  type: 'userTwapHistory',
  summary: "What became of a user's TWAP orders",
  list: 'history',
  row: TwapEvent,
  example: {
    user: EXAMPLE_TWAP.user,
    row: { time: EXAMPLE_TWAP.timestamp / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
  },
  needs: 'events',
  rows: twapEvents,
  ask: (user) => ({ type: 'twapHistory', user }),
  past: (answer) =>
    (answer as Parameters<typeof twapEventId>[0][]).map((row) => ({ id: twapEventId(row), row })).reverse(),
})
