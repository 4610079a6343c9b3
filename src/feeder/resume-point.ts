// Decides where production resumes, given the end of the gateway's log: which books to start with, and the first
// heights to read and to send. Reading starts after the books' height, and sending starts after the log's end. Blocks
// in between are applied but not sent.

import type { BlockPosition } from './order-book-projector.ts'
import type { Reposition } from './session.ts'

/** Heights in the node's files. */
export interface FileRange {
  readonly first: number
  readonly head: number
  /** Time of `head` as the node writes it. */
  readonly headTime: string
}

export interface ResumePoint {
  /** `snapshot`: the books are unknown until a snapshot from the node arrives, whose height is not known in advance. */
  readonly books: 'memory' | 'checkpoint' | 'snapshot'
  readonly checkpoint: number | null
  /** First height to read. Null: the height of the node's snapshot. */
  readonly readFrom: number | null
  /** First height to send. Null: the height after the node's snapshot. */
  readonly sendFrom: number | null
  readonly needsSeed: boolean
  readonly gone: { readonly from: number; readonly to: number } | null
}

/** Position of a checkpoint. Its coins were copied between `from` and its own height. */
interface CheckpointPosition extends BlockPosition {
  readonly from: BlockPosition
}

/** `memory`: position of the known books, or null. `checkpoints`: positions of usable checkpoints, in any order. */
export function resumePoint(
  { durable, seeded }: Reposition,
  files: FileRange,
  memory: BlockPosition | null,
  checkpoints: readonly CheckpointPosition[],
): ResumePoint {
  if (durable === null) return freshPoint(files, memory, newest(checkpoints, files.first - 1, files.head))
  const continues = ({ height }: BlockPosition) => height >= files.first - 1 && height <= durable
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

/** The log is empty, so it starts with the current books, not with past blocks. */
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
 * Why this node does not continue what was already sent; null if it does. It does not if the files have a different
 * time for the height of `saved`, an acknowledged position, or end below that height with a later time. (An earlier
 * time means that the node restarted and writes heights again.) `timeInFiles`: null if the files lack the height.
 */
export function startedOverMessage(
  saved: BlockPosition,
  { head, headTime }: FileRange,
  timeInFiles: string | null,
): string | null {
  if (head < saved.height && headTime >= saved.time)
    return `the node's files end at height ${head}, but ${saved.height} was already sent: the node started over. Point --data at the right node, or start a new log (feed reset) and delete the feeder's state folder.`
  if (timeInFiles !== null && timeInFiles !== saved.time)
    return `height ${saved.height} has the time ${timeInFiles} in the node's files, but was sent with ${saved.time}: the node started over or belongs to another chain. Point --data at the right node, or start a new log (feed reset) and delete the feeder's state folder.`
  return null
}
