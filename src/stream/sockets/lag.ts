// How far a client has fallen behind, without asking the platform, which cannot say (there is no bufferedAmount and
// every send is copied into an unbounded queue). Law: what was sent since the client's last frame is bounded.

export const MAX_UNREAD_BYTES = 4 * 1024 * 1024
export const MAX_UNREAD_BYTES_PINGING = 16 * 1024 * 1024
/** Snapshots go out once per subscription and are paced: they have a bound of their own. */
export const MAX_UNREAD_SNAPSHOT_BYTES = 64 * 1024 * 1024

/** Counters of one socket; every call is O(1). Lengths are UTF-16 units, which equal bytes for all but odd names. */
export class Lag {
  #unread = 0
  #unreadSnapshots = 0
  #limit = MAX_UNREAD_BYTES

  /** A frame of the client came: it lives. */
  received(): void {
    this.#unread = 0
    this.#unreadSnapshots = 0
  }

  /** The client pings, so its silence means something: it gets the wider bound. */
  pinged(): void {
    this.#limit = MAX_UNREAD_BYTES_PINGING
  }

  /** Counts a frame about to be sent; false where the bound is passed and the socket must go. */
  sending(length: number): boolean {
    this.#unread += length
    return this.#unread <= this.#limit
  }

  /** The same for a book snapshot. */
  sendingSnapshot(length: number): boolean {
    this.#unreadSnapshots += length
    return this.#unreadSnapshots <= MAX_UNREAD_SNAPSHOT_BYTES
  }
}
