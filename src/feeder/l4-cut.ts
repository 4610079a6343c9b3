// The orders of a coin out of the node's snapshot, as the texts of frames.
// Law: the parts put together are the resting orders as the node lists them, all bids before the asks.

import type { L4Book } from '../feed/protocol.ts'
import { readSides } from './snapshot-file.ts'

/** A block waits for one part at most, and a frame has room for twice this. */
const PART_UNITS = 256 * 1024

/** Fields of an order beside its user. */
const FIELDS = [
  'coin',
  'side',
  'limitPx',
  'sz',
  'oid',
  'timestamp',
  'triggerCondition',
  'isTrigger',
  'triggerPx',
  'isPositionTpsl',
  'reduceOnly',
  'orderType',
  'tif',
  'cloid',
] as const

/** `text` is one of the scanner's, of a snapshot of `height`. Throws where an order cannot be read. */
export function l4Parts(
  text: string,
  { height, time }: Pick<L4Book, 'height' | 'time'>,
  partUnits: number = PART_UNITS,
): string[] {
  const { coin, sides } = readSides(text)
  const runs: [string[], string[]][] = [[[], []]]
  let used = 0
  for (const [side, orders] of sides.entries())
    for (const { user, whole } of orders) {
      const order = whole as Record<string, unknown>
      const row = JSON.stringify({ user, ...Object.fromEntries(FIELDS.map((name) => [name, order[name]])) })
      if (used > 0 && used + row.length > partUnits) {
        runs.push([[], []])
        used = 0
      }
      runs.at(-1)![side as 0 | 1].push(row)
      used += row.length + 1
    }
  const head = `{"type":"l4","coin":${JSON.stringify(coin)},"height":${height},"time":${time}`
  return runs.map(
    ([bids, asks], part) => `${head},"bids":[${bids}],"asks":[${asks}],"part":${part},"parts":${runs.length}}`,
  )
}
