// Segments that readers need no more and the archive has not yet: they stay, each listed under a key of its own, because in
// an outage of hours one list of all would outgrow a value. Laws: without an archive that once took something nothing
// stays; what stays is bounded, and where it is full the log takes nothing more.

import type { SegmentKind } from './segment.ts'

/** Hours of the real exchange … */
const MAX_BYTES = 4 * 1024 ** 3
/** … and half a day of one that has hardly anything. */
const MAX_SEGMENTS = 43_200

const PREFIX = 'kept/'
/** Keys are listed in the order of their letters. */
const entryKey = ({ first }: SegmentEntry): string => PREFIX + String(first).padStart(16, '0')

export class UnarchivedSegments {
  static readonly prefix = PREFIX
  #segments: readonly SegmentEntry[]
  #archivedTo: number | null
  #bytes: number

  /** As it was stored; `archived`: up to where the archive has all, null where it never took anything. */
  constructor(archived: number | null, segments: readonly SegmentEntry[]) {
    this.#archivedTo = archived
    this.#segments = segments
    this.#bytes = bytesOf(segments)
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES || this.#segments.length > MAX_SEGMENTS
  }

  /** Up to here the archive has all; null where it never took anything, or there is none. */
  get archivedTo(): number | null {
    return this.#archivedTo
  }

  at(height: number): SegmentEntry | null {
    return segmentAt(this.#segments, height)
  }

  firstAbove(height: number): number | null {
    return this.#segments.find(({ first }) => first > height)?.first ?? null
  }

  /** Of segments that readers need no more, those that stay, and how they are to be listed by key. */
  retain(left: readonly SegmentEntry[]): {
    readonly spared: readonly SegmentEntry[]
    readonly puts: Record<string, SegmentEntry>
  } {
    const spared = left
      .filter(({ last }) => this.#archivedTo !== null && last > this.#archivedTo)
      .map(withoutRecentKinds)
    // Times of blocks may fall: what leaves the window first need not have the lower heights.
    this.#segments = [...this.#segments, ...spared].toSorted((a, b) => a.first - b.first)
    this.#bytes += bytesOf(spared)
    return { spared, puts: Object.fromEntries(spared.map((one) => [entryKey(one), one])) }
  }

  /** The archive has all up to a height (null: there is no archive). */
  release(archived: number | null): ReleasedSegments {
    this.#archivedTo = archived
    return this.#remove(({ last }) => archived === null || last <= archived)
  }

  /** Another chain begins: what was not archived by now never will be. */
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

/** Segments that go, and the keys that list them. */
interface ReleasedSegments {
  readonly segments: readonly SegmentEntry[]
  readonly keys: readonly string[]
}

/** Without what only readers of the last minutes need. */
function withoutRecentKinds({ chunks: { books = 0, events = 0, payments }, ...one }: SegmentEntry): SegmentEntry {
  return { ...one, chunks: { books, events, ...(payments !== undefined && { payments }) } }
}

const bytesOf = (segments: readonly SegmentEntry[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

/** A stored segment's entry in the index; schemas/storage.md describes its keys. */
export interface SegmentEntry {
  readonly first: number
  readonly last: number
  readonly time: number
  readonly chunks: Readonly<Partial<Record<SegmentKind, number>>>
  /** Of its books, events and payments. */
  readonly bytes: number
}

export const keyOf = (kind: SegmentKind, first: number, part: number): string => `${kind}/${first}/${part}`

export function keysOf({ first, chunks }: Pick<SegmentEntry, 'first' | 'chunks'>): string[] {
  return (Object.keys(chunks) as SegmentKind[]).flatMap((kind) => keysOfKind(kind, { first, chunks }))
}

/** Keys of one kind, in their order. */
export function keysOfKind(kind: SegmentKind, { first, chunks }: Pick<SegmentEntry, 'first' | 'chunks'>): string[] {
  return Array.from({ length: chunks[kind] ?? 0 }, (_, part) => keyOf(kind, first, part))
}

/** The segment that holds a height, of some in their order. */
export function segmentAt(segments: readonly SegmentEntry[], height: number): SegmentEntry | null {
  const found = segments.findLast(({ first }) => first <= height)
  return found && found.last >= height ? found : null
}
