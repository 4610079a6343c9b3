// Segments that readers no longer need and that are not archived yet. Each is listed under its own key, because after
// an outage of hours, one list would exceed the maximum size of a value. Invariants: nothing is retained until the
// archive has stored something; the backlog is limited; while it is full, the log accepts no block.

import type { SegmentKind } from './segment.ts'

/** Maximum size of the backlog: a few hours of the real exchange. */
const MAX_BYTES = 4 * 1024 ** 3
/** Maximum segments in the backlog: half a day of an exchange with hardly any events. */
const MAX_SEGMENTS = 43_200

const PREFIX = 'kept/'
/** The height is padded with zeros, because keys are listed in lexicographic order. */
const entryKey = ({ first }: SegmentEntry): string => PREFIX + String(first).padStart(16, '0')

export class UnarchivedSegments {
  static readonly prefix = PREFIX
  #segments: readonly SegmentEntry[]
  #archivedTo: number | null
  #bytes: number

  /**
   * Restores the stored state. `archived`: height up to which everything is archived; null if nothing was ever
   * archived.
   */
  constructor(archived: number | null, segments: readonly SegmentEntry[]) {
    this.#archivedTo = archived
    this.#segments = segments
    this.#bytes = bytesOf(segments)
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES || this.#segments.length > MAX_SEGMENTS
  }

  /** Height up to which everything is archived; null if nothing was ever archived or there is no archive. */
  get archivedTo(): number | null {
    return this.#archivedTo
  }

  at(height: number): SegmentEntry | null {
    return segmentAt(this.#segments, height)
  }

  firstAbove(height: number): number | null {
    return this.#segments.find(({ first }) => first > height)?.first ?? null
  }

  /** Adds segments that left the window. Returns those that are retained, and their index entries by key. */
  retain(left: readonly SegmentEntry[]): {
    readonly spared: readonly SegmentEntry[]
    readonly puts: Record<string, SegmentEntry>
  } {
    const spared = left
      .filter(({ last }) => this.#archivedTo !== null && last > this.#archivedTo)
      .map(withoutRecentKinds)
    // Block times may decrease, so segments may leave the window in a different order than that of their heights.
    this.#segments = [...this.#segments, ...spared].toSorted((a, b) => a.first - b.first)
    this.#bytes += bytesOf(spared)
    return { spared, puts: Object.fromEntries(spared.map((one) => [entryKey(one), one])) }
  }

  /** Releases segments up to an archived height (null: there is no archive). */
  release(archived: number | null): ReleasedSegments {
    this.#archivedTo = archived
    return this.#remove(({ last }) => archived === null || last <= archived)
  }

  /** Releases all segments. Called when a different chain starts, because they will then never be archived. */
  clear(): ReleasedSegments {
    return this.#remove(() => true)
  }

  #remove(isGone: (one: SegmentEntry) => boolean): ReleasedSegments {
    const gone = this.#segments.filter(isGone)
    this.#segments = this.#segments.filter((one) => !isGone(one))
    this.#bytes -= bytesOf(gone)
    return { segments: gone, keys: gone.map(entryKey) }
  }
}

/** The released segments, and the keys of their index entries. */
interface ReleasedSegments {
  readonly segments: readonly SegmentEntry[]
  readonly keys: readonly string[]
}

/** Returns a segment without the kinds of lines that only live readers need. */
function withoutRecentKinds({ chunks: { books = 0, events = 0, payments }, ...one }: SegmentEntry): SegmentEntry {
  return { ...one, chunks: { books, events, ...(payments !== undefined && { payments }) } }
}

const bytesOf = (segments: readonly SegmentEntry[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

/** Index entry of a stored segment. It is stored, so its keys must not change (schemas/storage.md). */
export interface SegmentEntry {
  readonly first: number
  readonly last: number
  readonly time: number
  readonly chunks: Readonly<Partial<Record<SegmentKind, number>>>
  /** Size of its books, events and payments in bytes. */
  readonly bytes: number
}

export const keyOf = (kind: SegmentKind, first: number, part: number): string => `${kind}/${first}/${part}`

export function keysOf({ first, chunks }: Pick<SegmentEntry, 'first' | 'chunks'>): string[] {
  return (Object.keys(chunks) as SegmentKind[]).flatMap((kind) => keysOfKind(kind, { first, chunks }))
}

/** Keys of one kind, in order. */
export function keysOfKind(kind: SegmentKind, { first, chunks }: Pick<SegmentEntry, 'first' | 'chunks'>): string[] {
  return Array.from({ length: chunks[kind] ?? 0 }, (_, part) => keyOf(kind, first, part))
}

/** The segment that contains a height, in a list sorted by height. */
export function segmentAt(segments: readonly SegmentEntry[], height: number): SegmentEntry | null {
  const found = segments.findLast(({ first }) => first <= height)
  return found && found.last >= height ? found : null
}
