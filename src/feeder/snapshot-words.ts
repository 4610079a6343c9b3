// What the feeder and its snapshot thread say to each other.

import type { SavedOrder } from './coin-orders.ts'

/** Orders of a part: a millisecond or two of work for who takes it. */
const PART_ORDERS = 1_000

/** Where the thread asks, and the file that the node is to write. */
export interface SnapshotTask {
  readonly infoUrl: string
  readonly path: string
}

/** Digests of the feeder's books at the snapshot's height; null: it has none, and every coin is wanted. */
export interface Wanted {
  readonly digests: Map<string, number> | null
  /** Coins that are wanted also where their digests agree: levels can hide orders that do not. */
  readonly suspects: ReadonlySet<string>
}

/** To the feeder: `height` is answered with what is wanted, a `part` with anything once it was taken. */
export type ThreadWords =
  | { readonly kind: 'height'; readonly height: number }
  /** Orders of a coin, one a line as in a checkpoint; more of the same coin may follow. */
  | { readonly kind: 'part'; readonly coin: string; readonly isMore: boolean; readonly lines: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly sentence: string }

/** Orders as the texts of parts, at least one. */
export function snapshotLines(orders: readonly SavedOrder[]): string[] {
  const parts: string[] = []
  for (let at = 0; at === 0 || at < orders.length; at += PART_ORDERS)
    parts.push(
      orders
        .slice(at, at + PART_ORDERS)
        .map(({ oid, side, px, sz }) => `${side} ${oid} ${px} ${sz}`)
        .join('\n'),
    )
  return parts
}
