// History from the block files, for a program that begins again: the last blocks up to its checkpoint.
// Only convenience depends on it, so a line that cannot be read ends the reading and nothing else.

import { type DevnetBlock, nanosOf, type Stream } from '../exchange/node-block.ts'
import type { Past } from '../info/past.ts'
import type { HourlyFile } from './hourly-file.node.ts'

interface Line {
  readonly block_time: string
  readonly block_number: number
  readonly events: never[]
}

/** Gives `past` the events of a stream in the last `most` blocks that are not above `height`. The file has been mended. */
export function recall(past: Past, stream: Stream, file: HourlyFile, height: number, most: number): void {
  const lines: Line[] = []
  for (const text of most === 0 ? [] : file.linesBackward()) {
    const line = parse(text)
    if (line === null || line.block_number <= height - most) break
    if (line.block_number <= height && line.events.length > 0) lines.push(line)
  }
  for (const line of lines.reverse()) past.recall(blockOf(stream, line))
}

function parse(text: string): Line | null {
  try {
    const line = JSON.parse(text) as Line
    return Array.isArray(line.events) ? line : null
  } catch {
    return null
  }
}

function blockOf(stream: Stream, { block_time, events }: Line): Parameters<Past['recall']>[0] {
  const empty: Pick<DevnetBlock, 'fills' | 'orderStatuses' | 'miscEvents' | 'rewards'> = {
    fills: [],
    orderStatuses: [],
    miscEvents: [],
    rewards: [],
  }
  const timeMs = Number(nanosOf(block_time) / 1_000_000n)
  switch (stream) {
    case 'node_fills_by_block':
      return { ...empty, timeMs, fills: events }
    case 'node_order_statuses_by_block':
      return { ...empty, timeMs, orderStatuses: events }
    default:
      return { ...empty, timeMs, miscEvents: events }
  }
}
