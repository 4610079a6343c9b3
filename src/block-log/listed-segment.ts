// What is known of a stored segment without reading it, and the keys under which it lies. See schemas/storage.md.

import type { SegmentKind } from './segment.ts'

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
