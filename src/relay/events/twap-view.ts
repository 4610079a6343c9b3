// TWAP orders as the public server tells of them: fills of their slices, and what became of them.

import * as z from 'zod'
import { Address, type UserFill } from '../../protocol/feed/block.ts'
import type { BlockEvents, UserRow } from '../channel.ts'

/** As far as it is read: all else comes through as the node wrote it. */
const NodeTwapStatus = z.object({
  twap_id: z.int(),
  state: z.looseObject({ user: Address }),
  status: z.union([z.string(), z.object({ error: z.string() })]),
})

/** What became of TWAP orders in a block. What has no shape that could be shown is left out. */
export function twapEvents({ twaps = [], time }: BlockEvents): UserRow[] {
  return twaps.flatMap((event) => {
    const read = NodeTwapStatus.safeParse(event)
    if (!read.success) return []
    const { twap_id: twapId, state, status } = read.data
    const told = typeof status === 'string' ? { status } : { status: 'error', description: status.error }
    const row = { time: Math.floor(time / 1000), state, status: told, twapId }
    return [{ user: state.user, id: twapEventId(row), row }]
  })
}

/** What tells a row of a TWAP history apart. */
export function twapEventId(row: { time: number; status: { status: string }; twapId?: number | undefined }): string {
  return `${row.twapId} ${row.status.status} ${row.time}`
}

/** True for a fill of a slice: the public server tells of it apart from other fills. */
export function isSlice([, { twapId }]: UserFill): boolean {
  return typeof twapId === 'number'
}

/** A fill of a slice as the public server tells of it, where the order's id stands beside the fill. */
export function sliceRow([user, fill]: UserFill): UserRow {
  return { user, id: fillId(fill), row: { fill: { ...fill, twapId: null }, twapId: fill.twapId } }
}

/** What tells a fill apart from others of its user. */
export function fillId({ tid, oid, time }: { tid: number; oid: number; time: number }): string {
  return `${tid} ${oid} ${time}`
}
