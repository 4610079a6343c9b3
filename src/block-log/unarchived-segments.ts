// Segments that readers no longer need and the archive does not have yet. Each is listed under its own key, because
// after hours of outage one list would exceed the size of a value. Invariants: nothing is retained until the archive
// has stored something; the backlog is bounded, and while it is full, the log accepts no block.

import type { SegmentKind } from './segment.ts'

/** A few hours of the real exchange, */
const MAX_BYTES = 4 * 1024 ** 3
/** or half a day of an exchange with hardly any events. */
const MAX_SEGMENTS = 43_200

const PREFIX = 'kept/'
/** Zero-padded: keys are listed in lexicographic order. */
const entryKey = ({ first }: SegmentEntry): string => PREFIX + String(first).padStart(16, '0')

export class UnarchivedSegments {
  static readonly prefix = PREFIX
  #segments: readonly SegmentEntry[]
  #archivedTo: number | null
  #bytes: number

  /**
   * Restores the stored state. `archived`: height up to which the archive has everything, null when it never stored
   * anything.
   */
  constructor(archived: number | null, segments: readonly SegmentEntry[]) {
    this.#archivedTo = archived
    this.#segments = segments
    this.#bytes = bytesOf(segments)
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES || this.#segments.length > MAX_SEGMENTS
  }

  /** Height up to which the archive has everything; null when it never stored anything or there is no archive. */
  get archivedTo(): number | null {
    return this.#archivedTo
  }

  at(height: number): SegmentEntry | null {
    return segmentAt(this.#segments, height)
  }

  firstAbove(height: number): number | null {
    return this.#segments.find(({ first }) => first > height)?.first ?? null
  }

  /** Adds segments that left the window. Returns those that are kept, and their index entries by key. */
  retain(left: readonly SegmentEntry[]): {
    readonly spared: readonly SegmentEntry[]
    readonly puts: Record<string, SegmentEntry>
  } {
    const spared = left
      .filter(({ last }) => this.#archivedTo !== null && last > this.#archivedTo)
      .map(withoutRecentKinds)
    // Block times may fall, so segments need not leave the window in order of height.
    this.#segments = [...this.#segments, ...spared].toSorted((a, b) => a.first - b.first)
    this.#bytes += bytesOf(spared)
    return { spared, puts: Object.fromEntries(spared.map((one) => [entryKey(one), one])) }
  }

  /** Releases segments up to an archived height (null: there is no archive). */
  release(archived: number | null): ReleasedSegments {
    this.#archivedTo = archived
    return this.#remove(({ last }) => archived === null || last <= archived)
  }

  /** Call when a different chain starts. Segments that are not archived by then never will be. */
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

/** Released segments, and the keys that list them. */
interface ReleasedSegments {
  readonly segments: readonly SegmentEntry[]
  readonly keys: readonly string[]
}

/** A segment without the kinds of lines that only live readers need. */
function withoutRecentKinds({ chunks: { books = 0, events = 0, payments }, ...one }: SegmentEntry): SegmentEntry {
  return { ...one, chunks: { books, events, ...(payments !== undefined && { payments }) } }
}

const bytesOf = (segments: readonly SegmentEntry[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

/** Index entry of a stored segment. Stored: keys do not change (schemas/storage.md). */
export interface SegmentEntry {
  readonly first: number
  readonly last: number
  readonly time: number
  readonly chunks: Readonly<Partial<Record<SegmentKind, number>>>
  /** Bytes of its books, events and payments. */
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
