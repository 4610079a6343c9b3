// userTwapSliceFills: fills of the slices of a user's TWAP orders, the last ones first.

import type { Fill } from '../../protocol/feed/block.ts'
import { FILL, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { fillId, isSlice, sliceRow } from '../events/twap-view.ts'
import { userRowsChannel } from '../events/user-rows.ts'

export const userTwapSliceFills = userRowsChannel({
  type: 'userTwapSliceFills',
  summary: "Fills of the slices of a user's TWAP orders",
  list: 'twapSliceFills',
  row: TwapSliceFill,
  example: { user: USER, row: { fill: FILL, twapId: 3 } },
  rows: ({ fills }) => fills.filter(isSlice).map(sliceRow),
  ask: (user) => ({ type: 'userTwapSliceFills', user }),
  past: (answer) => (answer as { fill: Fill }[]).map((row) => ({ id: fillId(row.fill), row })).reverse(),
})
