// What the feeder and its snapshot thread say to each other.

import type { SavedOrder } from './coin-orders.ts'

/** Orders of a part: a millisecond or two of work for who takes it. */
const PART_ORDERS = 1_000

/** Where the thread asks, the file that the node is to write, and what it is for. */
export interface SnapshotTask {
  readonly infoUrl: string
  readonly path: string
  readonly use: SnapshotUse
}

/** To compare the feeder's books with it, or to send the orders of some coins. */
export type SnapshotUse = 'books' | 'l4'

/** Digests of the feeder's books at the snapshot's height; null: it has none, and every coin is wanted. */
export interface Wanted {
  readonly digests: Map<string, number> | null
  /** Coins that are wanted also where their digests agree: levels can hide orders that do not. */
  readonly suspects: ReadonlySet<string>
}

/** Coins whose orders are wanted of a snapshot, and its height and time as frames say them. */
export interface WantedL4 {
  readonly coins: ReadonlySet<string>
  readonly height: number
  readonly time: number
}

/** To the feeder: `height` is answered with what is wanted, a `part` with anything once it was taken, `l4` with whether it was. */
export type ThreadWords =
  | { readonly kind: 'height'; readonly height: number }
  /** Orders of a coin, one a line as in a checkpoint; more of the same coin may follow. */
  | { readonly kind: 'part'; readonly coin: string; readonly isMore: boolean; readonly lines: string }
  /** A frame with orders of a coin; more of the same coin may follow. */
  | { readonly kind: 'l4'; readonly coin: string; readonly isFirst: boolean; readonly frame: string }
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
