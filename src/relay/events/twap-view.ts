// TWAP orders in the public server's format: slice fills and status changes.

import * as z from 'zod'
import { Address, type UserFill } from '../../protocol/feed/block.ts'
import type { BlockEvents, UserRow } from '../channel.ts'

/** The fields that are read. The others pass through as the node wrote them. */
const NodeTwapStatus = z.object({
  twap_id: z.int(),
  state: z.looseObject({ user: Address }),
  status: z.union([z.string(), z.object({ error: z.string() })]),
})

/** Status changes of TWAP orders in a block. Skips rows that do not match the schema. */
export function twapEvents({ twaps = [], time }: BlockEvents): UserRow[] {
  return twaps.flatMap((event) => {
    const parsed = NodeTwapStatus.safeParse(event)
    if (!parsed.success) return []
    const { twap_id: twapId, state, status } = parsed.data
    const statusRow = typeof status === 'string' ? { status } : { status: 'error', description: status.error }
    const row = { time: Math.floor(time / 1000), state, status: statusRow, twapId }
    return [{ user: state.user, id: twapEventId(row), row }]
  })
}

/** Unique id of a row of the TWAP history. */
export function twapEventId(row: { time: number; status: { status: string }; twapId?: number | undefined }): string {
  return `${row.twapId} ${row.status.status} ${row.time}`
}

/** True for a slice fill, which the public server reports separately. */
export function isSlice([, { twapId }]: UserFill): boolean {
  return typeof twapId === 'number'
}

/** A slice fill in the public server's format, with the order id next to the fill. */
export function sliceRow([user, fill]: UserFill): UserRow {
  return { user, id: fillId(fill), row: { fill: { ...fill, twapId: null }, twapId: fill.twapId } }
}

/** Id of a fill, unique per user. */
export function fillId({ tid, oid, time }: { tid: number; oid: number; time: number }): string {
  return `${tid} ${oid} ${time}`
}
