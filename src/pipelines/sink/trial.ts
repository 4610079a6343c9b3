// One batch to try a destination with: the newest rows that a pipeline would send.

import type { Assembler, Taken } from './assembling.ts'
import type { Parcel } from './delivery-state.ts'

/** So many blocks are looked at, and those before them where they have no row: none twice. */
const BLOCKS = [100, 2_000, 20_000] as const
const ROWS = 100
/** Of all that is read. */
const READ_MS = 10_000
const CHARS = 8 * 1024 * 1024
/** It sends what there is of order statuses, and says of nothing that it was not asked for. */
export const ALL_KNOWN = { to: Number.POSITIVE_INFINITY, ordersFrom: 0 } as const

/** Null: the newest blocks have none. */
export async function newestRows(
  head: number,
  open: (height: number) => Pick<Assembler, 'take'>,
  nowMs: number,
): Promise<Parcel | null> {
  const most = { rows: Number.POSITIVE_INFINITY, chars: CHARS, blocks: BLOCKS.at(-1)!, untilMs: nowMs + READ_MS }
  let to = head
  for (const blocks of BLOCKS) {
    const from = Math.max(0, head - blocks + 1)
    const taken = to < from ? null : await open(from).take({ height: to }, null, most)
    to = from - 1
    const parcel = taken && lastOf(taken)
    if (parcel) return parcel
  }
  return null
}

function lastOf({ from, to, rows, texts }: Taken): Parcel | null {
  const last = rows
    .map((row, at) => ({ row, text: texts[at]! }))
    .filter(({ row }) => row._kind === 'row')
    .slice(-ROWS)
  if (last.length === 0) return null
  return { from, to, rows: last.map(({ row }) => row), texts: last.map(({ text }) => text) }
}
