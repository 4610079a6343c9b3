// Segments that readers need no more and the archive has not yet: they stay, each listed under a key of its own, because in
// an outage of hours one list of all would outgrow a value. Laws: without an archive that once took something nothing
// stays; what stays is bounded, and where it is full the log takes nothing more.

import type { SegmentKind } from './segment.ts'

/** Hours of the real exchange … */
const BYTES_MOST = 4 * 1024 ** 3
/** … and half a day of one that has hardly anything. */
const SEGMENTS_MOST = 43_200

const PREFIX = 'kept/'
/** Keys are listed in the order of their letters. */
const keptKey = ({ first }: Listed): string => PREFIX + String(first).padStart(16, '0')

export class Unarchived {
  static readonly prefix = PREFIX
  #segments: readonly Listed[]
  #archived: number | null
  #bytes: number

  /** As it was stored; `archived`: up to where the archive has all, null where it never took anything. */
  constructor(archived: number | null, segments: readonly Listed[]) {
    this.#archived = archived
    this.#segments = segments
    this.#bytes = bytesOf(segments)
  }

  get isFull(): boolean {
    return this.#bytes > BYTES_MOST || this.#segments.length > SEGMENTS_MOST
  }

  /** Up to here the archive has all; null where it never took anything, or there is none. */
  get archived(): number | null {
    return this.#archived
  }

  at(height: number): Listed | null {
    return segmentAt(this.#segments, height)
  }

  firstAbove(height: number): number | null {
    return this.#segments.find(({ first }) => first > height)?.first ?? null
  }

  /** Of segments that readers need no more, those that stay, and how they are to be listed by key. */
  spare(left: readonly Listed[]): { readonly spared: readonly Listed[]; readonly puts: Record<string, Listed> } {
    const spared = left.filter(({ last }) => this.#archived !== null && last > this.#archived).map(bare)
    // Times of blocks may fall: what leaves the window first need not have the lower heights.
    this.#segments = [...this.#segments, ...spared].toSorted((a, b) => a.first - b.first)
    this.#bytes += bytesOf(spared)
    return { spared, puts: Object.fromEntries(spared.map((one) => [keptKey(one), one])) }
  }

  /** The archive has all up to a height (null: there is no archive). */
  release(archived: number | null): Released {
    this.#archived = archived
    return this.#drop(({ last }) => archived === null || last <= archived)
  }

  /** Another chain begins: what was not archived by now never will be. */
  clear(): Released {
    return this.#drop(() => true)
  }

  #drop(isGone: (one: Listed) => boolean): Released {
    const gone = this.#segments.filter(isGone)
    this.#segments = this.#segments.filter((one) => !isGone(one))
    this.#bytes -= bytesOf(gone)
    return { gone, keys: gone.map(keptKey) }
  }
}

/** Segments that go, and the keys that list them. */
interface Released {
  readonly gone: readonly Listed[]
  readonly keys: readonly string[]
}

/** Without what only readers of the last minutes need. */
function bare({ chunks: { books = 0, events = 0, payments }, ...one }: Listed): Listed {
  return { ...one, chunks: { books, events, ...(payments !== undefined && { payments }) } }
}

const bytesOf = (segments: readonly Listed[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

/** A stored segment's entry in the index; schemas/storage.md describes its keys. */
export interface Listed {
  readonly first: number
  readonly last: number
  readonly time: number
  readonly chunks: Readonly<Partial<Record<SegmentKind, number>>>
  /** Of its books, events and payments. */
  readonly bytes: number
}

export const keyOf = (kind: SegmentKind, first: number, part: number): string => `${kind}/${first}/${part}`

export function keysOf({ first, chunks }: Pick<Listed, 'first' | 'chunks'>): string[] {
  return (Object.keys(chunks) as SegmentKind[]).flatMap((kind) => keysOfKind(kind, { first, chunks }))
}

/** Keys of one kind, in their order. */
export function keysOfKind(kind: SegmentKind, { first, chunks }: Pick<Listed, 'first' | 'chunks'>): string[] {
  return Array.from({ length: chunks[kind] ?? 0 }, (_, part) => keyOf(kind, first, part))
}

/** The segment that holds a height, of some in their order. */
export function segmentAt(segments: readonly Listed[], height: number): Listed | null {
  const found = segments.findLast(({ first }) => first <= height)
  return found && found.last >= height ? found : null
}
