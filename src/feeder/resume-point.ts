// Where production goes on when the gateway says where its log ends: which books to begin with, where to read from,
// and from where to send. Reading from the books' height and sending from the log's end are two things: the blocks
// between are applied in silence.

import type { BlockPosition } from './order-book-projector.ts'
import type { Reposition } from './session.ts'

/** Heights that the node's files hold. */
export interface FileRange {
  readonly first: number
  readonly head: number
  /** The node's text of the time of `head`. */
  readonly headTime: string
}

export interface ResumePoint {
  /** `snapshot`: books are unknown until the node's snapshot is in, at whatever height that is. */
  readonly books: 'memory' | 'checkpoint' | 'snapshot'
  readonly checkpoint: number | null
  /** First height to read; null: the height of the node's snapshot. */
  readonly readFrom: number | null
  /** First height to send; null: the one after the node's snapshot. */
  readonly sendFrom: number | null
  readonly needsSeed: boolean
  readonly gone: { readonly from: number; readonly to: number } | null
}

/** A checkpoint: its coins were taken after the blocks from `from` to its own height. */
interface CheckpointPosition extends BlockPosition {
  readonly from: BlockPosition
}

/** `memory`: place of known books at hand, or null. `checkpoints`: places of usable checkpoints, in any order. */
export function resumePoint(
  { durable, seeded }: Reposition,
  files: FileRange,
  memory: BlockPosition | null,
  checkpoints: readonly CheckpointPosition[],
): ResumePoint {
  if (durable === null) return freshPoint(files, memory, newest(checkpoints, files.first - 1, files.head))
  const continues = (place: BlockPosition) => place.height >= files.first - 1 && place.height <= durable
  const checkpoint = newest(checkpoints, files.first - 1, durable)
  const sendFrom = durable + 1
  const base = { sendFrom, needsSeed: !seeded, gone: null }
  if (memory && continues(memory) && memory.height >= (checkpoint?.height ?? 0))
    return { ...base, books: 'memory', checkpoint: null, readFrom: memory.height + 1 }
  if (checkpoint)
    return { ...base, books: 'checkpoint', checkpoint: checkpoint.height, readFrom: checkpoint.from.height + 1 }
  const from = Math.max(sendFrom, files.first)
  const gone = from > sendFrom ? { from: sendFrom, to: from - 1 } : null
  return { books: 'snapshot', checkpoint: null, readFrom: from, sendFrom, needsSeed: true, gone }
}

/** The log is empty: it begins with the books as they stand now, not with the past. */
function freshPoint(
  files: FileRange,
  memory: BlockPosition | null,
  checkpoint: CheckpointPosition | undefined,
): ResumePoint {
  const base = { needsSeed: true, gone: null }
  if (memory)
    return { ...base, books: 'memory', checkpoint: null, readFrom: memory.height + 1, sendFrom: memory.height + 1 }
  if (checkpoint) {
    const { height, from } = checkpoint
    return { ...base, books: 'checkpoint', checkpoint: height, readFrom: from.height + 1, sendFrom: files.head + 1 }
  }
  return { ...base, books: 'snapshot', checkpoint: null, readFrom: null, sendFrom: null }
}

function newest(places: readonly CheckpointPosition[], first: number, to: number): CheckpointPosition | undefined {
  return places
    .filter(({ from, height }) => from.height >= first && height <= to)
    .toSorted((a, b) => b.height - a.height)[0]
}

/**
 * Why this node does not continue what was sent before, null if it does: `saved` was acknowledged once, and the files
 * tell another time for its height, or end below it with a later time. (With an earlier one the node was restarted and
 * writes heights again.) `timeInFiles` is null where they do not hold the height.
 */
export function startedOverMessage(
  saved: BlockPosition,
  { head, headTime }: FileRange,
  timeInFiles: string | null,
): string | null {
  if (head < saved.height && headTime >= saved.time)
    return `the node's files end at height ${head}, but ${saved.height} was already sent: the node started over. Point --data at the right node, or begin a new log (feed reset) and remove the feeder's state.`
  if (timeInFiles !== null && timeInFiles !== saved.time)
    return `height ${saved.height} has the time ${timeInFiles} in the node's files, but was sent with ${saved.time}: the node started over or is another chain. Point --data at the right node, or begin a new log (feed reset) and remove the feeder's state.`
  return null
}
