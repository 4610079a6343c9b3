// Names of archive objects. Invariants: names sort by height; the object of a given name always has the same content.

/** The last millisecond of the year 9999. Names have four-digit years. */
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

/** UTC date as `YYYY-MM-DD`. */
export function dayOf(ms: number): string {
  return new Date(Math.min(ms, LAST_MS)).toISOString().slice(0, 10)
}
