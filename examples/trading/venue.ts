// The market as a strategy sees it, and the receiver of its orders. To trade, implement `Venue` for your account.

export type Side = 'B' | 'A'
export type Level = { px: string; sz: string; n: number }
export type Levels = readonly [bids: readonly Level[], asks: readonly Level[]]

/** A post-only limit order: it rests in the book, or it is rejected. Price and size are decimal strings. */
export type Order = { id: number; side: Side; px: string; sz: string }

/**
 * Receives orders in the order in which they were decided, and must send them in that order. The strategy chooses the
 * ids (use them as client order ids), so it never waits for a reply.
 */
export interface Venue {
  place(order: Order): void
  cancel(id: number): void
  /** Cancels every order of the coin. Send it before anything that waits. */
  cancelAll(why: string): void
}

export interface BookView {
  best(side: Side): Level | undefined
  /** Size at a price; '0' if the level does not exist. */
  sizeAt(side: Side, px: string): string
}

/** A view of levels that are sorted, best first. */
export function viewOf([bids, asks]: Levels): BookView {
  const of = { B: bids, A: asks }
  return {
    best: (side) => of[side][0],
    // Floats are precise enough to compare prices. Use decimals for arithmetic.
    sizeAt: (side, px) => of[side].find((level) => Number(level.px) === Number(px))?.sz ?? '0',
  }
}
