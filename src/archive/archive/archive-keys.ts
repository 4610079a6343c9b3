// The names of the archive's objects. Law: names sort as heights do, and one name has one content.

/** The last millisecond that a date of four digits has: no block is of a later day. */
const LAST_MS = 253_402_300_799_999

export type LineKind = 'events' | 'books'

export function segmentKey(
  chain: string,
  { first, last, firstMs }: { readonly first: number; readonly last: number; readonly firstMs: number },
  kind: LineKind,
): string {
  return `archive/${chain}/${dayOf(firstMs)}/${padded(first)}-${padded(last)}.${kind}.gz`
}

export function checkpointKey(chain: string, height: number): string {
  return `archive/${chain}/checkpoints/${padded(height)}.gz`
}

export const padded = (height: number): string => String(height).padStart(12, '0')

/** `YYYY-MM-DD`, of UTC. */
export function dayOf(ms: number): string {
  return new Date(Math.min(ms, LAST_MS)).toISOString().slice(0, 10)
}
