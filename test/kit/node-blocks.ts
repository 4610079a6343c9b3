// Reads the files written by a node.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { STREAM_FOLDER } from '../../src/feeder/streams.ts'

export interface NodeBlock<Event> {
  readonly height: number
  readonly timeMs: number
  readonly events: readonly Event[]
}

/** Blocks of one stream below `data`, by height, without duplicates: a restarted node writes some twice. */
export function nodeBlocks<Event>(data: string, stream: keyof typeof STREAM_FOLDER): NodeBlock<Event>[] {
  const blocks = new Map<number, NodeBlock<Event>>()
  for (const file of globSync(`${STREAM_FOLDER[stream]}/hourly/*/*`, { cwd: data }))
    for (const text of readFileSync(join(data, file), 'utf8').split('\n')) {
      // The last line may be incomplete.
      if (!text.endsWith(']}')) continue
      const block = JSON.parse(text) as { block_number: number; block_time: string; events: Event[] }
      const { block_number: height, block_time: time, events } = block
      // Times have nanoseconds and no zone.
      blocks.set(height, { height, timeMs: Date.parse(`${time.slice(0, 23)}Z`), events })
    }
  return [...blocks.values()].sort((a, b) => a.height - b.height)
}
