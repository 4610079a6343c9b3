// Signed actions of blocks, from the node's folder `replica_cmds`. A block carries them as a flat list, so that it can be
// split between frames: a line, then its bundles, each followed by its actions. A line may come with a later block.

/** One entry of the list. */
export type ReplicaEntry = LineEntry | BundleEntry | ActionEntry | LostEntry

/** A line of the node. `block` and `other`: all fields of the block and of the line, except the bundles and responses. */
interface LineEntry {
  readonly line: {
    readonly height: number
    readonly block?: Readonly<Record<string, unknown>>
    readonly other?: Readonly<Record<string, unknown>>
  }
}

/** A bundle of signed actions: its hash, broadcaster and further fields. */
interface BundleEntry {
  readonly bundle: Readonly<Record<string, unknown>>
}

/** A signed action as the node wrote it. */
export interface ActionEntry {
  readonly action: unknown
  /** Position in the line, from 0. */
  readonly index: number
  /** Absent if the line has no response to the action. Null if the node names no user. */
  readonly user?: string | null
  readonly response?: unknown
}

/** Something of the last line, or of several lines, is missing. */
interface LostEntry {
  readonly lost: string
}

/** Height of the line that an entry begins; null for other entries and for unexpected values. */
export function lineHeight(entry: unknown): number | null {
  const { line } = Object(entry) as { line?: unknown }
  const { height } = Object(line) as { height?: unknown }
  return Number.isSafeInteger(height) ? (height as number) : null
}
